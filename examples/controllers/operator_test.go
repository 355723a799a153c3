// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// An operator without knowledge of the plugin asks a live hub seven questions. One command answers each within a minute.
func TestAnOperatorAsksSevenQuestions(t *testing.T) {
	t.Parallel()
	o := operate(t)
	recording := filepath.Join(t.TempDir(), "today.rec")
	recorder := run(t, program(t, "kubectl-cohort"), "record", recording, "--interval", "1s", "--kubeconfig", o.guard.kubeconfig)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if info, err := os.Stat(recording); err == nil && info.Size() > 0 {
			break
		}
	}
	o.asks("open-gate", set.Name, "--yes")
	o.eventually("all have the first version", o.doneWith("one"))
	o.agents["prod-00"], o.agents["prod-01"], o.agents["prod-06"] = "", "", "" // so prod-07 waits during all questions
	o.must(o.patch(`{"spec":{"placementRefs":[{"name":"prod","rolloutStrategy":{"type":"Progressive","progressive":{"maxConcurrency":3,"progressDeadline":"1h"}}}]}}`))
	o.change(`{"text":"two"}`)
	o.eventually("the gate holds the next version, too", func() bool { return strings.Contains(o.asks("explain"), "gate") })
	o.says(o.asks("status", set.Name), `to do:  kubectl cohort open-gate apps/web 0\n`) // What may I do?
	o.asks("open-gate", set.Name, "--yes")
	o.eventually("three are silent, and all but one of the others are done", func() bool { return o.have("two") == 7 })
	started, day := o.startedLast(), `(\d{4}-\d\d-\d\d )?\d\d:\d\d(:\d\d)?` // the date is shown around midnight
	o.eventually("the recorder has seen that", func() bool {
		out, _, err := o.tries(nil, "history", started, "--recording", recording)
		return err == nil && regexp.MustCompile(`(?m)^`+day+`\s+starts`).MatchString(out)
	})

	for _, question := range []struct {
		asked   string
		command []string
		answer  []string // patterns that must all match
	}{
		{"What blocks X, and until when?", []string{"explain", "prod-07"}, []string{`slots? taken: prod-00.*times? out at ` + day + `|waits until ` + day}},
		{"What blocks everything?", []string{"status", set.Name}, []string{`(?m)^blocked by:$`, `(?m)^  .*prod-0[01].*: has not reported on this version and times out at ` + day + `; \d clusters? waits? for that$`}},
		{"When will it end?", []string{"status", set.Name}, []string{`forecast: \w+ at ` + day + `.* in \d+ of \d+ plays`}},
		{"What if I raise the concurrency?", []string{"status", set.Name, "--max-concurrency", "8"}, []string{`forecast: `, `may start now \(\d\): prod-0\d`}},
		{"Why did Y start then?", []string{"history", started}, []string{day + `\s+starts`, `waits: `}},
		{"Why did Y start then, of the recording?", []string{"history", started, "--recording", recording}, []string{day + `\s+starts(: .*(is done|succeeds|gate).*)?\n`, `the gate before group 0 is closed`}},
		{"What changed since then?", []string{"diff", recording}, []string{`changed: .*spec.manifestWorkTemplate`, `started \(\d\): .*prod-00`}},
		{"How far can a bad version get from here?", []string{"exposure"}, []string{`From here on, clusters with a version that does not work on them: at most \d\.`}},
	} {
		begin := time.Now()
		out := o.asks(question.command...)
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s kubectl cohort %s took %v", question.asked, strings.Join(question.command, " "), took)
		}
		o.says(out, question.answer...)
		t.Logf("%s\n$ kubectl cohort %s\n%s", question.asked, strings.Join(question.command, " "), out)
	}
	_ = recorder.Process.Signal(os.Interrupt)
	_ = recorder.Wait()
	page := filepath.Join(t.TempDir(), "page.html")
	o.asks("report", page)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "ManifestWorkReplicaSet apps/web: Progressing") {
		t.Errorf("%v: a page of %d bytes", err, len(text))
	}
}

// An operator pauses and resumes a policy. Clusters evaluate policies by themselves, so there is no retry, and no earlier
// version is kept.
func TestAPersonDecidesAboutAPolicy(t *testing.T) {
	t.Parallel()
	f := newPolicies(t)
	f.apply("placementbindings", `{placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}, subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: base}]}`)
	f.apply("policysets", `{spec: {policies: [etcd]}}`)
	f.place()
	f.apply("policies", policyYAML("one"))
	f.until("all clusters have the first version", func() bool { return f.count("one", "enforce") == 20 })
	asks := func(want string, args ...string) {
		t.Helper()
		if out := string(plugin(t, f.kubeconfig, args...)); !strings.Contains(out, want) {
			t.Errorf("%v: no %q in\n%s", args, want, out)
		}
	}
	asks("policy.policy.open-cluster-management.io/etcd annotated\n", "pause", "policy/etcd", "--yes")
	f.apply("policies", policyYAML("two"))
	f.until("all clusters inform of the second version", func() bool { return f.count("two", "inform") == 20 })
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if n := f.count("two", "enforce"); n > 0 {
			t.Fatalf("%d enforce, and it is paused", n)
		}
	}
	asks("the rollout is paused", "status", "policy/etcd")
	for verb, want := range map[string]string{"retry": "the clusters of a policy evaluate it again by themselves", "abort": "the hub does not keep the previous version of a Policy"} {
		out, err := exec.Command(program(t, "kubectl-cohort"), verb, "policy/etcd", "--yes", "--kubeconfig", f.kubeconfig).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v %s", verb, err, out)
		}
	}
	asks("go on after the pause", "resume", "policy/etcd", "--yes")
	f.until("all clusters have the second version", func() bool { return f.count("two", "enforce") == 20 })
}

// startedLast is the cluster that last got its present version.
func (o *operator) startedLast() (name string) {
	var last time.Time
	for i := range o.works {
		if stamp := status.StampOf(&o.works[i]); o.works[i].Generation == 2 && !stamp.Applied.Before(last) {
			name, last = o.works[i].Namespace, stamp.Applied
		}
	}
	return name
}

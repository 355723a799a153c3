// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
	"github.com/cohort-ocm/cohort/status"
)

// plugged is a hub with a plugin over HTTP that returns the verdicts, and records its calls.
type plugged struct {
	*hub
	verdicts map[string]string
	calls    []string
}

func newPlugged(t *testing.T) *plugged {
	p := &plugged{hub: newHub(t), verdicts: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Cluster string          `json:"currentClusterName"`
			Work    json.RawMessage `json:"manifestWork"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		call := path.Base(r.URL.Path)
		if call != "ProgressRollout" && call != "Initialize" {
			p.calls = append(p.calls, strings.TrimSpace(call+" "+in.Cluster))
		}
		switch {
		case call == "MutateManifestWork":
			_, _ = w.Write([]byte(`{"manifestWork":` + string(in.Work) + `}`))
		case call == "ValidateRolloutCompletion" && p.verdicts[in.Cluster] == "":
			http.Error(w, "the mesh is away", http.StatusServiceUnavailable)
		case call == "ValidateRolloutCompletion":
			_, _ = w.Write([]byte(`{"result":"` + p.verdicts[in.Cluster] + `","message":"as the mesh says"}`))
		}
	}))
	t.Cleanup(server.Close)
	p.plug(server.URL)
	p.place("prod", "a", "b", "c")
	p.create(ref("prod", atATime(1)))
	p.annotate(plugins.AnnotationPlugin, "mesh")
	return p
}

func (p *plugged) plug(url string) {
	p.plugins = &plugins.Hooks{Registered: map[string]plugins.Plugin{"mesh": plugins.HTTP{Endpoint: url}}, Longest: 5 * time.Second}
}

// called are the calls since the last time.
func (p *plugged) called() string {
	calls := strings.Join(p.calls, ", ")
	p.calls = nil
	return calls
}

// The next cluster waits until the plugin has accepted the one before. The verdict is stored in the work, so a restarted
// controller does not call again.
func TestAClusterIsValidatedBeforeTheNext(t *testing.T) {
	p := newPlugged(t)
	p.wrote("create a")
	if got := p.called(); got != "BeginRollout a, MutateManifestWork" {
		t.Errorf("called %q", got)
	}
	p.answer(status.Succeeded, "a")
	p.catchUp()
	wrote, result, err := p.look()
	if wrote != "update a" || result.RequeueAfter != 10*time.Second || err != nil || p.called() != "ValidateRolloutCompletion a" {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	c := meta.FindStatusCondition(p.set().Status.Conditions, "PlacementRolledOut")
	if c == nil || !strings.Contains(c.Message, "1 waiting for validation") {
		t.Errorf("%+v", c)
	}
	if c := meta.FindStatusCondition(p.set().Status.Conditions, "PluginLoaded"); c == nil || c.Reason != "Available" {
		t.Errorf("%+v", c)
	}

	p.verdicts["a"] = "SUCCEEDED"
	p.wrote("create b, update a")
	if got := p.called(); got != "ValidateRolloutCompletion a, BeginRollout b, MutateManifestWork" {
		t.Errorf("called %q", got)
	}
	hooks := p.plugins
	p.restart()
	p.plugins = hooks
	p.wrote("")
	if got := p.called(); got != "" {
		t.Errorf("after a restart called %q", got)
	}

	// A no stops the rollout, and the reason is shown.
	p.answer(status.Succeeded, "b")
	p.verdicts["b"] = "FAILED"
	p.wrote("update b")
	p.wrote("")
	said := p.memories.Of(theSet).results["prod"].Explain("c").String()
	if !strings.Contains(said, `b: "as the mesh says"`) {
		t.Errorf("explained by %q", said)
	}

	// An operator overrules the plugin.
	work := p.work("b")
	v := status.Verdict{Version: p.version(), Result: status.ValidationSucceeded, Time: p.clock.Add(time.Second)}
	p.clock = p.clock.Add(time.Minute)
	if !v.NoteOn(work) {
		t.Fatal("no change")
	}
	p.must(p.server.Update(context.Background(), work))
	p.wrote("create c")
}

// A set that names an unknown plugin starts no cluster, and its status says so.
func TestAnUnknownPluginStartsNoCluster(t *testing.T) {
	p := newPlugged(t)
	p.plugins = nil
	p.catchUp()
	wrote, _, err := p.look()
	if wrote != "" || err == nil || !strings.Contains(err.Error(), "mesh plugin is not registered") {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	if c := meta.FindStatusCondition(p.set().Status.Conditions, "PluginLoaded"); c == nil || c.Reason != "Failed" {
		t.Errorf("%+v", c)
	}
}

// An operator freezes one cluster, unfreezes it, and then sets an allowlist.
func TestAnOperatorFreezesOneCluster(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.create(ref("prod", atATime(1)))
	h.annotate(prefix+"freeze", "a maintenance of store 7")
	h.wrote("create b")
	if said := h.memories.Of(theSet).results["prod"].Explain("a").String(); said != `a is frozen with no end: "maintenance of store 7"; to do: unfreeze a` {
		t.Errorf("explained by %q", said)
	}
	h.annotate(prefix+"freeze", "")
	h.annotate(prefix+"allowlist", "a of "+h.version())
	h.answer(status.Succeeded, "b")
	h.wrote("create a")
	h.answer(status.Succeeded, "a")
	h.wrote("")
	h.annotate(prefix+"allowlist", "a,c of "+h.version())
	h.wrote("create c")
}

// If a plugin never answers, the cluster times out, even without a soak: the deadline runs from the recorded first answer.
func TestAClusterWithoutAVerdictTimesOut(t *testing.T) {
	p := newPlugged(t)
	p.change(func(s *workv1alpha1.ManifestWorkReplicaSetSpec) {
		s.PlacementRefs[0].RolloutStrategy.Progressive.ProgressDeadline = "10m"
	})
	p.wrote("create a")
	p.answer(status.Succeeded, "a")
	p.wrote("update a")
	for range 3 {
		p.clock = p.clock.Add(4 * time.Minute)
		p.wrote("")
	}
	if r := p.memories.Of(theSet).results["prod"]; len(r.TimedOut) != 1 || r.TimedOut[0].Name != "a" {
		t.Errorf("%v", r)
	}
}

// If validation is switched on after the end, clusters that are done are validated, too, and no other cluster starts
// meanwhile. The deadline runs from the recorded answer. With a soak that was recorded long ago, so the deadline has passed
// at once. Without a soak it is recorded only now. A late yes counts all the same.
func TestValidationIsSwitchedOnAfterTheEnd(t *testing.T) {
	for _, of := range []struct {
		soak                 time.Duration
		wrote                string
		timedOut, validating int
	}{
		{soak: time.Minute, timedOut: 2},
		{wrote: "update a, update b", validating: 2},
	} {
		p := newPlugged(t)
		p.annotate(plugins.AnnotationPlugin, "")
		p.place("prod", "a", "b")
		p.change(func(s *workv1alpha1.ManifestWorkReplicaSetSpec) {
			s.PlacementRefs[0].RolloutStrategy.Progressive.ProgressDeadline = "10m"
			s.PlacementRefs[0].RolloutStrategy.Progressive.MinSuccessTime.Duration = of.soak
		})
		for _, cluster := range []string{"a", "b"} {
			p.catchUp()
			p.look()
			p.answer(status.Succeeded, cluster)
			p.catchUp()
			p.look()
			p.clock = p.clock.Add(2 * time.Minute)
		}
		p.clock = p.clock.Add(time.Hour)
		p.annotate(plugins.AnnotationPlugin, "mesh")
		p.place("prod", "a", "b", "c")
		p.wrote(of.wrote)
		r := p.memories.Of(theSet).results["prod"]
		if len(r.TimedOut) != of.timedOut || r.Counts.Validating != of.validating || len(r.Start) > 0 {
			t.Errorf("with a soak of %v: %v", of.soak, r)
		}
		p.clock = p.clock.Add(11 * time.Minute)
		p.wrote("")
		if r := p.memories.Of(theSet).results["prod"]; len(r.TimedOut) != 2 || len(r.Start) > 0 {
			t.Errorf("with a soak of %v, after the deadline: %v", of.soak, r)
		}
		p.verdicts["a"], p.verdicts["b"] = "SUCCEEDED", "SUCCEEDED"
		if of.soak > 0 {
			p.wrote("update a, update b")
			p.clock = p.clock.Add(2 * time.Minute)
			p.wrote("create c")
		} else {
			p.wrote("create c, update a, update b")
		}
	}
}

// If a plugin fails to prepare a cluster, that cluster waits, and an event says so. Other clusters go on.
func TestAPluginThatDoesNotPrepareAClusterIsTold(t *testing.T) {
	p := newPlugged(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "BeginRollout" {
			http.Error(w, "the mesh has no route to a", http.StatusConflict)
		}
	}))
	t.Cleanup(server.Close)
	p.plug(server.URL)
	p.catchUp()
	p.events()
	wrote, _, err := p.look()
	if wrote != "" || err == nil {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	if told := strings.Join(p.events(), "\n"); !strings.Contains(told, "Warning Refused cluster a: BeginRollout: 409 Conflict: the mesh has no route to a") {
		t.Errorf("told %q", told)
	}
}

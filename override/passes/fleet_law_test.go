// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// pace says which delays templates may have, so that O17 promises that no more clusters are exposed than exposure.Of says.
type pace struct {
	soak time.Duration // the minSuccessTime
	cuts bool          // clusters may be cut off during an edit
}

// slow is longer than the five minutes after which an earlier message counts, and shorter than these with the soak of a pace.
const slow = 20 * time.Minute

func drawPace(t *rapid.T) pace {
	return rapid.SampledFrom([]pace{{soak: slow, cuts: true}, {cuts: true}, {}}).Draw(t, "pace")
}

// allows says whether a template may be slow: with a soak, and where its message cannot be taken for an answer.
func (w pace) allows(p part) bool {
	return w.soak > 0 || !w.cuts && kinds[p.kind].repeats && p.waitsFor == ""
}

// drawPart draws a template of that name.
func drawPart(t *rapid.T, name string) part {
	p := part{
		name:    name,
		kind:    rapid.SampledFrom([]string{"ConfigurationPolicy", "ConfigurationPolicy", "OperatorPolicy", "CertificatePolicy", "IamPolicy", constraint, "ConstraintTemplate"}).Draw(t, "kind"),
		content: rapid.IntRange(1, 99).Draw(t, "content"),
		own:     rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Inform, policyv1.Enforce, "InformOnly"}).Draw(t, "own action"),
		delay:   time.Duration(rapid.SampledFrom([]int{0, 1, 5, 60, 200, 1100}).Draw(t, "delay")) * time.Second,
		fits:    rapid.Bool().Draw(t, "fits"),
		ignores: rapid.IntRange(0, 3).Draw(t, "ignores Pending") == 3,
	}
	if p.kind == constraint || p.kind == "ConstraintTemplate" {
		p.fits = true // nothing has the cluster comply
	}
	return p
}

// wait draws what a template waits for: a template before it, or another policy.
func (p *part) wait(t *rapid.T, parts []part) {
	if rapid.IntRange(0, 2).Draw(t, "waits") == 2 {
		p.waitsFor = rapid.SampledFrom(append([]string{elsewhere}, names(parts)...)).Draw(t, "for")
	}
}

func names(parts []part) (all []string) {
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

// mend has each template wait for one that comes before it, waits for none, and will comply, and has none slower than the pace allows.
func (w pace) mend(parts []part, action policyv1.RemediationAction) {
	for i := range parts {
		p := &parts[i]
		comes := p.waitsFor == elsewhere || slices.ContainsFunc(parts[:i], func(other part) bool {
			return other.name == p.waitsFor && other.waitsFor == "" && (p.ignores || other.fitsUnder(action))
		})
		if !comes {
			p.waitsFor = ""
		}
		if !w.allows(*p) {
			p.delay = min(p.delay, 200*time.Second)
		}
	}
}

// drawEdit changes the templates: some are added, removed, renamed, put elsewhere, edited alone, spelled
// otherwise, noted on, or wait for others.
func drawEdit(t *rapid.T, parts []part) []part {
	parts = slices.Clone(parts)
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		i := rapid.IntRange(0, len(parts)-1).Draw(t, "which")
		switch rapid.IntRange(0, 8).Draw(t, "how") {
		case 0:
			if len(parts) < 5 {
				parts = slices.Insert(parts, i, drawPart(t, fmt.Sprint("new", rapid.IntRange(0, 9999).Draw(t, "name"))))
			}
		case 1:
			if len(parts) > 1 {
				parts = slices.Delete(parts, i, i+1)
			}
		case 2:
			parts[i].name += "x"
		case 3:
			parts[0], parts[i] = parts[i], parts[0]
		case 4:
			parts[i].note += "n"
		case 5:
			parts[i].waitsFor = ""
			parts[i].wait(t, parts[:i])
		case 6:
			parts[i].ignores = !parts[i].ignores
		case 7:
			parts[i].spelled = !parts[i].spelled
		default:
			parts[i].content += 100
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(parts, func(p part) bool {
		was := seen[p.name]
		seen[p.name] = true
		return was
	})
}

// drawByHand has a person edit a replica, if there is one of the version. Where nothing tells that the cluster did not get the edit, it gets
// it: its answer would be waited for. The controller sets it back, or writes another version at once, and says so.
func (f *fleet) drawByHand(t *rapid.T) (atOnce bool) {
	cluster := rapid.SampledFrom(f.targets).Draw(t, "edited")
	s := f.hub[cluster]
	if s == nil || !strings.HasPrefix(status.StampOf(s).Version, fmt.Sprintf("v%d ", f.version)) {
		return false
	}
	sees := f.strips || rapid.Bool().Draw(t, "it arrives") || slices.ContainsFunc(s.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Time.Time.Equal(f.now.Truncate(time.Second))
	})
	var parts []part
	if rapid.Bool().Draw(t, "its templates") {
		parts = slices.Clone(s.parts)
		parts[rapid.IntRange(0, len(parts)-1).Draw(t, "which")].content += 1000
	}
	f.agents[cluster].edited = f.version
	f.byHand(cluster, parts, sees)
	seconds := rapid.IntRange(0, 400).Draw(t, "seconds after it")
	if sees {
		seconds = max(seconds, 10) // it arrives before the cluster is cut off
	}
	f.run(time.Duration(seconds) * time.Second)
	return seconds == 0
}

// O17, O23, S3: rollouts of policies of one to five templates with unequal agents. Whatever changes, no more clusters are exposed than
// exposure.Of says, a good version never fails and is done in the end, and a version that is bad in any one template is not.
func TestPoliciesOfSeveralTemplates(t *testing.T) {
	for round := range exhaustive.Of(1, 4, 10) {
		exhaustive.Check(t, round, func(t *rapid.T) {
			pace := drawPace(t)
			limits := naiveLimits{
				typ:            rapid.SampledFrom([]clusterv1alpha1.RolloutType{clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup}).Draw(t, "type"),
				maxConcurrency: rapid.IntRange(1, 3).Draw(t, "concurrency"), maxFailures: rapid.IntRange(0, 1).Draw(t, "failures"), deadline: 2 * time.Hour, soak: pace.soak,
			}
			action := rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Enforce, policyv1.Enforce, ""}).Draw(t, "action")
			f := newFleet(t, limits, action, rapid.IntRange(1, 5).Draw(t, "clusters"))
			f.strips = rapid.IntRange(0, 3).Draw(t, "strips managed fields") == 3
			for _, c := range f.targets {
				f.agents[c].lag = time.Duration(rapid.SampledFrom([]int{10, 200, 3000}).Draw(t, "lag")) * time.Millisecond
				if !f.strips { // without managed fields the clocks have to agree
					f.agents[c].clock = -time.Duration(rapid.SampledFrom([]int{0, 0, 0, 7, 3600}).Draw(t, "behind")) * time.Second
				}
			}
			f.after(time.Duration(rapid.IntRange(0, 60).Draw(t, "minutes until the other policy complies"))*time.Minute, f.meet)
			f.bound()
			within := f.check
			good := true
			f.check = func() {
				if within(); good && f.status.RolloutStatus == "Failed" {
					f.t.Fatalf("a good version failed after %v", f.now.Sub(noon))
				}
			}
			var parts []part
			for i := range rapid.IntRange(1, 4).Draw(t, "templates") {
				p := drawPart(t, string(rune('a'+i)))
				p.wait(t, parts)
				parts = append(parts, p)
			}
			edit := func() {
				pace.mend(parts, action)
				f.edit(parts...)
			}
			edit()
			for range rapid.IntRange(0, 3).Draw(t, "edits") {
				if rapid.Bool().Draw(t, "in the middle") {
					f.run(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
				} else if !f.settled(24 * time.Hour) {
					f.t.Fatalf("a good version is not done: %s %v", f.status.RolloutStatus, f.last.Explain(f.targets[0]))
				}
				atOnce := rapid.IntRange(0, 2).Draw(t, "by hand") == 2 && f.drawByHand(t)
				if parts = drawEdit(t, parts); atOnce { // something has to be new to the cluster, or it gives no sign
					parts = append(parts, drawPart(t, fmt.Sprint("sign", f.version)))
				}
				var cutOff []string
				if pace.cuts && rapid.IntRange(0, 3).Draw(t, "cut off") == 3 && f.hub[f.targets[0]] != nil {
					cutOff = rapid.SliceOfNDistinct(rapid.SampledFrom(f.targets), 1, 2, rapid.ID).Draw(t, "which")
				}
				for _, c := range cutOff {
					f.agents[c].away = true
				}
				edit()
				for _, c := range cutOff { // during the first pass, or both
					f.run(time.Duration(rapid.SampledFrom([]int{1, 4, 8, 12}).Draw(t, "minutes")) * time.Minute)
					f.back(c)
				}
			}
			i := rapid.IntRange(-1, len(parts)-1).Draw(t, "bad")
			if i >= 0 && parts[i].enforces(action) && !f.isIgnoring(parts[i]) {
				if rapid.Bool().Draw(t, "before that it is done") && !f.settled(24*time.Hour) {
					f.t.Fatal("a good version is not done")
				}
				good = false
				parts[i].bad, parts[i].content = true, parts[i].content+100
				edit()
				if f.run(24 * time.Hour); f.status.RolloutStatus != "Failed" {
					f.t.Fatalf("a bad version is %s", f.status.RolloutStatus)
				}
				return
			}
			if !f.settled(24 * time.Hour) {
				f.t.Fatalf("a good version is not done: %s %s, %v", f.status.RolloutStatus, f.status.ComplianceState, f.last.Explain(f.targets[0]))
			}
		})
	}
}

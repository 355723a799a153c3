// SPDX-License-Identifier: Apache-2.0

package addonv1alpha1_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"open-cluster-management.io/api/addon/v1alpha1"
	"open-cluster-management.io/api/addon/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/addonv1alpha1"
)

var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// require is what stops a test or one of its draws.
type require interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// older is the same in the API's older version, by way of JSON.
func older[To, From any](t require, from From) (to To) {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, &to)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func drawHash(t *rapid.T, name string) *v1beta1.ConfigSpecHash {
	h := rapid.SampledFrom([]string{"", "1", "2", "no hash"}).Draw(t, name)
	if h == "" {
		return nil
	}
	if h == "no hash" {
		h = ""
	}
	return hash(h)
}

func hash(h string) *v1beta1.ConfigSpecHash {
	return &v1beta1.ConfigSpecHash{ConfigReferent: v1beta1.ConfigReferent{Namespace: "ns", Name: "c"}, SpecHash: h}
}

// addOn is an add-on with the references and, a minute after its creation, the condition Progressing with the reason ("": none).
func addOn(reason string, has []v1beta1.ConfigReference) *v1beta1.ManagedClusterAddOn {
	a := &v1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", CreationTimestamp: metav1.NewTime(noon)}}
	a.Status.ConfigReferences = has
	if reason != "" {
		a.Status.Conditions = []metav1.Condition{{Type: "Progressing", Reason: reason, LastTransitionTime: metav1.NewTime(noon.Add(time.Minute))}}
	}
	return a
}

// same holds S2 against one state and gives its report.
func same(t require, state status.AddOnState) status.Report {
	old, before := older[addonv1alpha1.AddOnState](t, state), older[addonv1alpha1.AddOnState](t, state)
	want, wantOK := status.FromManagedClusterAddOn(state)
	got, ok := addonv1alpha1.FromManagedClusterAddOn(old)
	if diff := cmp.Diff(want, got); diff != "" || ok != wantOK {
		t.Fatalf("%v, want %v, report (-v1beta1 +v1alpha1):\n%s", ok, wantOK, diff)
	}
	if state.AddOn != nil && !cmp.Equal(status.StampOf(state.AddOn), status.StampOf(old.AddOn)) {
		t.Fatalf("stamp %+v, want %+v", status.StampOf(old.AddOn), status.StampOf(state.AddOn))
	}
	if diff := cmp.Diff(before, old); diff != "" {
		t.Fatalf("the state was changed:\n%s", diff)
	}
	return got
}

// S2: without referents beside references, a report is the same in both versions.
func TestReportsAreThoseOfV1beta1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (references []v1beta1.ConfigReference) {
			for i := range rapid.IntRange(0, 2).Draw(t, name) {
				references = append(references, v1beta1.ConfigReference{
					ConfigGroupResource: v1beta1.ConfigGroupResource{Group: "g", Resource: rapid.SampledFrom([]string{"r", "s"}).Draw(t, fmt.Sprint(name, i))},
					DesiredConfig:       drawHash(t, fmt.Sprint(name, i, " desired")), LastAppliedConfig: drawHash(t, fmt.Sprint(name, i, " applied")),
				})
			}
			return references
		}
		state := status.AddOnState{Desired: draw("wanted")}
		if rapid.Bool().Draw(t, "is there") {
			state.AddOn = addOn(rapid.SampledFrom([]string{"", "Failed", "Progressing"}).Draw(t, "reason"), state.Desired)
			if rapid.Bool().Draw(t, "has others") {
				state.AddOn.Status.ConfigReferences = draw("has")
			}
			if rapid.Bool().Draw(t, "stamped") {
				status.StampOf(state.AddOn).NoteOn(state.AddOn, "v", rapid.IntRange(0, 1).Draw(t, "attempt"), noon.Add(2*time.Minute))
			}
			if rapid.Bool().Draw(t, "deleted") {
				state.AddOn.DeletionTimestamp = &metav1.Time{Time: noon}
			}
		}
		if rapid.Bool().Draw(t, "said") {
			state.Applied = noon.Add(3 * time.Minute)
		}
		if rapid.Bool().Draw(t, "notes answers") {
			state.Now = noon.Add(4 * time.Minute)
		}
		same(t, state)
	})
}

// S2: each status is reached, in both versions.
func TestEachStatusIsThatOfV1beta1(t *testing.T) {
	desired := []v1beta1.ConfigReference{{DesiredConfig: hash("1")}}
	has := []v1beta1.ConfigReference{{DesiredConfig: hash("1"), LastAppliedConfig: hash("1")}}
	for name, test := range map[string]struct {
		state status.AddOnState
		want  status.RolloutStatus
	}{
		"is not there":            {status.AddOnState{Desired: desired}, ""},
		"has not been told":       {status.AddOnState{Desired: desired, AddOn: addOn("", nil)}, status.ToApply},
		"has not applied it":      {status.AddOnState{Desired: desired, AddOn: addOn("Progressing", desired)}, status.Progressing},
		"has applied it":          {status.AddOnState{Desired: desired, AddOn: addOn("Progressing", has)}, status.Succeeded},
		"says that it has failed": {status.AddOnState{Desired: desired, AddOn: addOn("Failed", desired)}, status.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := same(t, test.state).Status; got != test.want {
				t.Errorf("status %q, want %q", got, test.want)
			}
		})
	}
}

// S2: referents tell references without a desired configuration apart. Such a reference is applied where nothing is.
func TestReferents(t *testing.T) {
	named := func(name string, applied *v1alpha1.ConfigSpecHash) []v1alpha1.ConfigReference {
		return []v1alpha1.ConfigReference{{
			ConfigGroupResource: v1alpha1.ConfigGroupResource{Resource: "addondeploymentconfigs"},
			ConfigReferent:      v1alpha1.ConfigReferent{Name: name},
			LastAppliedConfig:   applied,
		}}
	}
	for _, test := range []struct {
		why     string
		desired string
		applied *v1alpha1.ConfigSpecHash
		want    status.RolloutStatus
	}{
		{"the same", "a", nil, status.Succeeded},
		{"another one", "b", nil, status.ToApply},
		{"something is applied still", "a", &v1alpha1.ConfigSpecHash{SpecHash: "1"}, status.Progressing},
		{"it is applied still, and was without a hash", "a", &v1alpha1.ConfigSpecHash{ConfigReferent: v1alpha1.ConfigReferent{Name: "a"}}, status.Progressing},
	} {
		addon := &v1alpha1.ManagedClusterAddOn{}
		addon.Status.ConfigReferences = named("a", test.applied)
		if got, ok := addonv1alpha1.FromManagedClusterAddOn(addonv1alpha1.AddOnState{AddOn: addon, Desired: named(test.desired, nil)}); got.Status != test.want || !ok {
			t.Errorf("%s: %s, want %s", test.why, got.Status, test.want)
		}
	}
}

// S8: an entry becomes the same in both versions, shares nothing, and keeps what the older version has beside.
func TestEntriesAreThoseOfV1beta1(t *testing.T) {
	goods := 0
	rapid.Check(t, func(t *rapid.T) {
		entry := &v1beta1.InstallProgression{PlacementRef: v1beta1.PlacementRef{Name: "p", Namespace: "ns"}}
		for i := range rapid.IntRange(0, 2).Draw(t, "references") {
			entry.ConfigReferences = append(entry.ConfigReferences, v1beta1.InstallConfigReference{
				ConfigGroupResource: v1beta1.ConfigGroupResource{Resource: "r"}, DesiredConfig: drawHash(t, fmt.Sprint(i, " desired")),
				LastAppliedConfig: drawHash(t, fmt.Sprint(i, " applied")), LastKnownGoodConfig: drawHash(t, fmt.Sprint(i, " good")),
			})
		}
		old := older[*v1alpha1.InstallProgression](t, entry)
		for step := range 3 {
			now := noon.Add(time.Duration(step) * time.Minute)
			s := status.Summary{Counts: status.Counts{Succeeded: rapid.IntRange(0, 2).Draw(t, "succeeded"), Progressing: rapid.IntRange(0, 1).Draw(t, "progressing")}}
			want := status.SetInstallProgression(entry, s, 7, now)
			if got := addonv1alpha1.SetInstallProgression(old, s, 7, now); got != want {
				t.Fatalf("changed is %v, want %v", got, want)
			}
			if diff := cmp.Diff(older[*v1alpha1.InstallProgression](t, entry), older[*v1alpha1.InstallProgression](t, old)); diff != "" {
				t.Fatalf("(-v1beta1 +v1alpha1):\n%s", diff)
			}
			if entry.Conditions[0].Reason == "Completed" {
				goods++
			}
			for i := range old.ConfigReferences { // a later change of what is desired is none of what was applied
				if d := old.ConfigReferences[i].DesiredConfig; d != nil {
					d.SpecHash += "0"
					entry.ConfigReferences[i].DesiredConfig.SpecHash += "0"
				}
			}
		}
	})
	if goods == 0 {
		t.Error("no configuration became a good one")
	}
}

// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
)

// progression returns an entry whose configurations have a desired, an applied and a known good hash each.
func progression(hashes ...[3]string) *addonv1beta1.InstallProgression {
	config := func(hash string) *addonv1beta1.ConfigSpecHash {
		if hash == "" {
			return nil
		}
		return &addonv1beta1.ConfigSpecHash{ConfigReferent: addonv1beta1.ConfigReferent{Name: "c"}, SpecHash: hash}
	}
	entry := &addonv1beta1.InstallProgression{PlacementRef: addonv1beta1.PlacementRef{Name: "p", Namespace: "ns"}}
	for _, h := range hashes {
		entry.ConfigReferences = append(entry.ConfigReferences, addonv1beta1.InstallConfigReference{
			DesiredConfig: config(h[0]), LastAppliedConfig: config(h[1]), LastKnownGoodConfig: config(h[2]),
		})
	}
	return entry
}

// S8: the condition and the configurations of an installProgression, one reason a row.
func TestInstallProgression(t *testing.T) {
	for _, test := range []struct {
		why    string
		in     status.Summary
		before [3]string
		want   string
		after  [3]string
	}{
		{"S8 under way", status.Summary{Counts: status.Counts{Progressing: 1}}, [3]string{"2", "1", "1"}, "True Progressing", [3]string{"2", "1", "1"}},
		{"S8 all done", status.Summary{Counts: status.Counts{Succeeded: 1}}, [3]string{"2", "1", "1"}, "False Completed", [3]string{"2", "2", "2"}},
		{"S8 all done for the first time", status.Summary{Counts: status.Counts{Succeeded: 1}}, [3]string{"2", "", ""}, "False Completed", [3]string{"2", "2", "2"}},
		{"S8 all done, nothing desired", status.Summary{Counts: status.Counts{Succeeded: 1}}, [3]string{"", "1", "1"}, "False Completed", [3]string{"", "1", "1"}},
		{"S8 soaks", status.Summary{Counts: status.Counts{Succeeded: 1, Soaking: 1}}, [3]string{"2", "1", "1"}, "True Progressing", [3]string{"2", "1", "1"}},
		{"S8 stopped", status.Summary{Counts: status.Counts{ToApply: 1, Failed: 1}, Breach: "stopped"}, [3]string{"2", "1", "1"}, "False Failed", [3]string{"2", "1", "1"}},
		{"S8 no cluster is selected: a configuration that ran nowhere is not known to be good", status.Summary{}, [3]string{"2", "1", "1"}, "False NoClusterSelected", [3]string{"2", "1", "1"}},
		{"S8 all skipped: a configuration that ran nowhere is not known to be good", status.Summary{Counts: status.Counts{Skip: 3}}, [3]string{"2", "1", "1"}, "False Completed", [3]string{"2", "1", "1"}},
		{"S8 one of two skipped: not applied everywhere", status.Summary{Counts: status.Counts{Skip: 1, Succeeded: 1}}, [3]string{"2", "1", "1"}, "False Completed", [3]string{"2", "1", "1"}},
		{"S8 partially observed decisions", status.Summary{Counts: status.Counts{Succeeded: 1}, Incomplete: "partially observed"}, [3]string{"2", "1", "1"}, "True Progressing", [3]string{"2", "1", "1"}},
		{"S8 ended with a tolerated failure: not applied everywhere", status.Summary{Counts: status.Counts{Succeeded: 9, TimeOut: 1}}, [3]string{"2", "1", ""}, "False Failed", [3]string{"2", "1", ""}},
	} {
		t.Run(test.why, func(t *testing.T) {
			entry := progression(test.before)
			if !status.SetInstallProgression(entry, test.in, 7, noon) {
				t.Error("nothing changed")
			}
			c := entry.Conditions[0]
			if got := fmt.Sprintf("%s %s", c.Status, c.Reason); got != test.want || c.Type != "Progressing" || c.Message != test.in.String() || c.ObservedGeneration != 7 {
				t.Errorf("%+v, want %s", c, test.want)
			}
			want := progression(test.after)
			want.Conditions = entry.Conditions
			if diff := cmp.Diff(want, entry); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// S8: a later change of what is desired is none of what was applied.
func TestInstallProgressionSharesNothing(t *testing.T) {
	entry := progression([3]string{"2", "1", "1"})
	status.SetInstallProgression(entry, status.Summary{Counts: status.Counts{Succeeded: 1}}, 1, noon)
	entry.ConfigReferences[0].DesiredConfig.SpecHash = "3"
	c := entry.ConfigReferences[0]
	if c.LastAppliedConfig.SpecHash != "2" || c.LastKnownGoodConfig.SpecHash != "2" {
		t.Errorf("applied %v, known good %v, want 2", c.LastAppliedConfig, c.LastKnownGoodConfig)
	}
}

// S8: what did not change says so, lastTransitionTime moves only with the status, and other conditions stay.
func TestInstallProgressionSaysWhetherItChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash := rapid.SampledFrom([]string{"", "1", "2"})
		entry := progression([3]string{"1", "", ""}, [3]string{"2", "1", "1"})
		foreign := metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon)}
		entry.Conditions = []metav1.Condition{foreign}
		now := noon
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			now = now.Add(time.Second)
			for i := range entry.ConfigReferences {
				entry.ConfigReferences[i].DesiredConfig = progression([3]string{hash.Draw(t, "desired"), "", ""}).ConfigReferences[0].DesiredConfig
			}
			s := status.Summary{Counts: anyCounts(t), Breach: rapid.SampledFrom([]string{"", "stopped: 1 failed"}).Draw(t, "breach")}
			if rapid.Bool().Draw(t, "done") {
				s = status.Summary{Counts: status.Counts{Succeeded: 2}}
			}
			before := entry.DeepCopy()
			if changed := status.SetInstallProgression(entry, s, 1, now); changed == cmp.Equal(before, entry) {
				t.Fatalf("changed is %v, but before and after are\n%+v\n%+v", changed, before, entry)
			}
			if status.SetInstallProgression(entry, s, 1, now.Add(time.Hour)) {
				t.Fatal("the same again changed something")
			}
			checkTransition(t, before.Conditions, entry.Conditions)
			if entry.Conditions[0] != foreign {
				t.Fatalf("a condition of another type became %v", entry.Conditions[0])
			}
		}
	})
}

// A ClusterManagementAddOn remembers which configuration is known to work once a rollout has succeeded.
func ExampleSetInstallProgression() {
	config := func(hash string) *addonv1beta1.ConfigSpecHash {
		return &addonv1beta1.ConfigSpecHash{ConfigReferent: addonv1beta1.ConfigReferent{Name: "default"}, SpecHash: hash}
	}
	entry := &addonv1beta1.InstallProgression{
		PlacementRef: addonv1beta1.PlacementRef{Name: "production", Namespace: "default"},
		ConfigReferences: []addonv1beta1.InstallConfigReference{
			{DesiredConfig: config("new"), LastAppliedConfig: config("old"), LastKnownGoodConfig: config("old")},
		},
	}
	for minute, s := range []status.Summary{
		{Counts: status.Counts{Progressing: 1, Succeeded: 1}},
		{Counts: status.Counts{Succeeded: 2}},
		{Counts: status.Counts{Succeeded: 2}},
	} {
		changed := status.SetInstallProgression(entry, s, 1, time.Date(2026, time.November, 21, 12, minute, 0, 0, time.UTC))
		c := entry.Conditions[0]
		fmt.Println(changed, c.Status, c.Reason, c.LastTransitionTime.Format("15:04"), entry.ConfigReferences[0].LastAppliedConfig.SpecHash)
	}
	// Output:
	// true True Progressing 12:00 old
	// true False Completed 12:01 new
	// false False Completed 12:01 new
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// Moments of hubs, as people have them, each with facts that an answer has to state and facts that are not so. The files in
// testdata/moments have a line for each object.
func TestMomentsOfHubs(t *testing.T) {
	for _, test := range []struct {
		why, command string
		says, never  []string
	}{
		{"a selected cluster with a work in deletion starts once that is gone", "status menu -f selected-deleting.yaml",
			[]string{"1 of 2 clusters done, 1 not started", "start once their object is gone, which is being deleted (1): m1", "forecast: Complete"}, []string{"may start now"}},
		{"it is one of all rollouts", "status -f selected-deleting.yaml", []string{"stores/menu"}, nil},
		{"it is played through", "plan -f selected-deleting.yaml", []string{"Complete: 2 of 2 clusters done"}, nil},
		{"it is explained", "explain m1 -f selected-deleting.yaml", []string{"its object is being deleted: it starts anew once that is gone", "succeeds and is done"}, nil},
		{"it has a page", "report - -f selected-deleting.yaml", []string{"</html>"}, nil},
		{"a replicated policy in deletion says so, and which finalizers keep it", "status menu -f policy-deleting.yaml", []string{"gets it anew then (1): m1 since 2026-05-04T10:20:00Z (finalizers: example.com/keeps)",
			"not bound, and its replicated policy is being deleted (1): m9 since", "1 of 4 clusters done"}, nil},
		{"also in a plan", "plan -f policy-deleting.yaml", []string{"(1): m1 since 10:20 (finalizers: example.com/keeps)", "Stuck"}, nil},
		{"one of a cluster that is not bound is explained", "explain m9 -f policy-deleting.yaml", []string{"m9 is not selected by Policy stores/menu", "10:00   starts", "is deselected, and holds others up"}, []string{"now     starts"}},
		{"they are on their way out", "removals -f policy-deleting.yaml", []string{"on their way out: m1 m9"}, []string{"to delete now"}},
		{"a waiting cluster starts once its replicated policy is gone", "status menu -f policy-waiting-deleting.yaml", []string{"start once their object is gone, which is being deleted (1): m2"}, []string{"may start now"}},
		{"a root policy in deletion starts no cluster", "status menu -f policy-owner-deleting.yaml",
			[]string{"no cluster starts, and each loses the workload (finalizers: policy.open-cluster-management.io/cleanup)"}, []string{"may start now", "anew"}},
		{"an owner in deletion starts no cluster", "status menu -f owner-deleting.yaml",
			[]string{"being deleted since 2026-05-04T10:20:00Z: no cluster starts"}, []string{"may start now", "start once", "kubectl cohort resume", "forecast: Complete"}},

		{"decisions that are not there yet are missing", "status menu -f no-decisions.yaml", []string{"no PlacementDecision is found", "forecast: unknown, as the PlacementDecisions are only partially observed"}, []string{"may start now", "Complete", "Stuck"}},
		{"and in a plan", "plan -f no-decisions.yaml", []string{"no PlacementDecision is found"}, []string{"Complete"}},
		{"and in the reach of a bad version", "exposure -f no-decisions.yaml", []string{"no PlacementDecision is found"}, nil},

		{"a rollout that no controller can follow is left out", "status -f one-invalid.yaml", []string{"stores/menu", "Complete", "note: left out: ", `stores/nought: spec.placementRefs[0].rolloutStrategy.progressive.maxConcurrency: Invalid value: "0%"`}, nil},
		{"wherever no name asks for it", "explain m1 -f one-invalid.yaml", []string{"m1 is in group 0 of ManifestWorkReplicaSet stores/menu", "left out: "}, nil},
		{"and so is one without a Placement", "plan -f no-placement.yaml", []string{"ManifestWorkReplicaSet stores/menu", "note: left out: ", "stores/astray: placement stores/nowhere"}, nil},
		{"of a hub, decisions of other makers do not matter", "plan -f others-decision.yaml", []string{"Complete: 1 of 1 clusters done"}, nil},

		{"a set says how many go at a time", "removals -f remove-at-most.yaml", []string{"all of it goes, at most 2 clusters at a time", "to delete now: m1 m2\n"}, []string{"annotation"}},
		{"a flag says otherwise", "removals --at-a-time 1 -f remove-at-most.yaml", []string{"at most 1 cluster at a time", "to delete now: m1\n"}, nil},
		{"OCM's own controller does not read that", "removals -f remove-at-most-ocm.yaml", []string{"all of it goes at once", "to delete now: m1 m2 m3\n", "has no effect"}, nil},
		{"one without it loses all at once", "removals -f no-placement.yaml", []string{"all of it goes at once", "unless the controller has the flag -remove-at-most"}, nil},

		{"configurations of an add-on's own are desired, and their hash may be missing yet", "status till -f addon-own-configs-v1beta1.yaml",
			[]string{"1 of 3 clusters done, 2 not started", "may start now (1): m2"}, nil},
		{"also of the older version", "status till -f addon-own-configs-v1alpha1.yaml", []string{"1 of 3 clusters done, 2 not started", "may start now (1): m2"}, nil},
		{"the last placement of an add-on has a cluster that several select", "status till -f addon-overlap.yaml",
			[]string{"stores/everywhere  Succeeded    1         1 ", "stores/docks       Progressing  2         1     0          0       1 "}, nil},
		{"also where one is asked for", "status till --placement everywhere -f addon-overlap.yaml", []string{"1 of 1 clusters done", "in a later placement of"}, []string{"may start now"}},
		{"and its limit is that of a bad version", "exposure --placement docks -f addon-overlap.yaml", []string{"At most 1 of 2 clusters get a version", "At most 1 are in flight"}, []string{"to placement stores/docks to"}},
		{"and it is removed there", "removals --placement docks -f addon-overlap.yaml", []string{"to delete now: m2 m3"}, nil},

		{"a deadline is stronger than a guess", "status menu -f guess-over-deadline.yaml", []string{"a guess, 20s, half of the progressDeadline", "forecast: Complete at 10:30:50, a guess"}, []string{"10m"}},
		{"and than one of another kind of file", "plan -f guess-over-deadline.yaml", []string{"half of the progressDeadline", "Complete"}, []string{"Breached"}},
		{"the version before says how long clusters take", "status menu -f version-before.yaml", []string{"--takes: 30s-1m, as the 3 clusters that have the version before took", "forecast: Complete at 10:3"}, []string{"guess"}},
		{"also without stamps", "status menu -f version-before-ocm.yaml", []string{"--takes: 30s-1m, as the 3 clusters that have the version before took"}, []string{"guess"}},
		{"a success that came much later than the others is not the first", "status menu -f flap.yaml", []string{"--takes: 30s-50s, as the 2 clusters that are done took; 1 other is not counted"}, []string{"20m"}},
		{"nor is one after the deadline", "status menu -f flap-deadline.yaml", []string{"--takes: a guess, 5m, half of the progressDeadline"}, []string{"20m"}},
		{"unreachable clusters never answer", "status menu -f unreachable.yaml", []string{"never answers (2): m1 since 2026-05-03 05:00 UTC, m3 since 2026-05-02 05:00 UTC", "forecast: Stuck"}, []string{"Complete"}},
		{"nor in a plan", "plan -f unreachable.yaml", []string{"never answers (2)", "Stuck"}, []string{"Complete: "}},
		{"nor does one whose dependency is not met", "status menu -f pending.yaml",
			[]string{"Policy base.base is NonCompliant, must be Compliant (1): m1", "Policy base.base is not found, must be Compliant (1): m3", "forecast: Stuck"}, []string{"Complete at"}},
		{"of which its explanation tells", "explain m1 --rollout menu -f pending.yaml", []string{"pending until a dependency is met", "base.base is NonCompliant"}, []string{"succeeds"}},

		{"a stop says what to do where no cluster waits", "status menu -f breached-all-have-it.yaml", []string{"the rollout is stopped: m1 failed", "fix the workload on m1", "kubectl cohort retry stores/menu"}, nil},
		{"also where it is asked what waits", "explain -f breached-all-have-it.yaml", []string{"the rollout is stopped: m1 failed", "to do:  kubectl cohort retry stores/menu", "no cluster waits"}, nil},
		{"and at the end of a plan", "plan -f breached-all-have-it.yaml", []string{"Breached: the rollout is stopped: m1 failed", "fix the workload on m1"}, nil},
		{"and beside a pause", "status menu -f breached-paused.yaml", []string{"to do: resume the rollout", "the rollout is stopped: m1 failed", "kubectl cohort resume stores/menu", "kubectl cohort retry stores/menu"}, nil},
		{"and beside decisions that are missing", "status menu -f breached-partial.yaml", []string{"only partially observed", "the rollout is stopped: m1 failed", "kubectl cohort retry stores/menu"}, nil},

		{"a cluster with another version is starting", "explain m1 -f version-before.yaml", []string{"now      starts"}, []string{"earlier", "has not reported"}},
		{"what only the record tells of has started, and cannot be fixed", "explain gone -f left-gone.yaml", []string{"10:05   starts", "retry the failed clusters", "add gone to the ignored clusters"}, []string{"now     starts", "fix the workload"}},
		{"a work of a placement that the owner names no longer is removed", "status menu -f old-placement.yaml", []string{"1 of 1 clusters done", "so that the workload is removed there (1): m9"}, []string{"of no rollout here"}},
		{"and can be explained", "explain m9 -f old-placement.yaml", []string{"m9 is not selected by ManifestWorkReplicaSet stores/menu"}, nil},
		{"files without a binding say what a hub without one does", "plan -f no-binding.yaml", []string{"ManagedClusterSetBinding: none in the files", "on a hub without one, no cluster is selected"}, nil},
		{"two dumps are of their own times, and count one version", "diff version-before-then.yaml version-before.yaml",
			[]string{"at 2026-05-04T10:01:00Z: 0 of 3 clusters done, 3 not started, counted by the version that is wanted now"}, []string{"2025-01-01"}},

		{"a cluster that left in flight counts in the group that its labels give", "status menu -f left-in-flight.yaml",
			[]string{`0 "first"  2         1     1 `, "may start now (1): m2"}, []string{"unknown group", "blocked by", "Breached"}},
		{"and when it is played", "plan -f left-in-flight.yaml", []string{"now       1        2          1     0       1 "}, []string{"unknown group"}},
		{"where two groups have the name, the group is unknown", "status menu -f left-between.yaml", []string{"an unknown group"}, nil},

		{"OCM's own controller does not count a cluster that left in flight", "status menu -f ocm-left.yaml",
			[]string{"1 of 3 clusters done, 2 not started\n", "OCM's own controller, which makes no stamps, has the rollout and does not count these (1): left", "may start now (1): m2", "forecast: Complete"}, []string{"deselected", "left:"}},
		{"nor one that leaves when it is played", "plan --cut-off m2 --lease 5m -f ocm-left.yaml", []string{"deselected: m2", "Complete: 2 of 2 clusters done"}, []string{"Breached", "TIMED OUT"}},
		{"it is explained without its ManagedCluster", "explain left -f ocm-left.yaml", []string{"left is not selected", "does not count these (1): left"}, []string{"10:28    starts"}},
		{"and goes with the set", "removals -f ocm-left.yaml", []string{"on their way out: left"}, nil},
		{"one of this library counts it, also before it wrote a stamp", "status menu -f ocm-taken-over.yaml", []string{"1 of 4 clusters done, 1 in flight", "left: (deselected) is progressing"}, []string{"OCM's own", "may start now"}},

		{"half of the decisions remove no cluster", "status menu -f partially-observed.yaml", []string{"PlacementDecisions are only partially observed", "these keep the workload until all are (1): m2"}, []string{"removed there"}},

		{"a group has its own counts beside clusters that left", "report - -f unknown-group.yaml", []string{"1 of 1 clusters done", "0 of 2 clusters done, 2 not started"}, nil},
	} {
		t.Run(test.command, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(test.command, "-f ", "-f testdata/moments/"))
			if args[0] == "diff" {
				args = []string{"diff", "testdata/moments/" + args[1], "testdata/moments/" + args[2]}
			} else if args[0] != "exposure" && args[0] != "removals" {
				args = append(args, "--start", "2026-05-04T10:30:00Z")
			}
			got := simulateText(t, "", args...)
			for _, fact := range test.says {
				if !strings.Contains(got, fact) {
					t.Errorf("%s: %s does not say %q:\n%s", test.why, test.command, fact, got)
				}
			}
			for _, fact := range test.never {
				if strings.Contains(got, fact) {
					t.Errorf("%s: %s says %q:\n%s", test.why, test.command, fact, got)
				}
			}
		})
	}
}

// One that is asked for by name is no note.
func TestARolloutThatIsAskedForIsNotLeftOut(t *testing.T) {
	for file, want := range map[string]string{"addon-by-hand.yaml": "without it the add-on is installed by hand (Manual)", "one-invalid.yaml --rollout nought": `Invalid value: "0%"`, "no-placement.yaml --rollout astray": "placement stores/nowhere"} {
		if got := refused(t, "", strings.Fields("plan -f testdata/moments/"+file)...); !strings.Contains(got, want) {
			t.Errorf("%s: %s", file, got)
		}
	}
}

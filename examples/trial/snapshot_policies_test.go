// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// policyTale is of a policy in version v2, with a deadline of 5 s, that is bound to two clusters. A third one was deselected.
func policyTale(t *testing.T) *tale {
	t.Helper()
	strategy, err := plain(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "5s"}}})
	if err != nil {
		t.Fatal(err)
	}
	s := &tale{}
	root := policyObject("t1", "Policy", policyName)
	root.Object["spec"] = map[string]any{"remediationAction": "enforce", "rolloutStrategy": strategy, "hubTemplateOptions": optionsOf("v2"),
		"policy-templates": templatesOf([]policyTemplate{aTemplate})}
	s.add(Policies, root)
	s.decide(placementName, 0, "", "t1-c0", "t1-c1")
	s.place(placementName, told{"", 2})
	return s
}

var aTemplate = policyTemplate{kind: configurationPolicy, name: "a", own: "enforce", content: "v1"}

// replica gives a cluster the policy, enforced, with a report of it if it has answered. A user may have edited what its template waits for.
func (s *tale) replica(t *testing.T, cluster string, generation int64, a answer, byHand ...string) int64 {
	t.Helper()
	p := newPolicyUnderTest(t, aTemplate)
	p.SetNamespace(cluster)
	p.write("enforce", generation)
	for _, name := range byHand {
		p.Object["spec"].(map[string]any)["policy-templates"].([]any)[0].(map[string]any)["extraDependencies"] = []any{map[string]any{"name": name}}
	}
	if a != awaited {
		p.says(a, 0)
	}
	return s.add(Policies, p.Unstructured)
}

func (s *tale) ofPolicies() *checker {
	// In the trial of this seed a cluster that does not comply has failed at once, and no cluster is validated.
	return &checker{history: newHistory(s.events, nil, nil), delivery: OfPolicies(), ignoreAnnotation: "ignore",
		trial: &trial{world: &world{name: "t1", seed: seedThat(false), fleet: fleet{name: placementName}, pool: []string{"c0", "c1", "c2"}}}}
}

// seedThat is the first seed of a trial without verdicts that waits for the deadline, or not.
func seedThat(waits bool) (seed uint64) {
	for of := func(seed uint64) *trial { return &trial{world: &world{seed: seed}} }; isPatient(of(seed)) != waits || isValidated(of(seed)); {
		seed++
	}
	return seed
}

const byHand = "by.hand" // what a user has a template wait for

// A deselected cluster was done, and then a user edits its policy, which no controller writes back: it may count as done. One that was not
// done before is waited for.
func TestADeselectedClusterThatAUserEditedMayBeDone(t *testing.T) {
	for name, tt := range map[string]struct {
		states func(s *tale)
		done   bool
	}{
		"it was done, and then it was edited":    {func(s *tale) { s.replica(t, "t1-c2", 1, does); s.replica(t, "t1-c2", 2, awaited, byHand) }, true},
		"it was not edited":                      {func(s *tale) { s.replica(t, "t1-c2", 1, does) }, false},
		"it had not answered when it was edited": {func(s *tale) { s.replica(t, "t1-c2", 1, awaited); s.replica(t, "t1-c2", 2, awaited, byHand) }, false},
		"it had failed when it was edited":       {func(s *tale) { s.replica(t, "t1-c2", 1, doesNot); s.replica(t, "t1-c2", 2, awaited, byHand) }, false},
		"it had failed after a success": {func(s *tale) {
			s.replica(t, "t1-c2", 1, does)
			s.replica(t, "t1-c2", 1, doesNot)
			s.replica(t, "t1-c2", 2, awaited, byHand)
		}, false},
		"another cluster was done":        {func(s *tale) { s.replica(t, "t1-c1", 1, does); s.replica(t, "t1-c2", 2, awaited, byHand) }, false},
		"it answered what the user wrote": {func(s *tale) { s.replica(t, "t1-c2", 2, does, byHand) }, false},
		"it failed, and was done when it was edited": {func(s *tale) {
			s.replica(t, "t1-c2", 1, doesNot)
			s.replica(t, "t1-c2", 1, does)
			s.replica(t, "t1-c2", 2, awaited, byHand)
		}, true},
		"it was edited, set back and done, and edited again": {func(s *tale) {
			s.replica(t, "t1-c2", 2, awaited, byHand)
			s.replica(t, "t1-c2", 1, does)
			s.replica(t, "t1-c2", 2, awaited, byHand)
		}, true},
	} {
		s := policyTale(t)
		tt.states(s)
		if got := s.ofPolicies().present().mayBeDone("t1-c2"); got != tt.done {
			t.Errorf("%s: may be done %v, want %v", name, got, tt.done)
		}
	}
	s := policyTale(t)
	edited := s.replica(t, "t1-c2", 2, awaited, byHand)
	s.replica(t, "t1-c2", 1, does)
	s.replica(t, "t1-c2", 2, awaited, byHand)
	if s.ofPolicies().truthAt(edited).mayBeDone("t1-c2") {
		t.Error("it may be done before it was")
	}
}

// Which clusters others may wait for, when nothing happens any more.
func TestWhichClustersOthersMayWaitFor(t *testing.T) {
	long := dawn.Add(time.Hour) // all deadlines are over
	for name, tt := range map[string]struct {
		cluster string
		states  func(s *tale)
		ignored string
		waits   []string
		waited  bool
	}{
		"it is selected, and not done":                      {"t1-c0", func(s *tale) { s.replica(t, "t1-c0", 1, awaited) }, "", []string{"t1-c1"}, true},
		"it is selected, and done":                          {"t1-c0", func(s *tale) { s.replica(t, "t1-c0", 1, does) }, "", []string{"t1-c1"}, false},
		"it waits itself":                                   {"t1-c1", func(*tale) {}, "", []string{"t1-c1"}, false},
		"it is ignored":                                     {"t1-c0", func(s *tale) { s.replica(t, "t1-c0", 1, doesNot) }, "t1-c0", []string{"t1-c1"}, false},
		"it is deselected, and failed":                      {"t1-c2", func(s *tale) { s.replica(t, "t1-c2", 1, doesNot) }, "", []string{"t1-c1"}, true},
		"it is deselected, and done":                        {"t1-c2", func(s *tale) { s.replica(t, "t1-c2", 1, does) }, "", []string{"t1-c1"}, false},
		"it is deselected, and ignored":                     {"t1-c2", func(s *tale) { s.replica(t, "t1-c2", 1, doesNot) }, "t1-c2", []string{"t1-c1"}, false},
		"it is deselected, has nothing, and so blocks none": {"t1-c2", func(*tale) {}, "", []string{"t1-c1"}, false},
		"it is deselected in flight, and a user edited its policy": {"t1-c2", func(s *tale) { s.replica(t, "t1-c2", 1, awaited); s.replica(t, "t1-c2", 2, awaited, byHand) },
			"", []string{"t1-c1"}, true},
	} {
		s := policyTale(t)
		tt.states(s)
		if tt.ignored != "" {
			s.events[0].object.SetAnnotations(map[string]string{"ignore": tt.ignored})
		}
		now := s.ofPolicies().present()
		if got := now.isWaitedFor(tt.cluster, now.blockers(long), tt.waits, long); got != tt.waited {
			t.Errorf("%s: %v, want %v; not done: %v", name, got, tt.waited, now.blockers(long))
		}
	}
}

// A cluster without a ManagedCluster is ignored from when that is gone, unless it is selected, where the controller reads ManagedClusters.
func TestAClusterWithoutAManagedClusterIsIgnored(t *testing.T) {
	managed := func(name string, at int, gone bool) event {
		return event{object: &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, at: dawn.Add(time.Duration(at) * time.Second), gone: gone}
	}
	s := policyTale(t)
	before := s.replica(t, "t1-c2", 1, doesNot)
	s.replica(t, "t1-c2", 1, doesNot)
	j := s.ofPolicies()
	j.managed = []event{managed("t1-c0", 1, false), managed("t1-c0", 2, true), managed("t1-c1", 1, false), managed("t1-c2", 1, false), managed("t1-c2", int(before)+1, true)}
	if got := fmt.Sprint(j.present().ignoredClusters, j.truthAt(before).ignoredClusters); got != "map[t1-c2:true] map[]" {
		t.Error(got)
	}
	j.delivery.unregisters = false
	if got := fmt.Sprint(j.present().ignoredClusters); got != "map[]" {
		t.Errorf("a controller that reads no ManagedClusters ignores %s", got)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

func TestTwoPasses(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform, c: create inform")
	h.report(policyv1.NonCompliant, "a", "b", "c")
	h.wrote("a: update enforce")
	if got := h.status(); got != "NonCompliant Progressing: a Progressing, b NonCompliant ToApply, c NonCompliant ToApply" {
		t.Error(got)
	}
	h.wrote("") // what a reported is about inform
	h.report(policyv1.Compliant, "a")
	h.wrote("b: update enforce")
	h.report(policyv1.NonCompliant, "b")
	h.wrote("") // it may comply yet, and without a deadline it is waited for
	if got := h.status(); got != "NonCompliant Progressing: a Compliant Succeeded, b NonCompliant Progressing, c NonCompliant ToApply" {
		t.Error(got)
	}
	h.annotate(prefix+"fail-at-once", "true")
	h.wrote("") // it failed, and stops all
	if got := h.status(); got != "NonCompliant Failed: a Compliant Succeeded, b NonCompliant Failed, c NonCompliant ToApply" {
		t.Error(got)
	}
	h.report(policyv1.Compliant, "b")
	h.wrote("c: update enforce")
	h.report(policyv1.Compliant, "c")
	h.wrote("")
	if got := h.status(); got != "Compliant Succeeded: a Compliant Succeeded, b Compliant Succeeded, c Compliant Succeeded" {
		t.Error(got)
	}
}

// A report that the cluster makes anew within the same second counts. One that was there when the policy was written does not, and one
// from before by the cluster's clock counts once nothing else has come for a while.
func TestReportsAreOfWhatWasWritten(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.report(policyv1.Compliant, "a", "b")
	h.wrote("a: update enforce")
	h.wrote("")
	h.clock = h.clock.Add(-time.Hour)
	h.report(policyv1.Compliant, "a")
	h.wrote("")
	h.clock = h.clock.Add(time.Hour + 5*time.Minute)
	h.wrote("b: update enforce")
}

func TestWhatIsReplicated(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.bind("prod", "prod", itself(), "")
	h.set("policies", "base", "one", "two")
	h.policy(`
remediationAction: enforce
copyPolicyMetadata: true
dependencies:
- {apiVersion: policy.open-cluster-management.io/v1, kind: Policy, name: namespaces, compliance: Compliant}
policy-templates:
- objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: x}, spec: {severity: low}}
  extraDependencies:
  - {apiVersion: policy.open-cluster-management.io/v1beta1, kind: PolicySet, name: base, compliance: Compliant}
`)
	h.wrote("a: create enforce")
	object := h.replica("a")
	labels := map[string]string{rootLabel: "policies.etcd", clusterLabel: "a", clusterNamespaceLabel: "a", "team": "platform"}
	if object.GetName() != "policies.etcd" || !equalJSON(object.GetLabels(), labels) {
		t.Errorf("it is %s with labels %v", object.GetName(), object.GetLabels())
	}
	text, err := object.MarshalJSON()
	h.must(err)
	for _, want := range []string{`"policies.namespaces"`, `"policies.one"`, `"policies.two"`, `"copyPolicyMetadata":true`, `"severity":"low"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Contains(string(text), "rolloutStrategy") || strings.Contains(string(text), `"kind":"PolicySet"`) {
		t.Errorf("too much is in %s", text)
	}

	h.wrote("")
	h.set("policies", "base", "one")
	h.wrote("a: update enforce") // the set is another one
}

// As OCM's propagator: metadata is copied unless the policy says no, and Argo CD is told to leave replicas alone.
func TestMetadataOfReplicas(t *testing.T) {
	for _, test := range []struct{ says, labels, annotations string }{
		{"", "argo=etcd policy.open-cluster-management.io/set=base team=platform", "argocd.argoproj.io/tracking-id=it policy.open-cluster-management.io/standards=x"},
		{"copyPolicyMetadata: true\n", "argo=etcd policy.open-cluster-management.io/set=base team=platform", "argocd.argoproj.io/tracking-id=it policy.open-cluster-management.io/standards=x"},
		{"copyPolicyMetadata: false\n", "policy.open-cluster-management.io/set=base", "policy.open-cluster-management.io/standards=x"},
	} {
		h := newHub(t)
		h.place("prod", "a")
		h.bind("prod", "prod", itself(), "")
		h.policy(test.says + "remediationAction: inform\n" + templates)
		root := h.policies[thePolicy.String()].DeepCopy()
		root.SetLabels(map[string]string{"team": "platform", "argo": "etcd", "policy.open-cluster-management.io/set": "base"})
		root.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": "it", "policy.open-cluster-management.io/standards": "x",
			"policy.open-cluster-management.io/trigger-update": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}"})
		h.store(root)
		h.wrote("a: create inform")
		own := func(name string) bool {
			return strings.HasPrefix(name, "cohort.") || name == rootLabel || name == clusterLabel || name == clusterNamespaceLabel
		}
		text := func(of map[string]string) string {
			var all []string
			for name, value := range of {
				if !own(name) {
					all = append(all, name+"="+value)
				}
			}
			slices.Sort(all)
			return strings.Join(all, " ")
		}
		if got := text(h.replica("a").GetLabels()); got != test.labels {
			t.Errorf("%q: labels %s", test.says, got)
		}
		if got, want := text(h.replica("a").GetAnnotations()), "argocd.argoproj.io/compare-options=IgnoreExtraneous "+test.annotations; got != want {
			t.Errorf("%q: annotations %s", test.says, got)
		}
	}
}

// A status that OCM's propagator wrote is read, and an unreadable one blocks nothing: it is written anew.
func TestStatusOfOthers(t *testing.T) {
	for _, placement := range []any{
		map[string]any{"placementBinding": "old", "exclusions": []any{map[string]any{"clusterName": "c3"}}},
		map[string]any{"placementBinding": "old", "exclusions": []any{"c3"}},
		"unreadable",
	} {
		h := newHub(t)
		h.place("prod", "a")
		h.bind("prod", "prod", itself(), "")
		h.policy("remediationAction: inform\n" + templates)
		root := h.policies[thePolicy.String()]
		root.Object["status"] = map[string]any{"compliant": "Compliant", "placement": []any{placement}, "status": []any{
			map[string]any{"clustername": "c3", "compliant": "Compliant", "remainingBindings": []any{map[string]any{"placementBinding": "old"}}}}}
		h.store(root)
		h.wrote("a: create inform")
		if got := h.status(); got != "Progressing: a Progressing" {
			t.Errorf("%v: %s", placement, got)
		}
	}
}

// Nothing that is wrong with a policy keeps it from being disabled: neither its spec, nor its annotations, nor its bindings.
func TestDisabledWhateverIsWrong(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: inform\n" + templates)
	h.wrote("a: create inform")
	h.bind("wrong", "prod", itself(), "{subFilter: odd}")
	h.policy("disabled: true\nremediationAction: odd\npolicy-templates: odd\n")
	root := h.policies[thePolicy.String()].DeepCopy()
	root.SetAnnotations(map[string]string{"cohort.open-cluster-management.io/left": "odd"})
	h.store(root)
	h.wrote("a: delete")
	placements, _, _ := unstructured.NestedSlice(h.policies[thePolicy.String()].Object, "status", "placement")
	if len(placements) != 2 {
		t.Errorf("a disabled policy is bound by %v", placements) // its PolicySets read that
	}
}

// Where the API server drops the fields of the rollout, an event says once what that means.
func TestDroppedFieldsAreTold(t *testing.T) {
	for _, test := range []struct {
		why, spec string
		drops     bool
		want      string
	}{
		{"enforced on all clusters", "remediationAction: enforce\n", true, "RolloutStatusDropped RolloutStrategyDropped"},
		{"templates may enforce", "", true, "RolloutStatusDropped RolloutStrategyDropped"},
		{"inform needs no strategy", "remediationAction: inform\n", true, "RolloutStatusDropped"},
		{"nothing is dropped", "remediationAction: enforce\n", false, ""},
	} {
		h := newHub(t)
		h.drops = test.drops
		h.place("prod", "a")
		h.bind("prod", "prod", itself(), "")
		h.policy(test.spec + templates)
		var told []string
		for range 3 {
			h.catchUp()
			_, _, err := h.look()
			h.must(err)
			for _, event := range h.events() {
				if words := strings.Fields(event); strings.HasSuffix(words[1], "Dropped") {
					told = append(told, words[1])
				}
			}
		}
		if got := strings.Join(told, " "); got != test.want {
			t.Errorf("%s: told %q, want %q", test.why, got, test.want)
		}
	}
}

// Selective enforcement: the policy informs on all clusters, and a sub filter enforces it on some.
func TestSubFilter(t *testing.T) {
	h := newHub(t)
	h.place("all", "a", "b", "c")
	h.place("some", "c", "d")
	h.bind("all", "all", itself(), "")
	h.bind("some", "some", itself(), "{subFilter: restricted, bindingOverrides: {remediationAction: enforce}}")
	h.policy("remediationAction: inform\n" + templates)
	h.wrote("a: create inform, b: create inform, c: create enforce")
}

func TestBoundThroughASet(t *testing.T) {
	h := newHub(t)
	h.place("all", "a", "b")
	h.set("policies", "base", "etcd", "other")
	h.bind("all", "all", policyv1.Subject{Kind: "PolicySet", Name: "base"}, "")
	h.policy("remediationAction: inform\n" + templates)
	h.wrote("a: create inform, b: create inform")
}

func TestNothingHappensWhereNothingChanged(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce")
	h.wrote("")
	version := h.version
	for range 3 {
		h.clock = h.clock.Add(time.Hour)
		h.wrote("")
	}
	if h.version != version {
		t.Error("something was written")
	}
}

func TestAnotherTemplateBeginsAnew(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(2))
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce, b: update enforce")
	h.report(policyv1.Compliant, "a", "b")
	h.wrote("")
	h.policy(progressive(1)) // of another strategy alone, nothing begins anew
	h.wrote("")
	object := h.policies[thePolicy.String()].DeepCopy()
	object.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"})
	h.store(object)
	h.wrote("")
	h.policy(strings.ReplaceAll(progressive(1), "etcd-encryption", "another"))
	h.wrote("a: update inform, b: update inform")
	h.wrote("a: update enforce")
}

func TestPlansNothingUntilTheCacheShowsItsWrites(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce")
	for range 3 {
		if wrote, recheck, err := h.look(); wrote != "" || recheck != writes.Patience || err != nil {
			t.Fatalf("wrote %q, %v, %v", wrote, recheck, err)
		}
	}
	h.wrote("")
}

// A replica that a user deletes before the cache has seen it never comes into the cache.
func TestAsksTheServerWhatTheCacheNeverShows(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: inform\n" + templates)
	h.wrote("a: create inform")
	delete(h.policies, "a/policies.etcd")
	h.wrote("")
	h.clock = h.clock.Add(writes.Patience - time.Second)
	if wrote, recheck, err := h.look(); wrote != "" || recheck != time.Second || err != nil { // another event does not postpone it
		t.Fatalf("wrote %q, %v, %v", wrote, recheck, err)
	}
	h.clock = h.clock.Add(time.Second)
	h.wrote("a: create inform")
}

func TestAnswerLost(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.fail = func(string) (error, bool) { return errors.New("connection reset"), true }
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "a: update enforce" || err == nil {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	h.fail = nil
	if wrote, recheck, err := h.look(); wrote != "" || recheck != writes.Patience || err != nil {
		t.Errorf("of an old cache: wrote %q, %v, %v", wrote, recheck, err)
	}
	h.wrote("")
}

// What must last stands in the objects.
func TestRestart(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform, c: create inform")
	h.restart()
	h.wrote("a: update enforce")
	h.restart()
	h.wrote("")
	h.report(policyv1.Compliant, "a")
	h.restart()
	h.wrote("b: update enforce")
}

// A cluster that is unbound for a moment keeps its replica.
func TestAClusterUnboundForAMoment(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: inform\n" + templates)
	h.wrote("a: create inform, b: create inform")
	h.report(policyv1.Compliant, "a", "b")
	h.wrote("")
	h.place("prod", "a")
	h.wrote("")
	if got := h.status(); got != "Compliant Succeeded: a Compliant Succeeded, b Compliant Succeeded" {
		t.Error(got)
	}
	h.place("prod", "a", "b")
	h.wrote("")
	h.place("prod", "a")
	h.wrote("")
	if _, recheck, err := h.look(); recheck != grace || err != nil {
		t.Errorf("%v, %v", recheck, err)
	}
	h.clock = h.clock.Add(grace)
	h.wrote("b: delete")
	h.wrote("")
	if got := h.status(); got != "Compliant Succeeded: a Compliant Succeeded" {
		t.Error(got)
	}
}

// While a placement is not there, or is being written, nothing starts and nothing is deleted.
func TestIncompleteGroups(t *testing.T) {
	h := newHub(t)
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("")
	h.place("prod", "a", "b")
	h.wrote("a: create inform, b: create inform")
	h.must(h.caches.decisions.Replace(nil, ""))
	h.clock = h.clock.Add(time.Hour)
	h.wrote("")
}

func TestADeletedPolicy(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.catchUp()
	h.must(h.caches.policies.Delete(get[policy](h.caches.policies, thePolicy)))
	if wrote, _, err := h.look(); wrote != "" || err != nil { // for the cache alone
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	delete(h.policies, thePolicy.String())
	h.wrote("a: delete, b: delete")
	h.wrote("")
	if h.memories.Len() > 0 {
		t.Error("it is remembered")
	}
}

func TestDisabledPolicy(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.policy("disabled: true\n" + templates)
	h.wrote("a: delete, b: delete")
	if wrote, recheck, err := h.look(); wrote != "" || recheck != writes.Patience || err != nil {
		t.Errorf("of an old cache: wrote %q, %v, %v", wrote, recheck, err)
	}
	h.wrote("")
}

func TestClusterThatRefuses(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: inform\n" + templates)
	h.fail = func(write string) (error, bool) {
		if write == "a: create inform" {
			return notFound("a"), false
		}
		return nil, true
	}
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "b: create inform" || err == nil {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	if told := h.events(); !slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, "Warning Refused cluster a: ") }) {
		t.Errorf("told %q", told)
	}
	h.fail = nil
	h.wrote("a: create inform")
}

// W16: a cluster that refuses makes no deadline of the others late. After an error a deadline counts if it comes before the
// pause, but no reconcile follows another within the first pause.
func TestDeadlineAfterAnError(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: enforce\nrolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1, progressDeadline: 1s}}\n" + templates)
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce")
	delete(h.policies, "b/policies.etcd")
	h.fail = func(write string) (error, bool) {
		if write == "b: create inform" {
			return notFound("b"), false
		}
		return nil, true
	}
	h.catchUp()
	h.clock = h.clock.Add(750 * time.Millisecond)
	if wrote, recheck, err := h.look(); wrote != "" || recheck != 250*time.Millisecond || err == nil {
		t.Errorf("wrote %q, %v, %v", wrote, recheck, err)
	}
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		defer q.ShutDown()
		for _, want := range []time.Duration{
			100 * time.Millisecond, // by the first pause
			150 * time.Millisecond, // by the deadline, as the second pause is 200 ms
			400 * time.Millisecond, // by the third pause, as the deadline is over
		} {
			if after, err := h.controller.look(t.Context(), q, thePolicy); after != want || err == nil {
				t.Fatalf("it is looked at again after %v, not %v: %v", after, want, err)
			}
			time.Sleep(want - time.Millisecond)
			if n := q.Len(); n != 0 {
				t.Errorf("it is looked at again before %v", want)
			}
			time.Sleep(2 * time.Millisecond)
			if n := q.Len(); n != 1 {
				t.Fatalf("it is not looked at again after %v", want)
			}
			key, _ := q.Get()
			q.Done(key)
			h.clock = h.clock.Add(want)
		}
	})
}

// A policy that changes while writes are made stops them.
func TestChangeInBetween(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: inform\n" + templates)
	h.fail = func(write string) (error, bool) {
		if write == "b: create inform" {
			h.policy("disabled: true\n" + templates)
			kept, err := keep(h.policies[thePolicy.String()].DeepCopy())
			h.must(err)
			h.must(h.caches.policies.Update(kept))
		}
		return nil, true
	}
	h.catchUp()
	if wrote, recheck, err := h.look(); wrote != "a: create inform, b: create inform" || recheck != time.Millisecond || err != nil {
		t.Errorf("wrote %q, %v, %v", wrote, recheck, err)
	}
	h.fail = nil
	h.wrote("a: delete, b: delete")
}

func TestWhatCannotBeCarriedOut(t *testing.T) {
	for why, spec := range map[string]string{
		"a strategy of no type":      "rolloutStrategy: {type: Slowly}\n" + templates,
		"an action of no kind":       "remediationAction: 7\n" + templates,
		"a deadline that is no time": "remediationAction: enforce\nrolloutStrategy: {type: Progressive, progressive: {progressDeadline: soon}}\n" + templates,
	} {
		h := newHub(t)
		h.place("prod", "a")
		h.bind("prod", "prod", itself(), "")
		h.policy(spec)
		h.wrote("")
		if told := h.events(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning Invalid ") {
			t.Errorf("%s: told %q", why, told)
		}
	}
}

// An action set by hand starts no cluster. It is set back, with an event.
func TestAnActionSetByHandIsSetBack(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce")
	object := h.replica("b").DeepCopy()
	object.Object["spec"].(map[string]any)["remediationAction"] = "enforce"
	h.store(object)
	h.events()
	h.wrote("b: update inform")
	if told := strings.Join(h.events(), "; "); !strings.Contains(told, "Edited the replicated policy of cluster b was edited by hand: the controller writes it back") {
		t.Errorf("told %q", told)
	}
	h.wrote("")
}

func TestEvents(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "{bindingOverrides: {remediationAction: enforce}}")
	h.policy(progressive(1))
	h.annotate(prefix+"fail-at-once", "true")
	told := func(want ...string) {
		t.Helper()
		h.catchUp()
		if _, _, err := h.look(); err != nil {
			t.Fatal(err)
		}
		got := h.events()
		for i, event := range got {
			got[i] = strings.Join(strings.Fields(event)[1:], " ")
		}
		if !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	told(`OverrideIgnored PlacementBinding "prod" does not enforce the policy: its bindingOverrides need the rollout strategy All, and the policy has Progressive`)
	told()
	told("Started a started")
	told()
	h.report(policyv1.NonCompliant, "a")
	told(`Failed a failed; a: "etcd-encryption: NonCompliant; it is so"`, "Stopped the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out")
	h.restart()
	told(`OverrideIgnored PlacementBinding "prod" does not enforce the policy: its bindingOverrides need the rollout strategy All, and the policy has Progressive`)
	h.report(policyv1.Compliant, "a")
	told("Succeeded a succeeded", "Recovered a recovered", "Resumed maxFailures is not exceeded any more, and the rollout continues")
	told("Started b started")
}

// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// noon is when these tests propagate.
var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

func resolve(t testing.TB, p *policyv1.Policy, bindings ...override.Binding) *override.Resolution {
	t.Helper()
	r, err := override.Resolve(p, bindings)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// to is a binding to clusters in one group.
func to(clusters ...string) override.Binding {
	return override.Binding{Name: "b", PlacementRef: placement("p"), Groups: groupsOf([]naiveGroup{{clusters: clusters}})}
}

func propagate(t testing.TB, r *override.Resolution, replicas []passes.Replica, opts rollout.Options) *passes.Propagation {
	t.Helper()
	p, err := passes.Propagate(r, "v2", status.Record{}, replicas, noon, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// O9, R14: a Progressive strategy that says no concurrency takes one cluster at a time, or as many as the Placement puts
// into a group, where the groups know it.
func TestProgressiveWithoutMaxConcurrency(t *testing.T) {
	divided := func(size intstr.IntOrString, clusters ...string) *grouping.Groups {
		p := &clusterv1beta1.Placement{}
		p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = size
		var selected []*clusterv1.ManagedCluster
		for _, name := range clusters {
			selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		groups, err := grouping.Divide(p, selected, grouping.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return groups
	}
	progressive := func(p *clusterv1alpha1.RolloutProgressive) *policyv1.Policy {
		made := policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive})
		made.Spec.RolloutStrategy.Progressive = p
		return made
	}
	ready := func(clusters ...string) (replicas []passes.Replica) {
		for _, c := range clusters {
			replicas = append(replicas, passes.Replica{Cluster: c, Version: "v2", Action: policyv1.Inform})
		}
		return replicas
	}
	unset := &clusterv1alpha1.RolloutProgressive{}
	for _, test := range []struct {
		why    string
		policy *policyv1.Policy
		groups *grouping.Groups
		want   string
	}{
		{"nothing says anything", progressive(nil), to("a", "b", "c").Groups, "a"},
		{"the concurrency alone is unset", progressive(unset), to("a", "b", "c").Groups, "a"},
		{"the placement has no size", progressive(unset), divided(intstr.IntOrString{}, "a", "b", "c"), "a"},
		{"the placement has a size", progressive(unset), divided(intstr.FromInt32(2), "a", "b", "c"), "a b"},
		{"also where the strategy has no block", progressive(nil), divided(intstr.FromInt32(2), "a", "b", "c"), "a b"},
		{"a percentage", progressive(unset), divided(intstr.FromString("67%"), "a", "b", "c"), "a b c"},
		{"the strategy's own counts", progressive(&clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(3)}), divided(intstr.FromInt32(2), "a", "b", "c"), "a b c"},
	} {
		t.Run(test.why, func(t *testing.T) {
			b := to()
			b.Groups = test.groups
			p := propagate(t, resolve(t, test.policy, b), ready("a", "b", "c"), rollout.Options{})
			if got := strings.Join(p.Start, " "); got != test.want {
				t.Errorf("starts %s, want %s", got, test.want)
			}
		})
	}
	if unset.MaxConcurrency != (intstr.IntOrString{}) {
		t.Errorf("the policy's strategy became %+v", unset)
	}
}

// O14, R7, R28: a Resolution that nothing was resolved to deletes nothing.
func TestZeroResolutionDeletesNothing(t *testing.T) {
	for _, r := range []*override.Resolution{nil, {}} {
		p := propagate(t, r, []passes.Replica{{Cluster: "a", Version: "v2", Action: policyv1.Enforce}}, rollout.Options{})
		if len(p.Removed) > 0 || len(p.Start) > 0 || len(p.Writes()) > 0 || len(p.Warnings) == 0 {
			t.Errorf("%s, starts %v, warns %v", p, p.Start, p.Warnings)
		}
	}
}

// A zero Propagation asks for nothing, and everything is new since it.
func TestZeroPropagation(t *testing.T) {
	var zero passes.Propagation
	if len(zero.Writes()) > 0 || zero.String() != "" || len(zero.Blockers()) > 0 || zero.Summary().Total() > 0 || explained(zero.Explain("a")) || zero.Changes(&zero).String() != "" {
		t.Errorf("%v, %v, %v", &zero, zero.Blockers(), zero.Summary())
	}
	done := passes.Replica{Cluster: "a", Version: "v2", Action: policyv1.Enforce, Compliance: policyv1.Compliant, Applied: noon}
	p := propagate(t, resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a")), []passes.Replica{done}, rollout.Options{})
	if got := p.Changes(&zero).String(); got != "a started; a succeeded" {
		t.Errorf("new since a zero Propagation: %s", got)
	}
	if got := p.Changes(nil); got.String() != "" {
		t.Errorf("new since nil: %s", got)
	}
}

// O6: a disabled policy is deleted everywhere, whatever else is wrong with it and whatever the options, without a version.
func TestDisabledPolicyIsDeletedWhateverIsWrong(t *testing.T) {
	broken := policy("sometimes", naiveLimits{typ: "Canary"})
	broken.Spec.Disabled = true
	p, err := passes.Propagate(resolve(t, broken, override.Binding{}), "", status.Record{}, []passes.Replica{{Cluster: "b"}, {Cluster: "a"}}, noon,
		rollout.Options{MaxRemoved: ptr(intstr.FromInt32(0)), MaxConcurrencyPerGroup: intstr.FromString("x")})
	if err != nil || p.String() != "delete a b" || len(p.Writes()) > 0 {
		t.Errorf("got %s, %v", p, err)
	}
}

// All errors are returned at once, each with its place.
func TestPropagateErrors(t *testing.T) {
	r := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.All}), to("a", "b"))
	for _, test := range []struct {
		why      string
		version  string
		replicas []passes.Replica
		options  rollout.Options
		want     string
	}{
		{"no version", "", nil, rollout.Options{}, "version: Required value: must tell this version of the policy from others"},
		{"replicas", "", []passes.Replica{{Cluster: "a"}, {}, {Cluster: "a"}, {Cluster: "a"}}, rollout.Options{},
			"replicas[1].cluster: Required value: must be the name of a cluster\n" +
				"replicas[a]: Duplicate value: \"a\"\n" +
				"version: Required value: must tell this version of the policy from others"},
		{"an option", "v", nil, rollout.Options{MaxRemoved: ptr(intstr.FromString("x"))}, "maxRemoved: Invalid value: \"x\": "},
	} {
		_, err := passes.Propagate(r, test.version, status.Record{}, test.replicas, noon, test.options)
		var invalid *field.Error
		if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.why, err, test.want)
		}
	}
}

// Of policies that are not disabled, Resolve refuses exactly what Validate finds, whatever the root of the paths.
func TestValidate(t *testing.T) {
	for _, action := range []policyv1.RemediationAction{"", "inform", "Enforce", "off"} {
		for _, strategy := range []clusterv1alpha1.RolloutType{"", "All", "Progressive", "ProgressivePerGroup", "Canary"} {
			for _, concurrency := range []string{"1%", "0%"} {
				p := policy(action, naiveLimits{typ: strategy})
				if p.Spec.RolloutStrategy.Progressive != nil {
					p.Spec.RolloutStrategy.Progressive.MaxConcurrency = intstr.FromString(concurrency)
				}
				_, err := override.Resolve(p, nil)
				var want, got []string
				if err != nil {
					want = strings.Split(err.Error(), "\n")
				}
				for _, e := range passes.Validate(p, nil) {
					got = append(got, e.Error())
				}
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s %s (-Resolve +Validate):\n%s", action, strategy, concurrency, diff)
				}
			}
		}
	}
	if errs := passes.Validate(policy("off", naiveLimits{typ: "All"}), field.NewPath("object")); len(errs) != 1 || errs[0].Field != "object.spec.remediationAction" {
		t.Errorf("below a path: %v", errs)
	}
	if errs := passes.Validate(nil, field.NewPath("object")); len(errs) != 1 || errs[0].Field != "object" {
		t.Errorf("no policy: %v", errs)
	}
}

// O15, S3: the annotation that has clusters fail at once is true or false. Anything else would be taken for false without a word.
func TestValidateRefusesAnUnreadableFailAtOnce(t *testing.T) {
	for value, valid := range map[string]bool{"true": true, "false": true, "": false, "yes": false, "True": false} {
		p := policy(policyv1.Enforce, naiveLimits{})
		p.Annotations = map[string]string{"cohort.open-cluster-management.io/fail-at-once": value}
		errs := passes.Validate(p, nil)
		if valid != (len(errs) == 0) || !valid && errs[0].Field != "metadata.annotations[cohort.open-cluster-management.io/fail-at-once]" {
			t.Errorf("%q: %v", value, errs)
		}
		if _, err := override.Resolve(p, nil); valid != (err == nil) {
			t.Errorf("%q: Resolve says %v", value, err)
		}
	}
}

// O21: a webhook refuses a name that no replica can have as its label, namespace and dot included.
func TestValidateRefusesALongName(t *testing.T) {
	p := policy("", naiveLimits{typ: "All"})
	for length, want := range map[int]string{63: "", 64: "metadata.name"} {
		p.Name = strings.Repeat("n", length-len(p.Namespace)-len("."))
		got := ""
		for _, err := range passes.Validate(p, nil) {
			got += err.Field
		}
		if got != want {
			t.Errorf("%d characters: %q, want %q", length, got, want)
		}
	}
}

// S8: the root policy's status has the form of the design document's snippet, with what binds it.
func TestRootStatusOfTheDesignDocument(t *testing.T) {
	root := policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1})
	b := to("cluster1", "cluster2", "cluster3", "cluster4")
	b.Name, b.PlacementRef.Name, b.PolicySets, b.Excluded = "sample-placementbinding", "sample-placement", []string{"baseline"}, []string{"elsewhere", "cluster4"}
	p := propagate(t, resolve(t, root, b), []passes.Replica{
		{Cluster: "cluster1", Version: "v2", Action: policyv1.Enforce, RolloutStatus: status.Succeeded, Compliance: policyv1.Compliant, Applied: noon, ComplianceTime: noon},
		{Cluster: "cluster2", Version: "v2", Action: policyv1.Inform, RolloutStatus: status.ToApply, Compliance: policyv1.NonCompliant},
		{Cluster: "cluster4", Version: "v2", Action: policyv1.Inform, RolloutStatus: status.ToApply, Compliance: policyv1.NonCompliant},
	}, rollout.Options{})
	var st policyv1.PolicyStatus
	if !p.SetStatus(&st) {
		t.Error("nothing changed")
	}
	got, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "rolloutStatus": "Progressing",
  "placement": [
    {
      "placementBinding": "sample-placementbinding",
      "placement": "sample-placement",
      "policySet": "baseline",
      "exclusions": [
        {
          "clusterName": "cluster4"
        },
        {
          "clusterName": "elsewhere"
        }
      ]
    }
  ],
  "status": [
    {
      "compliant": "Compliant",
      "rolloutStatus": "Succeeded",
      "clustername": "cluster1",
      "clusternamespace": "cluster1"
    },
    {
      "rolloutStatus": "Progressing",
      "clustername": "cluster2",
      "clusternamespace": "cluster2"
    },
    {
      "rolloutStatus": "ToApply",
      "clustername": "cluster3",
      "clusternamespace": "cluster3"
    }
  ]
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if p.SetStatus(&st) {
		t.Error("O11: asks again for the same status")
	}
}

// A caller finds one cluster by its name, and sums up like a rollout.
func TestFindAndSummary(t *testing.T) {
	p := propagate(t, resolve(t, policy(policyv1.Inform, naiveLimits{typ: "All"}), to("b", "d")), nil, rollout.Options{})
	for name, want := range map[string]bool{"a": false, "b": true, "c": false, "d": true, "e": false} {
		if c, found := p.Find(name); found != want || found && c.Name != name {
			t.Errorf("%s: %v, %t", name, c, found)
		}
	}
	if got := fmt.Sprint(p.Summary().Counts.Total()); got != "2" {
		t.Errorf("%s clusters", got)
	}
	for range propagate(t, resolve(t, policy(policyv1.Enforce, naiveLimits{typ: "Progressive"}), to("b", "d")), nil, rollout.Options{}).Blocked() {
		break // a loop may end early
	}
}

// O11: a cluster in flight with the version before is taken back before another one starts, whatever their names. Within
// each part the order is by name.
func TestFirstPassesAreWrittenBeforeStarts(t *testing.T) {
	r := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1}), to("a", "b", "c", "d"))
	p := propagate(t, r, []passes.Replica{
		{Cluster: "a", Version: "v2", Action: policyv1.Inform, RolloutStatus: "ToApply"},
		{Cluster: "c", Version: "v1", Action: policyv1.Inform, RolloutStatus: "ToApply"},
		{Cluster: "d", Version: "v1", Action: policyv1.Enforce, RolloutStatus: "Progressing"},
	}, rollout.Options{})
	var got []string
	for _, c := range p.Writes() {
		got = append(got, c.String())
	}
	want := "b: inform, ToApply (create); c: inform, ToApply (update); d: inform, ToApply (update); a: enforce, Progressing (update)"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}

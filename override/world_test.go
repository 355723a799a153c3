// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// naiveResolution is what naiveResolve comes to.
type naiveResolution struct {
	clusters   []override.Cluster
	ignored    []override.Ignored
	incomplete bool
	undecided  bool
}

// naiveResolve follows O2 to O6, cluster by cluster, for bindings of distinct names and known actions.
func naiveResolve(p *policyv1.Policy, bindings []override.Binding) naiveResolution {
	var result naiveResolution
	if p.Spec.Disabled { // O6
		return result
	}
	all := p.Spec.RolloutStrategy.Type == "" || p.Spec.RolloutStrategy.Type == "All"
	byName := map[string]override.Binding{}
	var names []string
	for _, b := range bindings {
		byName[b.Name] = b
		names = append(names, b.Name)
	}
	slices.Sort(names)

	var selected []string // whatever any binding selects
	selects, ignored := map[string][]string{}, map[string]bool{}
	for _, name := range names {
		b := byName[name]
		switch {
		case b.PlacementRef.Kind != "Placement": // O6, these tests have no PlacementRules
			result.ignored = append(result.ignored, override.Ignored{Binding: name, Type: "PlacementRefIgnored"})
			delete(byName, name)
		case !all && b.SubFilter: // O5
			ignored[name] = true
			result.ignored = append(result.ignored, override.Ignored{Binding: name, Type: "SubFilterIgnored"})
		case !all && b.Enforce: // O5
			ignored[name] = true
			result.ignored = append(result.ignored, override.Ignored{Binding: name, Type: "OverrideIgnored"})
		}
		selected = append(selected, members(b.Groups)...)
		selects[name] = members(b.Groups)
	}
	slices.Sort(selected)
	own := policyv1.RemediationAction(strings.ToLower(string(p.Spec.RemediationAction)))
	for _, b := range byName { // O13, R28: a binding that binds or decides must be complete
		decides := b.Enforce && all && own != policyv1.Enforce
		if b.Groups == nil && (!b.SubFilter || decides) {
			result.incomplete = true
			result.undecided = result.undecided || decides
		}
	}

	for _, cluster := range slices.Compact(selected) {
		c := override.Cluster{Name: cluster, Action: own}
		var overriddenBy []string
		for _, name := range names {
			b, counts := byName[name]
			if !counts || !slices.Contains(selects[name], cluster) || slices.Contains(b.Excluded, cluster) {
				continue
			}
			if !b.SubFilter { // O2
				c.BoundBy = append(c.BoundBy, name)
			}
			if ignored[name] { // O4
				c.IgnoredBy = append(c.IgnoredBy, name)
			}
			if b.Enforce && all { // O3, O5
				overriddenBy = append(overriddenBy, name)
			}
		}
		if len(c.BoundBy) == 0 {
			continue
		}
		if c.Action != policyv1.Enforce && len(overriddenBy) > 0 { // O3, O4
			c.Action, c.DecidedBy = policyv1.Enforce, overriddenBy
		}
		result.clusters = append(result.clusters, c)
	}
	return result
}

// check compares a resolution with the naive one, but for the messages, which are scenes, and the groups with the
// clusters.
func check(t rapid.TB, p *policyv1.Policy, bindings []override.Binding) *override.Resolution {
	t.Helper()
	got, err := override.Resolve(p, bindings)
	if err != nil {
		t.Fatal(err)
	}
	want := naiveResolve(p, bindings)
	same := slices.EqualFunc(bound(got), want.clusters, func(a, b override.Cluster) bool {
		return a.Name == b.Name && a.Action == b.Action && slices.Equal(a.BoundBy, b.BoundBy) && slices.Equal(a.DecidedBy, b.DecidedBy) &&
			slices.Equal(a.IgnoredBy, b.IgnoredBy)
	}) && slices.EqualFunc(got.Ignored(), want.ignored, func(a, b override.Ignored) bool {
		return a.Binding == b.Binding && a.Type == b.Type && strings.Contains(a.Message, a.Binding)
	}) && (got.Incomplete() != "") == want.incomplete && got.Undecided() == want.undecided
	if !same {
		t.Fatalf("%+v\nbindings %+v\ngot  %s\n     %v\nwant %+v", p.Spec, bindings, got, explain(got), want)
	}
	return got
}

// checkGroups fails unless the groups have the bound clusters, and are incomplete where the resolution is.
func checkGroups(t rapid.TB, r *override.Resolution) {
	t.Helper()
	groups := r.Groups()
	var names []string
	for c := range r.Clusters() {
		names = append(names, c.Name)
	}
	if (groups.Incomplete() != "") != (r.Incomplete() != "") || !slices.Equal(members(groups), names) {
		t.Fatalf("groups %s (%s) of %s", show(groups), groups.Incomplete(), r)
	}
}

// O2, O3, O4, O5: every world of up to three bindings and three clusters, under every action and strategy, resolves as
// the rules say read one after the other: 405,900 worlds; a short run takes the worlds of two bindings.
func TestResolveEverySmallWorld(t *testing.T) {
	// A binding selects one of the eight sets of clusters and is one of four kinds.
	var choices []override.Binding
	for set := range 8 {
		for _, kind := range []string{plain, enforces, filters, overrides} {
			clusters := ""
			for i, c := range "CAB" { // not in order
				if set>>i&1 == 1 {
					clusters += string(c)
				}
			}
			choices = append(choices, binding("placement", kind, clusters))
		}
	}
	var policies []*policyv1.Policy
	for _, action := range []policyv1.RemediationAction{"", "inform", "enforce"} {
		for _, strategy := range []clusterv1alpha1.RolloutType{"", "All", "Progressive", "ProgressivePerGroup"} {
			policies = append(policies, policy(action, strategy))
		}
	}

	count, depth := 0, exhaustive.Of(2, 3)
	var visit func(bindings []override.Binding)
	visit = func(bindings []override.Binding) {
		for _, p := range policies {
			check(t, p, bindings)
			count++
		}
		if len(bindings) == depth {
			return
		}
		for _, next := range choices {
			next.Name = []string{"y", "z", "x"}[len(bindings)] // not in order
			visit(append(bindings[:len(bindings):len(bindings)], next))
		}
	}
	visit(nil)
	if want := exhaustive.Of(12*(1+32+32*32), 12*(1+32+32*32+32*32*32)); count != want {
		t.Errorf("%d worlds, want %d", count, want)
	}
}

// drawBinding draws a binding over eight clusters, now and then one that excludes some,
// one with unknown groups, or one of an unsupported placement.
func drawBinding(name string) *rapid.Generator[override.Binding] {
	return rapid.Custom(func(t *rapid.T) override.Binding {
		clusters := rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Split("ABCDEFGH", "")), 0, 8, rapid.ID)
		b := override.Binding{
			Name:         name,
			PlacementRef: placement(name),
			Enforce:      rapid.Bool().Draw(t, "enforce"),
			SubFilter:    rapid.Bool().Draw(t, "sub filter"),
			Groups:       oneGroup(clusters.Draw(t, "clusters")...),
		}
		switch rapid.IntRange(0, 9).Draw(t, "special") {
		case 0:
			b.Excluded = clusters.Draw(t, "excluded")
		case 1:
			b.PlacementRef.Kind = "Cluster"
		case 2:
			b.Groups = nil
		}
		return b
	})
}

func drawWorld(t *rapid.T) (*policyv1.Policy, []override.Binding) {
	p := policy(
		rapid.SampledFrom([]policyv1.RemediationAction{"", "inform", "Inform", "enforce", "Enforce"}).Draw(t, "action"),
		rapid.SampledFrom([]clusterv1alpha1.RolloutType{"", "All", "All", "Progressive", "ProgressivePerGroup"}).Draw(t, "strategy"),
	)
	p.Spec.Disabled = rapid.IntRange(0, 19).Draw(t, "disabled") == 0
	bindings := make([]override.Binding, rapid.IntRange(0, 12).Draw(t, "bindings"))
	for i := range bindings {
		bindings[i] = drawBinding(fmt.Sprint("b", i)).Draw(t, "binding")
	}
	return p, bindings
}

// Larger worlds, with exclusions and odd placements, resolve as the rules say, too.
func TestResolveAgreesWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bindings := drawWorld(t)
		checkGroups(t, check(t, p, bindings))
	})
}

// O4: a world with more names of bindings than are stored in one piece resolves as the rules say, and
// a caller that appends to one cluster's names does not write over another's.
func TestResolveLargeWorld(t *testing.T) {
	bindings := largeWorld("drawn", 1_000)
	result := check(t, policy("inform", ""), bindings)
	clusters := bound(result)
	before := clusters[1].String()
	for _, i := range []int{0, 2} {
		_ = append(clusters[i].BoundBy, "written over")
		_ = append(clusters[i].DecidedBy, "written over")
	}
	if after := clusters[1].String(); after != before {
		t.Errorf("%s\nbecame %s", before, after)
	}
}

// The order of bindings and of what they exclude changes nothing, and nothing passed in is changed.
func TestOrderChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bindings := drawWorld(t)
		before := fmt.Sprint(bindings)
		want := check(t, p, bindings)
		if after := fmt.Sprint(bindings); after != before {
			t.Fatalf("bindings were changed\nfrom %s\nto   %s", before, after)
		}
		shuffled := slices.Clone(rapid.Permutation(bindings).Draw(t, "bindings"))
		for i := range shuffled {
			shuffled[i].Excluded = rapid.Permutation(shuffled[i].Excluded).Draw(t, "excluded")
		}
		got, err := override.Resolve(p, shuffled)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(bound(want), bound(got)); diff != "" || want.String() != got.String() || show(want.Groups()) != show(got.Groups()) {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	})
}

// O3: adding a binding without enforce never enforces anything: no bound cluster's action changes, and
// a cluster that it newly binds is enforced only if the policy, or an override that selects that
// cluster already (example 4 of the design document), says so.
func TestAddingBindingWithoutEnforceNeverEnforces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bindings := drawWorld(t)
		added := drawBinding("added").Draw(t, "added")
		added.Enforce = false
		before := check(t, p, bindings)
		after := check(t, p, append(bindings, added))

		for c := range before.Clusters() {
			if now, bound := after.Find(c.Name); !bound || now.Action != c.Action || !slices.Equal(now.DecidedBy, c.DecidedBy) {
				t.Fatalf("%s became %s", c, now)
			}
		}
		for c := range after.Clusters() {
			if _, bound := before.Find(c.Name); bound || c.Action != policyv1.Enforce {
				continue
			}
			if !strings.EqualFold(string(p.Spec.RemediationAction), "enforce") && len(c.DecidedBy) == 0 || slices.Contains(c.DecidedBy, "added") {
				t.Fatalf("the new binding enforces: %s", c)
			}
		}
	})
}

// O3: where no sub filter waits for it, a binding without enforce enforces nothing at all.
func TestAddingBindingWithoutEnforceToInformPolicyWithoutSubFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, bindings := drawWorld(t)
		bindings = slices.DeleteFunc(bindings, func(b override.Binding) bool { return b.SubFilter })
		added := drawBinding("added").Draw(t, "added")
		added.Enforce = false
		p := policy("inform", "")
		before, after := check(t, p, bindings), check(t, p, append(bindings, added))
		if was, is := enforced(before), enforced(after); !slices.Equal(was, is) {
			t.Fatalf("enforced %v, before %v", is, was)
		}
	})
}

func enforced(r *override.Resolution) []string {
	var names []string
	for c := range r.Clusters() {
		if c.Action == policyv1.Enforce {
			names = append(names, c.Name)
		}
	}
	return names
}

// O2: adding a sub filter never binds or unbinds anything.
func TestAddingSubFilterNeverBinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bindings := drawWorld(t)
		added := drawBinding("added").Draw(t, "added")
		added.SubFilter = true
		before := check(t, p, bindings)
		after := check(t, p, append(bindings, added))
		same := slices.EqualFunc(bound(before), bound(after), func(a, b override.Cluster) bool {
			return a.Name == b.Name && slices.Equal(a.BoundBy, b.BoundBy) && (a.Action == b.Action || b.Action == policyv1.Enforce)
		})
		if !same {
			t.Fatalf("bound\nbefore %v\nafter  %v", explain(before), explain(after))
		}
	})
}

package override_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/override"
)

// naiveResolve follows O2 to O6, cluster by cluster, for bindings of distinct names and known actions.
func naiveResolve(p *override.Policy, bindings []override.Binding) override.Result {
	var result override.Result
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
	for _, name := range names {
		b := byName[name]
		switch {
		case b.PlacementRef.Kind != "Placement": // O6, these tests have no PlacementRules
			result.Ignored = append(result.Ignored, override.Ignored{Binding: name, Reason: "PlacementRefUnsupported"})
			delete(byName, name)
		case !all && b.SubFilter: // O5
			result.Ignored = append(result.Ignored, override.Ignored{Binding: name, Reason: "SubFilterIgnored"})
		case !all && b.Enforce: // O5
			result.Ignored = append(result.Ignored, override.Ignored{Binding: name, Reason: "OverrideIgnored"})
		}
		selected = append(selected, b.Clusters...)
	}
	slices.Sort(selected)

	for _, cluster := range slices.Compact(selected) {
		c := override.Cluster{Name: cluster, Action: override.RemediationAction(strings.ToLower(string(p.Spec.RemediationAction)))}
		var overriddenBy []string
		for _, name := range names {
			b, counts := byName[name]
			if !counts || !slices.Contains(b.Clusters, cluster) || slices.Contains(b.Excluded, cluster) {
				continue
			}
			if !b.SubFilter { // O2
				c.BoundBy = append(c.BoundBy, name)
			}
			if b.Enforce && all { // O3, O5
				overriddenBy = append(overriddenBy, name)
			}
		}
		if len(c.BoundBy) == 0 {
			continue
		}
		if c.Action != override.Enforce && len(overriddenBy) > 0 { // O3, O4
			c.Action, c.DecidedBy = override.Enforce, overriddenBy
		}
		result.Clusters = append(result.Clusters, c)
	}
	return result
}

// check compares a result with the naive one, but for the messages, which have a test of their own.
func check(t rapid.TB, p *override.Policy, bindings []override.Binding) override.Result {
	t.Helper()
	got, err := override.Resolve(p, bindings)
	if err != nil {
		t.Fatal(err)
	}
	want := naiveResolve(p, bindings)
	same := slices.EqualFunc(got.Clusters, want.Clusters, func(a, b override.Cluster) bool {
		return a.Name == b.Name && a.Action == b.Action && slices.Equal(a.BoundBy, b.BoundBy) && slices.Equal(a.DecidedBy, b.DecidedBy)
	}) && slices.EqualFunc(got.Ignored, want.Ignored, func(a, b override.Ignored) bool {
		return a.Binding == b.Binding && a.Reason == b.Reason && strings.Contains(a.Message, a.Binding)
	})
	if !same {
		t.Fatalf("%+v\nbindings %+v\ngot  %s\n     %v\nwant %s\n     %v", p.Spec, bindings, got, explain(got), want, explain(want))
	}
	return got
}

// O2, O3, O4, O5: every world of up to three bindings and three clusters, under every action and
// strategy, resolves as the rules say read one after the other: 405,900 worlds.
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
	var policies []*override.Policy
	for _, action := range []override.RemediationAction{"", "inform", "enforce"} {
		for _, strategy := range []clusterv1alpha1.RolloutType{"", "All", "Progressive", "ProgressivePerGroup"} {
			policies = append(policies, policy(action, strategy))
		}
	}

	count := 0
	var visit func(bindings []override.Binding)
	visit = func(bindings []override.Binding) {
		for _, p := range policies {
			check(t, p, bindings)
			count++
		}
		if len(bindings) == 3 {
			return
		}
		for _, next := range choices {
			next.Name = []string{"y", "z", "x"}[len(bindings)] // not in order
			visit(append(bindings[:len(bindings):len(bindings)], next))
		}
	}
	visit(nil)
	if want := 12 * (1 + 32 + 32*32 + 32*32*32); count != want {
		t.Errorf("%d worlds, want %d", count, want)
	}
}

// drawBinding draws a binding over eight clusters, now and then one that excludes some, one that names
// clusters twice, or one of an unsupported placement.
func drawBinding(name string) *rapid.Generator[override.Binding] {
	return rapid.Custom(func(t *rapid.T) override.Binding {
		clusters := rapid.SliceOfN(rapid.SampledFrom(strings.Split("ABCDEFGH", "")), 0, 10)
		b := override.Binding{
			Name:         name,
			PlacementRef: placement(name),
			Enforce:      rapid.Bool().Draw(t, "enforce"),
			SubFilter:    rapid.Bool().Draw(t, "sub filter"),
			Clusters:     clusters.Draw(t, "clusters"),
		}
		switch rapid.IntRange(0, 9).Draw(t, "special") {
		case 0:
			b.Excluded = clusters.Draw(t, "excluded")
		case 1:
			b.PlacementRef.Kind = "Cluster"
		}
		return b
	})
}

func drawWorld(t *rapid.T) (*override.Policy, []override.Binding) {
	p := policy(
		rapid.SampledFrom([]override.RemediationAction{"", "inform", "Inform", "enforce", "Enforce"}).Draw(t, "action"),
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
		check(t, p, bindings)
	})
}

// O4: a world with more names of bindings than are stored in one piece resolves as the rules say, and
// a caller that appends to one cluster's names does not write over another's.
func TestResolveLargeWorld(t *testing.T) {
	bindings := largeWorld("shuffled", 1_000)
	result := check(t, policy("inform", ""), bindings)
	before := result.Clusters[1].String()
	for _, i := range []int{0, 2} {
		_ = append(result.Clusters[i].BoundBy, "written over")
		_ = append(result.Clusters[i].DecidedBy, "written over")
	}
	if after := result.Clusters[1].String(); after != before {
		t.Errorf("%s\nbecame %s", before, after)
	}
}

// The order of bindings and of their clusters changes nothing, and nothing passed in is changed.
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
			shuffled[i].Clusters = rapid.Permutation(shuffled[i].Clusters).Draw(t, "clusters")
			shuffled[i].Excluded = rapid.Permutation(shuffled[i].Excluded).Draw(t, "excluded")
		}
		got, err := override.Resolve(p, shuffled)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	})
}

// O3: adding a binding without enforce never enforces anything: no bound cluster's action changes, and
// a cluster that it binds anew is enforced only if the policy, or an override that selects that
// cluster already (example 4 of the design document), says so.
func TestAddingBindingWithoutEnforceNeverEnforces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bindings := drawWorld(t)
		added := drawBinding("added").Draw(t, "added")
		added.Enforce = false
		before := check(t, p, bindings)
		after := check(t, p, append(bindings, added))

		for _, c := range before.Clusters {
			if now, bound := after.Cluster(c.Name); !bound || now.Action != c.Action || !slices.Equal(now.DecidedBy, c.DecidedBy) {
				t.Fatalf("%s became %s", c, now)
			}
		}
		for _, c := range after.Clusters {
			if _, bound := before.Cluster(c.Name); bound || c.Action != override.Enforce {
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

func enforced(r override.Result) []string {
	var names []string
	for _, c := range r.Clusters {
		if c.Action == override.Enforce {
			names = append(names, c.Name)
		}
	}
	return names
}

// O2: adding a sub filter never binds anything, and takes nothing away.
func TestAddingSubFilterNeverBinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bindings := drawWorld(t)
		added := drawBinding("added").Draw(t, "added")
		added.SubFilter = true
		before := check(t, p, bindings)
		after := check(t, p, append(bindings, added))
		same := slices.EqualFunc(before.Clusters, after.Clusters, func(a, b override.Cluster) bool {
			return a.Name == b.Name && slices.Equal(a.BoundBy, b.BoundBy) && (a.Action == b.Action || b.Action == override.Enforce)
		})
		if !same {
			t.Fatalf("bound\nbefore %v\nafter  %v", explain(before), explain(after))
		}
	})
}

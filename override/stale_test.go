package override_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/override"
)

// O5, O8, O9: clusters that were resolved before the policy's action or strategy changed have the wrong action,
// most dangerously enforce where the policy informs by now.
func TestPropagateRefusesBoundOfAnotherPolicy(t *testing.T) {
	resolve := func(p *override.Policy, bindings ...override.Binding) override.Result {
		bound, err := override.Resolve(p, bindings)
		if err != nil {
			t.Fatal(err)
		}
		return bound
	}
	plain := override.Binding{Name: "b", PlacementRef: placement("p"), Clusters: []string{"a", "b"}}
	sub := override.Binding{Name: "s", PlacementRef: placement("s"), Clusters: []string{"b"}, Enforce: true, SubFilter: true}
	for _, test := range []struct {
		why   string
		bound override.Result
		now   *override.Policy
		want  string // empty where Propagate takes it
	}{
		{"enforced before, informs now", resolve(policy(override.Enforce, all), plain), policy(override.Inform, all),
			`bound[a].action: Invalid value: "enforce": expected inform`},
		{"informed before, enforces now: would be done without enforcing", resolve(policy(override.Inform, progressive), plain),
			policy(override.Enforce, progressive), `bound[a].action: Invalid value: "inform": expected enforce`},
		{"an override that the new strategy ignores", resolve(policy(override.Inform, all), plain, sub), policy(override.Inform, progressive),
			`bound[b].action: Invalid value: "enforce": expected inform`},
		{"the templates decided before", resolve(policy("", perGroup), plain), policy(override.Enforce, perGroup),
			`bound[a].action: Invalid value: "": expected enforce`},
		{"the templates decide now", resolve(policy(override.Inform, all), plain), policy("", all),
			`bound[a].action: Invalid value: "inform": expected unset`},
		{"the same in another spelling", resolve(policy("Inform", ""), plain, sub), policy("inform", all), ""},
		{"another strategy, the same actions", resolve(policy(override.Enforce, all), plain, sub), policy(override.Enforce, progressive), ""},
	} {
		t.Run(test.why, func(t *testing.T) {
			_, err := override.Propagate(override.Root{Policy: test.now, Version: "v2", Bound: test.bound}, nil, passTime())
			var invalid *field.Error
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v", err)
			case test.want != "" && (!errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), test.want)):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// R10: without groups a rollout group by group would enforce the policy everywhere at once.
func TestGroupByGroupTakesGroups(t *testing.T) {
	p := policy(override.Enforce, "ProgressivePerGroup")
	bound, err := override.Resolve(p, []override.Binding{{Name: "b", PlacementRef: placement("p"), Clusters: []string{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "groups: Required value: the policy is rolled out group by group; expected the groups of Result.Groups, lest all clusters start at once"
	if _, err := override.Propagate(override.Root{Policy: p, Version: "v1", Bound: bound}, nil, passTime()); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

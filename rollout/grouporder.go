// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// GroupOrder says which groups come after which under ProgressivePerGroup, in place of the order of their index. It maps
// the name of a group to the names of the groups that have to be complete before it starts. Groups whose name has no entry
// start as soon as the mandatory groups are complete. Several groups can be under way at a time:
//
//	rollout.GroupOrder{
//		"staging-eu": {"canary"}, "prod-eu": {"staging-eu"},
//		"staging-us": {"canary"}, "prod-us": {"staging-us"},
//	}
//
// An empty GroupOrder, which is not nil, starts all groups behind the mandatory ones at once. With a gate before each, they
// start in the order in which their gates open.
//
// Groups of the same name still come one after the other by their index, in each placement. Groups without a name have the
// empty name. A name means the groups of every placement. Mandatory groups come before all others. A closed gate blocks its
// group and the groups after it, and nothing else. A breach in any group stops all. With a ramp or a limit on starts, groups
// start clusters in the order of [Schedule].Stages.
//
// A name that comes after itself is an error. The result warns of a name that no group has. What comes after such a name
// comes after the predecessors of that name; where it has none, it starts freely. Look at the Warnings before the first
// start. The other types ignore the order, and the result warns of that.
//
// A plan takes time linear in the names and pairs of the order, beside sorting the names, and in the groups, and in the pairs of
// [Schedule].After, where groups that come after the same ones share theirs. Only where many names come after names without a
// group, each after other ones, a plan may look at all of these for each name.
type GroupOrder map[string][]string

// compile checks an order; nil where there is none.
func (after GroupOrder) compile(path *field.Path) (*stages.Order, *field.Error) {
	if after == nil {
		return nil, nil
	}
	order, cycle := stages.NewOrder(after)
	if cycle == nil {
		return order, nil
	}
	quoted := make([]string, len(cycle))
	for i, name := range cycle {
		quoted[i] = strconv.Quote(name)
	}
	return nil, field.Invalid(path.Key(cycle[0]), cycle[1], "must not come after itself: "+strings.Join(quoted, " after "))
}

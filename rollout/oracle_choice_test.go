// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"math/big"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// The rules on which clusters start and why the others wait: R8 to R10, R12, R20, R22, R23; and on limits: R14 to R17.

// chooseStarts asks for each waiting cluster whether anything but concurrency holds it, in the order of
// the reasons' precedence, and shares the slots among the rest.
func (o *oracle) chooseStarts() {
	for i := range o.all {
		s := &o.all[i]
		if !waiting(s) {
			continue
		}
		for _, rule := range []func(*oracle, *subject) (rollout.BlockReason, bool){
			(*oracle).r59, (*oracle).r60, (*oracle).r28, (*oracle).r22, (*oracle).r20Breached, (*oracle).r49Full, (*oracle).r10Waits, (*oracle).r23, (*oracle).r34, (*oracle).r53Without,
		} {
			if s.reason, s.blocked = rule(o, s); s.blocked {
				break
			}
		}
	}
	o.share()
}

// R28: where the groups are incomplete, nothing starts.
func (o *oracle) r28(*subject) (rollout.BlockReason, bool) {
	if !o.incomplete {
		return rollout.BlockReason{}, false
	}
	return rollout.BlockReason{Type: rollout.BlockGroupsIncomplete, Missing: o.missing}, true
}

// R22: paused, nothing starts.
func (o *oracle) r22(*subject) (rollout.BlockReason, bool) {
	return rollout.BlockReason{Type: rollout.BlockPaused}, o.paused
}

// R10, R11, R12: on a breach nothing starts.
func (o *oracle) r20Breached(*subject) (rollout.BlockReason, bool) {
	b := o.out.Breach
	if b == nil {
		return rollout.BlockReason{}, false
	}
	return rollout.BlockReason{Type: rollout.BlockBreached, Group: b.Group, AllGroups: b.AllGroups, Failures: b.Failures, MaxFailures: b.MaxFailures}, true
}

// R10, R12 and R33: groups go by index or in the given order, the mandatory ones first, and nothing overtakes one that is
// incomplete and comes before it.
func (o *oracle) r10Waits(s *subject) (rollout.BlockReason, bool) {
	for _, g := range o.sequence() {
		if g == s.group {
			break
		}
		if !o.r33(g, s.group) || o.r6Complete(g, o.budget(g)) {
			continue
		}
		if o.r12(g) {
			return rollout.BlockReason{Type: rollout.BlockMandatoryGroup, Group: g}, true
		}
		return rollout.BlockReason{Type: rollout.BlockEarlierGroup, Group: g}, true
	}
	return rollout.BlockReason{}, false
}

// R23: a closed gate holds its group, and where groups go one by one the later ones. Reading: the first gate is named.
func (o *oracle) r23(s *subject) (rollout.BlockReason, bool) {
	for _, g := range o.sequence() {
		if g == s.group {
			break
		}
		if !o.r33(g, s.group) {
			continue
		}
		if reason, closed := o.r23Before(g); closed {
			return reason, true
		}
	}
	return o.r23Before(s.group)
}

// r23Before is the closed gate before a group: of several the one that opens last, and of those that open at the same time
// the first by name.
func (o *oracle) r23Before(group grouping.Key) (reason rollout.BlockReason, closed bool) {
	for _, g := range o.gates {
		if !r23Matches(g.group, group) || !o.r23Closed(g.gate) {
			continue
		}
		if !closed || r23OpensLater(g.gate, reason.Gate) {
			reason, closed = rollout.BlockReason{Type: rollout.BlockGateClosed, Group: group, Gate: g.gate}, true
		}
	}
	return reason, closed
}

func r23OpensLater(a, b rollout.Gate) bool {
	if a.Opens.Equal(b.Opens) {
		return a.Name < b.Name
	}
	return a.Opens.IsZero() || !b.Opens.IsZero() && a.Opens.After(b.Opens)
}

// R23: a gate with a name is before every group of the name, one without before the index; of one placement, if it
// says which.
func r23Matches(gate, group grouping.Key) bool {
	if gate.Placement != "" && gate.Placement != group.Placement {
		return false
	}
	if gate.Name != "" {
		return gate.Name == group.Name
	}
	return gate.Index == group.Index
}

func (o *oracle) r23Closed(g rollout.Gate) bool { return g.Opens.IsZero() || o.now.Before(g.Opens) }

// R14: MaxConcurrency of n clusters outside the mandatory groups, of which some are not selected there. Readings: a percentage is of them; one
// of clustersPerDecisionGroup is of all selected.
func (o *oracle) r14(n, elsewhere int) int {
	if o.concurrency != (intstr.IntOrString{}) {
		return r46Share(o.concurrency, n-elsewhere, n)
	}
	if size := o.r14Size(); size > 0 {
		return min(n, size)
	}
	return n
}

// r14Size is the placement's clustersPerDecisionGroup as a count; 0 where it has none, or that is unknown.
func (o *oracle) r14Size() int {
	if o.size == nil || *o.size == intstr.FromString("100%") {
		return 0
	}
	if any, _ := r16(*o.size, 100); any == 0 {
		return 0
	}
	n, _ := r16(*o.size, len(o.members)) // of the clusters that are there, also where one more is selected
	return max(n, 1)                     // G2: a group has a cluster
}

// R16: a count, or decimal digits and % from 0 to 100, rounded up.
func r16(v intstr.IntOrString, total int) (int, bool) {
	if v.Type == intstr.Int {
		return int(v.IntVal), v.IntVal >= 0
	}
	digits, isPercentage := strings.CutSuffix(v.StrVal, "%")
	if !isPercentage || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	percent, hundred := new(big.Int), big.NewInt(100)
	percent.SetString(digits, 10)
	if percent.Cmp(hundred) > 0 {
		return 0, false
	}
	n := percent.Mul(percent, big.NewInt(int64(total)))
	n.Add(n, big.NewInt(99))
	return int(n.Div(n, hundred).Int64()), true
}

// R16: MaxConcurrency must not be 0% either.
func r16Concurrency(v intstr.IntOrString) bool {
	percent, ok := r16(v, 100)
	return ok && (v.Type == intstr.Int || percent > 0)
}

// R17: None, empty, or a Go duration of hours, minutes and seconds; no sign, no number without a unit, nothing below
// a second.
func r17(s string) (*time.Duration, bool) {
	if s == "" || s == "None" {
		return nil, true
	}
	d, err := time.ParseDuration(s)
	if err != nil || strings.Trim(s, "0123456789hms") != "" || strings.Contains(s, "ms") || d < time.Second {
		return nil, false
	}
	return &d, true
}

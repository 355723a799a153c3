package rollout_test

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on who starts and why the others wait: R8 to R12, R20, R22 to R25; and on limits: R14 to R17.

// chooseWhoStarts asks for each waiting cluster whether anything but concurrency holds it, in the order of
// the reasons' precedence, and shares the slots among the rest.
func (o *oracle) chooseWhoStarts() {
	for i := range o.all {
		s := &o.all[i]
		if !waiting(s) {
			continue
		}
		for _, rule := range []func(*oracle, *subject) (rollout.Reason, bool){
			(*oracle).r22, (*oracle).r20Breached, (*oracle).r12Waits, (*oracle).r10Waits, (*oracle).r23,
		} {
			if s.reason, s.held = rule(o, s); s.held {
				break
			}
		}
	}
	switch o.kind {
	case clusterv1alpha1.Progressive:
		o.r11()
	case clusterv1alpha1.ProgressivePerGroup:
		o.r24()
	}
}

// R22: paused, nothing starts.
func (o *oracle) r22(*subject) (rollout.Reason, bool) {
	return rollout.Reason{Type: rollout.Pause}, o.paused
}

// R10, R11, R12: on a breach nothing starts.
func (o *oracle) r20Breached(*subject) (rollout.Reason, bool) {
	if o.out.Breach == nil {
		return rollout.Reason{}, false
	}
	return *o.out.Breach, true
}

// R12: nothing overtakes a mandatory group, and those go by index.
func (o *oracle) r12Waits(s *subject) (rollout.Reason, bool) {
	for _, g := range o.groups {
		if g == s.group && o.r12(g) {
			break
		}
		if o.r12(g) && !o.r6Complete(g, 0) {
			return rollout.Reason{Type: rollout.MandatoryGroupIncomplete, Group: g}, true
		}
	}
	return rollout.Reason{}, false
}

// R10: groups go by index; the mandatory ones are done with by then (R12).
func (o *oracle) r10Waits(s *subject) (rollout.Reason, bool) {
	if o.kind != clusterv1alpha1.ProgressivePerGroup || o.r12(s.group) {
		return rollout.Reason{}, false
	}
	for _, g := range o.groups {
		if g == s.group {
			break
		}
		if !o.r12(g) && !o.r6Complete(g, o.budget(g)) {
			return rollout.Reason{Type: rollout.EarlierGroupIncomplete, Group: g}, true
		}
	}
	return rollout.Reason{}, false
}

// R23: a closed gate holds its group.
func (o *oracle) r23(s *subject) (rollout.Reason, bool) {
	for _, g := range o.gates {
		if g.group == s.group && o.r23Closed(g.gate) {
			return rollout.Reason{Type: rollout.GateClosed, Group: g.group, Gate: g.gate}, true
		}
	}
	return rollout.Reason{}, false
}

func (o *oracle) r23Closed(g rollout.Gate) bool { return g.Opens.IsZero() || o.now.Before(g.Opens) }

// R11: the clusters outside the mandatory groups share MaxConcurrency.
func (o *oracle) r11() {
	outside := func(s *subject) bool { return !o.r12(s.group) }
	n := 0
	for i := range o.all {
		if outside(&o.all[i]) {
			n++
		}
	}
	o.share(outside, rollout.Reason{AllGroups: true, MaxConcurrency: o.r14(n)})
}

// R24: the clusters of each group share the option's limit.
func (o *oracle) r24() {
	if o.perGroup == nil {
		return
	}
	for _, g := range o.groups {
		limit := atMost(*o.perGroup, o.sizeOf(g))
		o.share(func(s *subject) bool { return s.group == g }, rollout.Reason{Group: g, MaxConcurrency: limit})
	}
}

// share lets the first of the clusters among have start, as many as there are slots left, and holds the
// others. R25: a failed cluster has a slot unless the option says otherwise.
func (o *oracle) share(among func(*subject) bool, reason rollout.Reason) {
	var candidates []*subject
	reason.Type = rollout.ConcurrencyUsedUp
	for i := range o.all {
		s := &o.all[i]
		if !among(s) {
			continue
		}
		switch {
		case waiting(s) && !s.held:
			candidates = append(candidates, s)
		case s.status == status.Failed && o.failedFrees:
		case o.r3(s):
			reason.InFlight++
			if s.status == status.Failed {
				reason.Failed++
				reason.ForEver = o.deadline == nil
			}
		}
	}
	slices.SortFunc(candidates, o.r8)
	reason.Starting = min(len(candidates), max(0, reason.MaxConcurrency-reason.InFlight))
	for _, s := range candidates[reason.Starting:] {
		s.held, s.reason = true, reason
	}
}

// R14: MaxConcurrency of n clusters outside the mandatory groups. Readings: a percentage is of them; one
// of clustersPerDecisionGroup is of all selected.
func (o *oracle) r14(n int) int {
	if o.concurrency != (intstr.IntOrString{}) {
		return atMost(o.concurrency, n)
	}
	if o.placement == nil {
		return n
	}
	perGroup := o.placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup
	return min(n, atMost(perGroup, len(o.all)))
}

// atMost resolves a concurrency; unset or above the total means all.
func atMost(v intstr.IntOrString, total int) int {
	if v == (intstr.IntOrString{}) {
		return total
	}
	n, _ := r16(v, total)
	return min(n, total)
}

// R15: unset means 0, above the total that all are tolerated.
func r15(v intstr.IntOrString, total int) int {
	n, _ := r16(v, total)
	return min(n, total)
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

// R17: None, empty, what the API documents or a Go duration; not negative.
func r17(s string) (*time.Duration, bool) {
	if s == "" || s == "None" {
		return nil, true
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return nil, false
	}
	return &d, true
}

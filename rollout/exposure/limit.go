// SPDX-License-Identifier: Apache-2.0

package exposure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Bounds say how far a rollout may go.
type Bounds struct {
	// Exposed is the most clusters that may be exposed, as in [Exposure].Exposed; at least 1.
	Exposed int
	// Finish is the longest that the rollout may take, as in the Longest of [Exposure].Finish. 0 is no bound.
	Finish time.Duration
}

// Limits are limits of a strategy that keep a rollout within some [Bounds].
type Limits struct {
	// MaxConcurrency is the maxConcurrency for a Progressive strategy, and the value for the option
	// [rollout.Options].MaxConcurrencyPerGroup under ProgressivePerGroup.
	MaxConcurrency intstr.IntOrString `json:"maxConcurrency"`
	// MaxFailures is the maxFailures for the strategy.
	MaxFailures intstr.IntOrString `json:"maxFailures"`
	// Exposure is what [Of] gives with these limits.
	Exposure Exposure `json:"exposure"`
}

// String is `maxConcurrency 10, maxFailures 2`.
func (l Limits) String() string {
	return fmt.Sprintf("maxConcurrency %s, maxFailures %s", l.MaxConcurrency.String(), l.MaxFailures.String())
}

// Limit finds the laxest maxConcurrency and maxFailures with which a rollout by strategy stays within bounds. A limit that
// the strategy sets stays as it is; for ProgressivePerGroup the option [rollout.Options].MaxConcurrencyPerGroup takes the place of
// maxConcurrency. Limit first finds maxConcurrency, if it is not set: the highest that the bounds allow with the
// strategy's maxFailures, or else with no failure tolerated. Then it finds maxFailures, if that is not set: the highest
// that the bounds still allow and that some number of failures exceeds in each group. To tolerate failures, set
// maxFailures, and get a lower maxConcurrency. A maxFailures of 0% counts as set, one of 0 does not.
//
// The other arguments and errors are the same as for [Of]. It is also an error (*field.Error, at bounds.exposed or
// bounds.finish) if no limits are strict enough; the error says which bound would be wide enough. And it is an error if
// the strategy is All, which has no limits.
func Limit(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, life Span, now time.Time, bounds Bounds, opts rollout.Options) (Limits, error) {
	errs := append(append(faults(strategy, &opts), life.errs()...), bounds.errs()...)
	if strategy.Type == clusterv1alpha1.All || strategy.Type == "" {
		errs = append(errs, field.NotSupported(field.NewPath("type"), clusterv1alpha1.All,
			[]clusterv1alpha1.RolloutType{clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup}))
	}
	if len(errs) > 0 {
		return Limits{}, fielderrs.Join(errs)
	}
	question := newQuestion(strategy, groups, opts)
	prospect, fault := question.find(bounds.Exposed)
	if fault != nil {
		return Limits{}, fault
	}
	found := question.limits()
	found.Exposure = prospect.exposureOver(life, now.Round(0))
	if bounds.Finish > 0 && found.Exposure.Finish.Longest > bounds.Finish {
		return Limits{}, bounds.tooLong(&found, prospect.unknowns(now.Round(0)))
	}
	return found, nil
}

// tooLong says that even with the highest limits found the rollout takes longer than the bounds allow, or that it is
// unknown how long, and why.
func (b *Bounds) tooLong(found *Limits, unknowns []string) *field.Error {
	path := field.NewPath("bounds", "finish")
	takes := found.Exposure.Finish
	if takes.Longest == unknownEnd {
		why := strings.Join(unknowns, ", and while ")
		if takes.Shortest > b.Finish {
			return field.Invalid(path, b.Finish.String(), fmt.Sprintf("must be at least %v, and it is unknown how much longer the rollout takes while %s", takes.Shortest, why))
		}
		return field.Forbidden(path, fmt.Sprintf("cannot be kept: it is unknown how long the rollout takes (%v) while %s", takes, why))
	}
	return field.Invalid(path, b.Finish.String(), fmt.Sprintf("must be at least %v: bounds.exposed permits at most %v, and with these limits the rollout takes %[1]v; raise bounds.finish or bounds.exposed", takes.Longest, found))
}

// unknowns says why the longest time of a rollout that begins at the time now is unknown.
func (p *prospect) unknowns(now time.Time) (why []string) {
	if p.groups.Incomplete() != "" {
		why = append(why, rollout.BlockReason{Type: rollout.BlockGroupsIncomplete, Missing: p.groups.Incomplete()}.String())
	}
	if p.options.Paused {
		why = append(why, rollout.BlockReason{Type: rollout.BlockPaused}.String())
	}
	closed := p.closedGates(now)
	for _, group := range slices.SortedFunc(maps.Keys(closed), func(a, b stages.Group) int {
		return cmp.Or(cmp.Compare(p.stageOf[a], p.stageOf[b]), cmp.Compare(a, b))
	}) {
		if gate := closed[group]; gate.Opens.IsZero() {
			why = append(why, rollout.BlockReason{Type: rollout.BlockGateClosed, Group: p.groups.Key(int(group)), Gate: rollout.Gate(gate)}.String())
			break // which names one
		}
	}
	var pace []string
	if p.ramp != 0 {
		pace = append(pace, "ramp")
	}
	if p.options.MaxStarts != nil {
		pace = append(pace, "maxStarts")
	}
	if p.After != nil && pace != nil {
		both := ""
		if len(pace) > 1 {
			both = " (both are set)"
		}
		why = append(why, "groups roll out in parallel with "+strings.Join(pace, " or ")+both)
	}
	if why == nil {
		why = append(why, "life.longest is too long to add up")
	}
	return why
}

func (b *Bounds) errs() (errs field.ErrorList) {
	path := field.NewPath("bounds")
	if b.Exposed < 1 {
		errs = append(errs, field.Invalid(path.Child("exposed"), b.Exposed, "must be at least 1"))
	}
	if b.Finish < 0 {
		errs = append(errs, field.Invalid(path.Child("finish"), b.Finish.String(), "must not be negative"))
	}
	return errs
}

// question is a strategy with limits that may be open.
type question struct {
	strategy clusterv1alpha1.RolloutStrategy
	groups   *grouping.Groups
	options  rollout.Options
	// The limits in the two.
	concurrency, failures *intstr.IntOrString
}

func newQuestion(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts rollout.Options) *question {
	question := &question{strategy: *strategy.DeepCopy(), groups: groups, options: opts}
	if strategy.Type == clusterv1alpha1.Progressive {
		progressive := cmp.Or(question.strategy.Progressive, &clusterv1alpha1.RolloutProgressive{})
		question.strategy.Progressive, question.concurrency, question.failures = progressive, &progressive.MaxConcurrency, &progressive.MaxFailures
	} else {
		perGroup := cmp.Or(question.strategy.ProgressivePerGroup, &clusterv1alpha1.RolloutProgressivePerGroup{})
		question.strategy.ProgressivePerGroup, question.concurrency, question.failures = perGroup, &question.options.MaxConcurrencyPerGroup, &perGroup.MaxFailures
	}
	return question
}

// set sets a limit.
func set(to *intstr.IntOrString, n int) { *to = intstr.FromInt32(int32(n)) }

// prospect gives the prospect with the limits as they are now, which are valid.
func (q *question) prospect() *prospect {
	prospect, _ := newProspect(q.strategy, q.groups, &q.options)
	return prospect
}

// unlimited names the first group of a stage, and says where maxConcurrency does not hold there.
func (p *prospect) unlimited(stage int) string {
	group := p.Stages[stage].Groups[0].String()
	if p.Type == clusterv1alpha1.Progressive && p.Stages[stage].Mandatory {
		return "mandatory " + group + ", which maxConcurrency does not limit"
	}
	return group
}

// limits gives the limits as they are now.
func (q *question) limits() Limits {
	return Limits{MaxConcurrency: *q.concurrency, MaxFailures: *q.failures}
}

// find sets the open limits to the highest with which at most a number of clusters are exposed (R42). It finds both by
// binary search, since higher limits never expose fewer clusters.
func (q *question) find(exposed int) (*prospect, *field.Error) {
	free := *q.failures == intstr.IntOrString{}
	if *q.concurrency == (intstr.IntOrString{}) {
		n := max(q.groups.NumClusters(), 1)
		set(q.concurrency, 1+sort.Search(n-1, func(i int) bool {
			set(q.concurrency, i+2)
			return q.prospect().reach().exposed > exposed
		}))
	}
	prospect := q.prospect()
	if least := prospect.reach().exposed; least > exposed {
		most, in := 0, 0
		for i := range prospect.Stages {
			if n := prospect.mostExposed(i); n > most {
				most, in = n, i
			}
		}
		share := "all"
		if most < least {
			share = strconv.Itoa(most)
		}
		return nil, field.Invalid(field.NewPath("bounds", "exposed"), exposed, fmt.Sprintf("must be at least %d: even with %v, a bad version can reach %[1]d clusters, %[3]s of them in %[4]s",
			least, q.limits(), share, prospect.unlimited(in)))
	}
	if free {
		set(q.failures, sort.Search(q.groups.NumClusters(), func(i int) bool {
			set(q.failures, i+1)
			prospect := q.prospect()
			return prospect.reach().exposed > exposed || !prospect.isProtected()
		}))
		prospect = q.prospect()
	}
	return prospect, nil
}

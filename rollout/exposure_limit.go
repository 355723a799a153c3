package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/internal/limit"
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
	// [MaxConcurrencyPerGroup] under ProgressivePerGroup.
	MaxConcurrency intstr.IntOrString `json:"maxConcurrency"`
	// MaxFailures is the maxFailures for the strategy.
	MaxFailures intstr.IntOrString `json:"maxFailures"`
	// Exposure is what [Expose] gives with these limits.
	Exposure Exposure `json:"exposure"`
}

// String is `maxConcurrency 10, maxFailures 2`.
func (l Limits) String() string {
	return fmt.Sprintf("maxConcurrency %s, maxFailures %s", l.MaxConcurrency.String(), l.MaxFailures.String())
}

// Limit finds the laxest maxConcurrency and maxFailures with which a rollout by strategy stays within bounds. A limit that
// the strategy sets stays as it is; for ProgressivePerGroup the option [MaxConcurrencyPerGroup] takes the place of
// maxConcurrency. Limit first finds maxConcurrency, if it is not set: the highest that the bounds allow with the
// strategy's maxFailures, or else with no failure tolerated. Then it finds maxFailures, if that is not set: the highest
// that the bounds still allow and that some number of failures exceeds in each group. So to tolerate failures, set
// maxFailures, and get a lower maxConcurrency. A maxFailures of 0% counts as set, one of 0 does not.
//
// The other arguments and errors are the same as for [Expose]. It is also an error (*field.Error, at bounds.exposed or
// bounds.finish) if no limits are strict enough; the error says which bound would be wide enough. And it is an error if
// the strategy is All, which has no limits.
func Limit(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, life Span, now time.Time, bounds Bounds, opts ...Option) (Limits, error) {
	rules, o, errs := compile(strategy, opts)
	errs = append(append(errs, life.errs()...), bounds.errs()...)
	if rules.typ == clusterv1alpha1.All {
		errs = append(errs, field.NotSupported(field.NewPath("type"), rules.typ,
			[]clusterv1alpha1.RolloutType{clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup}))
	}
	if len(errs) > 0 {
		return Limits{}, fielderrs.Join(errs)
	}
	q := question{rules: rules, options: o, groups: groups}
	s, fault := q.find(bounds.Exposed)
	if fault != nil {
		return Limits{}, fault
	}
	found := q.limits()
	found.Exposure = s.expose(life, now.Round(0))
	if bounds.Finish > 0 && found.Exposure.Finish.Longest > bounds.Finish {
		return Limits{}, bounds.tooLong(&found, s.unknowns(now.Round(0)))
	}
	return found, nil
}

// tooLong says that even with the highest limits found the rollout takes longer than the bounds allow, or that it is
// unknown how long, and why.
func (b *Bounds) tooLong(found *Limits, unknowns []string) *field.Error {
	path := field.NewPath("bounds", "finish")
	takes := found.Exposure.Finish
	if takes.Longest == unknownEnd {
		return field.Invalid(path, b.Finish.String(), fmt.Sprintf("must be 0: nobody knows how long it takes (%v), since %s", takes, strings.Join(unknowns, ", and ")))
	}
	return field.Invalid(path, b.Finish.String(), fmt.Sprintf("must be at least %v: it takes that long with %v, the highest limits that hold", takes.Longest, found))
}

// unknowns says why the longest time of a rollout that begins at the time now is unknown.
func (s *prospect) unknowns(now time.Time) (why []string) {
	if s.missing != "" {
		why = append(why, Hold{Type: HoldGroupsIncomplete, Missing: s.missing}.String())
	}
	if s.options.paused {
		why = append(why, Hold{Type: HoldPaused}.String())
	}
	closed := s.closedGates(now)
	for _, group := range slices.SortedFunc(maps.Keys(closed), func(a, b int) int {
		return cmp.Or(cmp.Compare(s.stageOf[a], s.stageOf[b]), cmp.Compare(a, b))
	}) {
		if gate := closed[group]; gate.Opens.IsZero() {
			why = append(why, Hold{Type: HoldGateClosed, Group: s.groups.Key(group), Gate: gate}.String())
			break // which names one
		}
	}
	var pace []string
	if s.options.ramp != 0 {
		pace = append(pace, "ramp")
	}
	if s.options.starts != nil {
		pace = append(pace, "maxStarts")
	}
	if s.After != nil && pace != nil {
		why = append(why, fmt.Sprintf("groups go side by side with %s", strings.Join(pace, " and ")))
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
	rules   rules
	options options
	groups  *grouping.Groups
}

// concurrency gives the limit on the clusters in flight, nil where the strategy leaves it open.
func (q *question) concurrency() *limit.Limit {
	if q.rules.typ == clusterv1alpha1.Progressive {
		return q.rules.maxConcurrency
	}
	return q.options.groupConcurrency
}

func (q *question) setConcurrency(n int) {
	count := limit.Count(n)
	if q.rules.typ == clusterv1alpha1.Progressive {
		q.rules.maxConcurrency = &count
	} else {
		q.options.groupConcurrency = &count
	}
}

// prospect gives the prospect with the limits as they are now.
func (q *question) prospect() *prospect { return newProspect(q.rules, q.options, q.groups) }

// limits gives the limits as they are now.
func (q *question) limits() Limits {
	return Limits{MaxConcurrency: q.concurrency().IntOrString(), MaxFailures: q.rules.maxFailures.IntOrString()}
}

// find sets the open limits to the highest with which at most so many clusters are exposed (R42). It finds both by
// binary search, since higher limits never expose fewer clusters.
func (q *question) find(exposed int) (*prospect, *field.Error) {
	free := q.rules.maxFailures == limit.Limit{}
	if q.concurrency() == nil {
		n := max(q.groups.NumClusters(), 1)
		q.setConcurrency(1 + sort.Search(n-1, func(i int) bool {
			q.setConcurrency(i + 2)
			return q.prospect().reach().exposed > exposed
		}))
	}
	s := q.prospect()
	if least := s.reach().exposed; least > exposed {
		most, in := 0, 0
		for i := range s.Stages {
			if n := s.mostExposed(i); n > most {
				most, in = n, i
			}
		}
		return nil, field.Invalid(field.NewPath("bounds", "exposed"), exposed, fmt.Sprintf("must be at least %d, which are exposed with %v, up to %d of them in %v",
			least, q.limits(), most, s.Stages[in].Groups[0]))
	}
	if free {
		q.rules.maxFailures = limit.Count(sort.Search(q.groups.NumClusters(), func(i int) bool {
			q.rules.maxFailures = limit.Count(i + 1)
			s := q.prospect()
			return s.reach().exposed > exposed || !s.isProtected()
		}))
		s = q.prospect()
	}
	return s, nil
}

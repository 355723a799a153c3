package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/limit"
)

// Option adds to what the API's RolloutStrategy can say. Options can be combined in any order. Where two of a kind are
// given, the later one counts, its error included. A nil Option adds nothing.
type Option func(*options)

// options holds what the options said. It is zero where the caller gave none.
type options struct {
	paused           bool
	groupConcurrency *limit.Limit // nil: all
	groupErr         *field.Error
	maxRemoved       *limit.Limit // nil: all
	removedErr       *field.Error
	grace            time.Duration
	graceErr         *field.Error
	unselected       map[string]time.Time // in the previous result
	order            func(a, b string) int
	gates            map[grouping.Key]closedGate // by gateKey
	freeFailed       bool
	uncounted        func(cluster string) bool
	failedBefore     func(cluster string) bool
	groupOrder       *groupOrder // nil: by index
	groupOrderErr    *field.Error
	ramp             int // 0: none
	rampErr          *field.Error
	starts           *startLimit // nil: none
	startsErr        *field.Error
	wait             time.Duration // 0: none
	waitErr          *field.Error
	back             *wayBack // nil: the rollout goes on
	attempt          int      // the wanted attempt
	attemptErr       *field.Error
}

// errs gives the errors of the options that count.
func (o *options) errs() (errs field.ErrorList) {
	for _, err := range []*field.Error{o.groupErr, o.groupOrderErr, o.rampErr, o.startsErr, o.waitErr, o.removedErr, o.graceErr, o.attemptErr} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// isOrdered says whether clusters start in another order than by name.
func (o *options) isOrdered() bool { return o.order != nil || o.back != nil }

// Paused starts nothing; all else is as before.
func Paused() Option {
	return func(o *options) { o.paused = true }
}

// Order sets the order in which waiting clusters start. Compare compares two names, and is negative where a comes
// first; where it is 0, the names decide. Clusters that are reported ToApply still come before those never reported. A
// [Planner] calls compare when its groups or strategy change. So the answer must depend on the names alone, and compare
// must not call the Planner.
func Order(compare func(a, b string) int) Option {
	return func(o *options) { o.order = compare }
}

// MaxConcurrencyPerGroup bounds how many clusters of a group may be in flight or started at a time under
// ProgressivePerGroup, as a count or a percentage of the group. It holds in mandatory groups, too. The count 0 sets no
// bound, since the API holds a limit that is unset as 0; 0% is an error. The other types ignore the option, and the result
// warns of that.
func MaxConcurrencyPerGroup(n intstr.IntOrString) Option {
	perGroup, err := limit.ParseConcurrency(field.NewPath("maxConcurrencyPerGroup"), n)
	return func(o *options) { o.groupConcurrency, o.groupErr = perGroup, err }
}

// FailedFreesSlot gives the concurrency slot of a tolerated Failed cluster to the next cluster at once. Without this
// option the failed cluster holds its slot until its progress deadline, which runs from the failure, and for ever if there
// is none.
func FailedFreesSlot() Option {
	return func(o *options) { o.freeFailed = true }
}

// MaxRemoved bounds how many clusters may be removed at once, as a count or as a percentage of the clusters with a
// report, rounded up. Where more would be removed, none is, and the result warns. So a mistyped selector does not
// undeploy a fleet.
func MaxRemoved(n intstr.IntOrString) Option {
	most, err := limit.Parse(field.NewPath("maxRemoved"), n)
	return func(o *options) { o.maxRemoved, o.removedErr = &most, err }
}

// checkOptions warns of the options that have no effect under the strategy's type, in the order of their names (R18).
func (s *schedule) checkOptions() {
	perGroup := s.Type == clusterv1alpha1.ProgressivePerGroup
	for _, option := range []struct {
		name    string
		ignored bool
	}{
		{"groupOrder", s.options.groupOrder != nil && !perGroup},
		{"maxConcurrencyPerGroup", s.options.groupConcurrency != nil && !perGroup},
		{"waitBetweenGroups", s.options.wait > 0 && s.wait == 0},
	} {
		if option.ignored {
			s.warn(Warning{Type: WarningFieldIgnored, Field: option.name})
		}
	}
}

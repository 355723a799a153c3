package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/limit"
)

// Option adds to what the API's RolloutStrategy can say. Options combine in any order; of two of a kind
// the later counts. A nil Option adds nothing.
type Option func(*options)

// options is the zero value where the caller gave none.
type options struct {
	paused             bool
	defaultConcurrency *limit.Limit
	groupConcurrency   *limit.Limit
	order              func(a, b string) int
	gates              map[grouping.Key]Gate
	freeFailed         bool
	errs               field.ErrorList
}

// DefaultMaxConcurrency makes clustersPerDecisionGroup of the placement the concurrency of a Progressive
// strategy that has none, as the API documents (R14); a percentage is one of all selected clusters.
// Without this option, or where the placement has none either, all clusters are started at once.
func DefaultMaxConcurrency(placement *clusterv1beta1.Placement) Option {
	if placement == nil {
		return func(o *options) {
			o.errs = append(o.errs, field.Required(field.NewPath("placement"), "must not be nil"))
		}
	}
	// Read at once: a Planner applies its options anew with each change of the groups.
	path := field.NewPath("placement", "spec", "decisionStrategy", "groupStrategy", "clustersPerDecisionGroup")
	size, err := parseConcurrency(path, placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup)
	return func(o *options) {
		if err != nil {
			o.errs = append(o.errs, err)
		}
		o.defaultConcurrency = size
	}
}

// Paused starts nothing; all else is as before (R22).
func Paused() Option {
	return func(o *options) { o.paused = true }
}

// Gate holds a group back until someone opens it: an approval, a maintenance window.
type Gate struct {
	// Name is what the reason of a held cluster calls it.
	Name string `json:"name,omitempty"`
	// Opens is when it opens by itself; zero where nobody knows.
	Opens time.Time `json:"opens,omitzero"`
}

// Closed closes a gate before a group (R23): its waiting clusters are held, and under ProgressivePerGroup
// the later groups with them. The gate is open from gate.Opens on. A group has one gate; a gate before a group
// that does not exist holds nothing, of which the result warns.
func Closed(group grouping.Key, gate Gate) Option {
	return func(o *options) {
		if o.gates == nil {
			o.gates = make(map[grouping.Key]Gate)
		}
		o.gates[group] = gate
	}
}

// Order is the order in which waiting clusters start, given as a comparison of two names that is negative
// where a comes first (R8). Clusters that are reported ToApply still come before those never reported, and
// names decide where the comparison is 0. A [Planner] compares when its groups or strategy change, so the
// answer must depend on the names alone, and compare must not call the Planner.
func Order(compare func(a, b string) int) Option {
	return func(o *options) { o.order = compare }
}

// MaxConcurrencyPerGroup is how many clusters of a group may be in flight or started at a time under
// ProgressivePerGroup, as a count or a percentage of the group, mandatory groups included (R24). The
// other types ignore it.
func MaxConcurrencyPerGroup(n intstr.IntOrString) Option {
	return func(o *options) {
		perGroup, err := parseConcurrency(field.NewPath("maxConcurrencyPerGroup"), n)
		if err != nil {
			o.errs = append(o.errs, err)
		}
		o.groupConcurrency = perGroup
	}
}

// FailedFreesSlot gives the concurrency slot of a tolerated Failed cluster to the next at once (R25).
// Without it the cluster holds its slot until its progress deadline, and without a deadline for ever.
func FailedFreesSlot() Option {
	return func(o *options) { o.freeFailed = true }
}

// gate is the gate that is closed before a group at the time now, if any.
func (o *options) gate(group grouping.Key, now time.Time) (Gate, bool) {
	g, ok := o.gates[group]
	if ok && !g.Opens.IsZero() && !now.Before(g.Opens) {
		return Gate{}, false
	}
	return g, ok
}

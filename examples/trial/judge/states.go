// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// An object of a recording is read into one of the states below, which hold what is judged and nothing else. A nil state is an
// object that isn't there.

// placementState is a Placement: what its status says of its decisions.
type placementState struct {
	size     int // clusters per group, 0 for no limit
	selected int
	groups   []groupStatus
	foreign  bool // scheduling is disabled: another controller writes the decisions, and none the status
}

type groupStatus struct {
	groupKey
	count     int
	decisions []string // names
}

// groupKey is what the labels of a PlacementDecision, or a Placement's status, say of a group.
type groupKey struct {
	index int
	name  string
}

func (k groupKey) String() string {
	if k.name == "" {
		return strconv.Itoa(k.index)
	}
	return strconv.Itoa(k.index) + " " + k.name
}

// decisionState is a PlacementDecision.
type decisionState struct {
	placement string // namespace/name
	groupKey
	clusters []string
	deleting bool
}

// ownerState is what is rolled out: a ManifestWorkReplicaSet, a ClusterManagementAddOn or a root policy.
type ownerState struct {
	spec     *ownerSpec
	deleting bool
	silent   bool // its status has no condition
	claims   []claim

	annotations map[string]string
}

// ignoredClusters are the clusters that a person named in an annotation, with commas between them.
func (s *ownerState) ignoredClusters(annotation string) map[string]bool {
	if s == nil || annotation == "" || s.annotations[annotation] == "" {
		return nil
	}
	all := map[string]bool{}
	for name := range strings.SplitSeq(s.annotations[annotation], ",") {
		all[strings.TrimSpace(name)] = true
	}
	return all
}

// wantsAnother says whether a state wants a version that the one before did not.
func (s *ownerState) wantsAnother(before *ownerState) bool {
	return s == nil || before == nil || slices.ContainsFunc(s.spec.refs, func(r ref) bool {
		return !slices.ContainsFunc(before.spec.refs, func(b ref) bool { return b.version == r.version })
	})
}

// ownerSpec is what an owner wants. States of the same generation share one.
type ownerSpec struct {
	refs  []ref
	fault string // why it cannot be judged
}

// A ref is one of the placements that an owner names, with what it wants there.
type ref struct {
	placement string // namespace/name
	version   string
	raw       clusterv1alpha1.RolloutStrategy
	strategy
}

// strategy is a RolloutStrategy as it is judged.
type strategy struct {
	all       bool
	perGroup  bool
	mandatory []clusterv1alpha1.MandatoryDecisionGroup
	limit     *intstr.IntOrString // MaxConcurrency, of Progressive
	failures  intstr.IntOrString
	soak      int64 // nanoseconds
	deadline  int64 // 0 for none
	patient   bool  // a policy: a cluster that does not comply is in flight until the deadline
}

// answer is what an object says of the version that it has.
type answer uint8

const (
	silent answer = iota
	underWay
	does
	fails
)

// holderState is an object that carries a version to a cluster: a ManifestWork, a ManagedClusterAddOn or a replicated policy.
type holderState struct {
	owner    string // kind and namespace/name
	cluster  string
	version  string
	answer   answer
	since    int64 // when the condition changed that the answer stands in, as the agent says; 0 for none
	latest   int64 // where it is dated: when a template last said so; others may have said what they say long before
	deleting bool
	inform   bool // a policy that acts on nothing yet
	dated    bool // a policy: only the time of its answer tells which version it is about

	// When it got the version: at this time, or where a hole is before it, not before the other.
	applied, earliest int64
}

// carries names what an object brings to its cluster.
func (h *holderState) carries() string {
	if h.inform {
		return h.version + " to inform"
	}
	return h.version
}

func readStrategy(raw clusterv1alpha1.RolloutStrategy) (s strategy, fault string) {
	var config clusterv1alpha1.RolloutConfig
	switch raw.Type {
	case clusterv1alpha1.All, "":
		s.all = true
		return s, ""
	case clusterv1alpha1.Progressive:
		p := raw.Progressive
		if p == nil {
			p = &clusterv1alpha1.RolloutProgressive{}
		}
		config, s.mandatory, s.limit = p.RolloutConfig, p.MandatoryDecisionGroups.MandatoryDecisionGroups, &p.MaxConcurrency
		if fault := countable("maxConcurrency", *s.limit); fault != "" {
			return s, fault
		}
	case clusterv1alpha1.ProgressivePerGroup:
		p := raw.ProgressivePerGroup
		if p == nil {
			p = &clusterv1alpha1.RolloutProgressivePerGroup{}
		}
		config, s.mandatory, s.perGroup = p.RolloutConfig, p.MandatoryDecisionGroups.MandatoryDecisionGroups, true
	default:
		return s, "its strategy has the type " + strconv.Quote(string(raw.Type)) + ", expected All, Progressive or ProgressivePerGroup"
	}
	s.failures, s.soak = config.MaxFailures, int64(config.MinSuccessTime.Duration)
	if fault := countable("maxFailures", s.failures); fault != "" {
		return s, fault
	}
	if d := config.ProgressDeadline; d != "" && !strings.EqualFold(d, "None") {
		deadline, err := time.ParseDuration(d)
		if err != nil || deadline < 0 {
			return s, "its progressDeadline is " + strconv.Quote(d) + ", expected a duration or None"
		}
		s.deadline = int64(deadline)
	}
	return s, ""
}

func countable(field string, n intstr.IntOrString) (fault string) {
	if n.Type == intstr.Int {
		if n.IntVal < 0 {
			return "its " + field + " is " + n.String() + ", and must not be negative"
		}
		return ""
	}
	text, is := strings.CutSuffix(n.StrVal, "%")
	if percent, err := strconv.Atoi(text); !is || err != nil || percent < 0 {
		return "its " + field + " is " + strconv.Quote(n.StrVal) + ", expected a count or a percentage"
	}
	return ""
}

// span is what an object was one after the other. Only so much of the past is kept as views need.
type span[T any] struct{ states []stamped[T] }

type stamped[T any] struct {
	from  int64
	state *T
}

// now is the present state, nil if it isn't there.
func (s *span[T]) now() *T {
	if len(s.states) == 0 {
		return nil
	}
	return s.states[len(s.states)-1].state
}

// put adds a state, and forgets those that were over before a time.
func (s *span[T]) put(at int64, state *T, keep int64) {
	if n := s.first(keep); n > 0 {
		s.states = append(s.states[:0], s.states[n:]...)
	}
	s.states = append(s.states, stamped[T]{at, state})
}

// first is the index of the state that was there at a time, or -1 if it begins later.
func (s *span[T]) first(from int64) int {
	n := len(s.states) - 1
	for n >= 0 && s.states[n].from > from {
		n--
	}
	return n
}

// since gives the states from a time on, the newest first. What began later was nil before.
func (s *span[T]) since(from int64, each func(*T) (more bool)) {
	n := s.first(from)
	for i := len(s.states) - 1; i >= max(n, 0); i-- {
		if !each(s.states[i].state) {
			return
		}
	}
	if n < 0 {
		each(nil)
	}
}

// settled says whether there is but one state from a time on.
func (s *span[T]) settled(from int64) bool { return s.first(from) == len(s.states)-1 }

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/trial/internal/limits"
)

// Invariant is what a rollout must never break.
type Invariant string

const (
	invComplete    Invariant = "nothing starts while the decisions are partially observed"
	invSelected    Invariant = "nothing starts on a cluster that isn't selected"
	invMandatory   Invariant = "mandatory groups are never overtaken"
	invOrder       Invariant = "no group starts before those in front of it are complete"
	invConcurrency Invariant = "no more clusters are in flight than MaxConcurrency"
	invBudget      Invariant = "nothing starts past a breach"
	invSoak        Invariant = "no success counts before it has soaked"
	invDeadline    Invariant = "no cluster times out before its deadline"
	invPayload     Invariant = "a work carries what the user wrote into the set"
	invVersion     Invariant = "no version is written that is known to be replaced"
	invKept        Invariant = "nothing is deleted while it is selected"
	invOnce        Invariant = "no cluster has two works"
	invLeft        Invariant = "no cluster is left behind"
	invLate        Invariant = "no cluster waits for nothing"
	invStatus      Invariant = "the status says how it stands"
	invStuck       Invariant = "a rollout that stands still says which clusters it waits for"

	// Of clusters that are cut off, and leave.
	invExposed Invariant = "no more clusters have a version that is not done than the strategy exposes"
	invLeavers Invariant = "a deselected cluster with the version counts as before"
	invDone    Invariant = "nothing is called complete while a cluster that has the version is not done"
	invRemoved Invariant = "a deselected cluster loses its work promptly"

	// Of a version that is taken back.
	invStored    Invariant = "what is written stands in the status first"
	invTakenBack Invariant = "no cluster gets a version that is taken back"
	invMending   Invariant = "nothing new begins while clusters wait to go back"
	invBackOrder Invariant = "groups go back in the reverse order"
	invUntouched Invariant = "what has its version is not written again" // nor where clusters have versions of their own
	invAborted   Invariant = "the aborted time stays what it was"
	invWentBack  Invariant = "no cluster is left with a version that was taken back"

	// Of people in the loop.
	invFrozen  Invariant = "no frozen cluster starts"
	invAllowed Invariant = "no cluster starts that is not allowed"
	invVerdict Invariant = "no verdict counts that was not given"
	invValue   Invariant = "each cluster has the value that is its own"
)

// A violation is an invariant that was broken, where, and what was seen.
type violation struct {
	invariant         Invariant
	rv                int64
	text              string
	inFlight, allowed int // of MaxConcurrency
}

func (v violation) String() string { return fmt.Sprintf("%s: at %d %s", v.invariant, v.rv, v.text) }

// grace is for the times of conditions and stamps, which have whole seconds.
const grace = 1500 * time.Millisecond

// standing is where a cluster stands with a version of the workload.
type standing int

const (
	waiting standing = iota
	inFlight
	soaking
	succeeded
	failed // or timed out
)

// leniency is how a standing is read where times decide. In any case it is read in favour of a start; with noSoak a
// soak is over at once, with noDeadline a deadline after a third of it. What is forbidden without and allowed with one
// of them was forbidden by a time alone. With noLeft clusters that left do not count, nor do works that are being deleted.
// Everywhere reads it in favour of the waiting cluster, where a controller may not know what the history tells: a deselected cluster counts
// before all stages, and is not done where a user edited its policy.
// FromAnswer, and everywhere, has a soak run from when the agent answered the version first, where the time of the condition is older; while the
// API server or the process is absent, from when it is back and sees the answer.
type leniency struct {
	noSoak, noDeadline, noLeft, everywhere, fromAnswer bool

	absent []span
}

// noticed says when a process sees at the earliest what happened at a time.
func (l leniency) noticed(at time.Time) time.Time {
	for _, s := range l.absent {
		if !at.Before(s.from) && at.Before(s.to) {
			return s.to
		}
	}
	return at
}

// stands returns where a cluster stands, whether it failed beyond doubt, and whether it holds a slot beyond doubt.
func (s *scene) stands(cluster, version string, config clusterv1alpha1.RolloutConfig, now time.Time, l leniency) (at standing, surelyFailed, holds bool) {
	at = waiting
	if s.ignoredClusters[cluster] || s.deleted[cluster] && !l.everywhere {
		return succeeded, false, false // it blocks none and is in no count
	}
	for _, w := range s.works[cluster] {
		terminates := w.DeletionTimestamp != nil
		if w.version != version || terminates && (!s.counts || l.noLeft) {
			continue
		}
		a, f, h := stands(w, config, now, l)
		if terminates && a == succeeded {
			continue // it waits, if it is selected
		}
		// Of several works the one that holds back most counts.
		if at == waiting || order(a) > order(at) {
			at = a
		}
		surelyFailed, holds = surelyFailed || f, holds || h
	}
	if gone := s.failed[cluster]; (gone.version == version || l.everywhere && sameTemplate(gone.version, version)) && !l.noLeft && (at == waiting && gone.surely || l.everywhere) {
		deadline, _ := time.ParseDuration(config.ProgressDeadline)
		return failed, true, deadline <= 0 || l.everywhere && now.Before(gone.from.Add(deadline+grace)) // else it would be over in time
	}
	return at, surelyFailed, holds
}

func order(s standing) int {
	return slices.Index([]standing{waiting, succeeded, soaking, inFlight, failed}, s)
}

func stands(w seenWork, config clusterv1alpha1.RolloutConfig, now time.Time, l leniency) (_ standing, surelyFailed, holds bool) {
	since := func(c *metav1.Condition) time.Time {
		if c != nil && c.LastTransitionTime.After(w.applied) {
			return c.LastTransitionTime.Time
		}
		return w.applied
	}
	deadline, _ := time.ParseDuration(config.ProgressDeadline)
	timedOut := func(from time.Time, g time.Duration) bool {
		return deadline > 0 && !now.Add(g).Before(from.Add(deadline))
	}
	goesOn := func(from time.Time, isFailed bool) (standing, bool, bool) {
		if timedOut(from, grace) || l.noDeadline && timedOut(from, deadline*2/3) {
			return failed, isFailed || timedOut(from, -grace), false
		}
		if isFailed {
			return failed, true, true
		}
		return inFlight, false, true
	}
	at := func(c *metav1.Condition, isFailed bool) (standing, bool, bool) { return goesOn(since(c), isFailed) }

	current := func(conditionType string) (*metav1.Condition, bool) {
		c := meta.FindStatusCondition(w.Status.Conditions, conditionType)
		return c, c != nil && (c.ObservedGeneration == w.Generation || w.DeletionTimestamp != nil && c.ObservedGeneration == w.Generation-1) // to delete it adds 1
	}
	applied, has := current(workv1.WorkApplied)
	progressing, told := current(workv1.WorkProgressing)
	degraded, toldDegraded := current(workv1.WorkDegraded)
	switch {
	case !has || applied.Status != metav1.ConditionTrue || !told || degraded != nil && !toldDegraded:
		return at(nil, false)
	case progressing.Status == metav1.ConditionFalse:
		from := since(progressing)
		if l.fromAnswer || l.everywhere {
			from = later(from, l.noticed(w.answered))
		}
		if w.said != nil {
			if from = later(from, w.said.At); !w.said.Yes {
				return goesOn(from, w.said.No) // it is validated, or was found bad
			}
		}
		if soak := config.MinSuccessTime.Duration; soak > 0 && now.Add(grace).Before(from.Add(soak)) && !l.noSoak {
			return soaking, false, true
		}
		return succeeded, false, false
	case progressing.Status == metav1.ConditionTrue && degraded != nil && degraded.Status == metav1.ConditionTrue:
		return at(degraded, true)
	default:
		return at(progressing, false)
	}
}

// parts returns, for reading and for changing, the configuration of a strategy, whether it is for each group, its
// mandatory groups and, of Progressive, MaxConcurrency.
func parts(s *clusterv1alpha1.RolloutStrategy) (config *clusterv1alpha1.RolloutConfig, perGroup bool, mandatory *[]clusterv1alpha1.MandatoryDecisionGroup, limit *intstr.IntOrString) {
	switch s.Type {
	case clusterv1alpha1.Progressive:
		p := cmp.Or(s.Progressive, &clusterv1alpha1.RolloutProgressive{})
		return &p.RolloutConfig, false, &p.MandatoryDecisionGroups.MandatoryDecisionGroups, &p.MaxConcurrency
	case clusterv1alpha1.ProgressivePerGroup:
		p := cmp.Or(s.ProgressivePerGroup, &clusterv1alpha1.RolloutProgressivePerGroup{})
		return &p.RolloutConfig, true, &p.MandatoryDecisionGroups.MandatoryDecisionGroups, nil
	default:
		return &cmp.Or(s.All, &clusterv1alpha1.RolloutAll{}).RolloutConfig, false, new([]clusterv1alpha1.MandatoryDecisionGroup), nil
	}
}

// stages returns the stages as lists of groups, and how many of them are mandatory.
func (s *seenRef) stages(perGroup bool, mandatory []clusterv1alpha1.MandatoryDecisionGroup) (stages [][]seenGroup, first int) {
	return limits.Divide(s.groups, perGroup, func(g seenGroup) bool { return limits.IsMandatory(mandatory, g.index, g.name) })
}

func members(stage []seenGroup) []string {
	var all []string
	for _, g := range stage {
		all = append(all, g.clusters...)
	}
	return all
}

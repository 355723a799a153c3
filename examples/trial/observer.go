package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// Invariant is what a rollout must never break.
type Invariant string

const (
	invComplete    Invariant = "nothing starts while the decisions are half written"
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
	invLeft        Invariant = "nobody is left behind"
	invLate        Invariant = "nobody waits for nothing"
	invStatus      Invariant = "the status says how it stands"
	invStuck       Invariant = "a rollout that stands still says whom it waits for"

	// Of clusters that are cut off, and leave.
	invExposed Invariant = "no more clusters have a version that is not done than the strategy exposes"
	invLeavers Invariant = "who left with the version counts as before"
	invDone    Invariant = "nothing is called complete while a cluster that has the version is not done"
	invRemoved Invariant = "who left loses its work promptly"

	// Of a version that is taken back.
	invStored    Invariant = "what is written stands in the status first"
	invTakenBack Invariant = "nobody gets a version that is taken back"
	invMending   Invariant = "nothing new begins while clusters wait to go back"
	invBackOrder Invariant = "groups go back in the reverse order"
	invUntouched Invariant = "what has its version is not written again" // nor where clusters have versions of their own
	invAborted   Invariant = "the aborted time stays what it was"
	invWentBack  Invariant = "nobody is left with a version that was taken back"

	// Of people in the loop.
	invHeld     Invariant = "nobody starts who is held"
	invReviewed Invariant = "nobody starts who was not reviewed"
	invVerdict  Invariant = "no verdict counts that nobody gave"
	invValue    Invariant = "each cluster has the value that is its own"
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
// Everywhere reads it in favour of who waits, where a controller may not know what the history tells: who left counts
// before all stages.
// FromAnswer has a soak run from when the agent answered the version first, where the time of the condition is older.
type leniency struct{ noSoak, noDeadline, noLeft, everywhere, fromAnswer bool }

// stands returns where a cluster stands, whether it failed beyond doubt, and whether it holds a slot beyond doubt.
func (s *scene) stands(cluster, version string, config clusterv1alpha1.RolloutConfig, now time.Time, l leniency) (at standing, surelyFailed, holds bool) {
	at = waiting
	if s.givenUp[cluster] || s.deleted[cluster] && !l.everywhere {
		return succeeded, false, false // it blocks nobody and is in no count
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
		if l.fromAnswer && w.answered.After(from) {
			from = w.answered
		}
		if w.said != nil {
			if from = later(from, w.said.At); !w.said.Yes {
				return goesOn(from, w.said.No) // it is validated, or was found bad
			}
		}
		if now.Add(grace).Before(from.Add(config.MinSuccessTime.Duration)) && !l.noSoak {
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
	var rest []seenGroup
	for _, g := range s.groups {
		if slices.ContainsFunc(mandatory, func(m clusterv1alpha1.MandatoryDecisionGroup) bool {
			return m.GroupName != "" && m.GroupName == g.name || m.GroupName == "" && int(m.GroupIndex) == g.index
		}) {
			stages = append(stages, []seenGroup{g})
		} else {
			rest = append(rest, g)
		}
	}
	first = len(stages)
	if !perGroup {
		return append(stages, rest), first
	}
	for _, g := range rest {
		stages = append(stages, []seenGroup{g})
	}
	return stages, first
}

func members(stage []seenGroup) []string {
	var all []string
	for _, g := range stage {
		all = append(all, g.clusters...)
	}
	return all
}

// count resolves a count or a percentage of a total, rounded up.
func count(n intstr.IntOrString, total int) int {
	if n.Type == intstr.Int {
		return n.IntValue()
	}
	var percent int
	fmt.Sscanf(n.StrVal, "%d%%", &percent)
	return (total*percent + 99) / 100
}

// forbids says which invariants a start of a version on a cluster would break in this scene, and why.
func (s *scene) forbids(cluster, version string, now time.Time, l leniency) []violation {
	var broken []violation
	breaks := func(i Invariant, format string, args ...any) {
		broken = append(broken, violation{invariant: i, text: fmt.Sprintf(format, args...)})
	}
	if s.set == nil {
		breaks(invSelected, "there is no replica set")
		return broken
	}
	ref, incomplete := s.refOf(cluster)
	if incomplete != "" {
		breaks(invComplete, "%s", incomplete)
		return broken
	}
	if ref == nil {
		breaks(invSelected, "%s isn't selected", cluster)
		return broken
	}
	if s.isHeld(cluster, now) {
		breaks(invHeld, "%s is held", cluster)
	}
	if !s.isReviewed(cluster, version) {
		breaks(invReviewed, "%s was not reviewed for %s: %q", cluster, version, s.set.Annotations[s.reviewed])
	}
	if s.revising != nil {
		if v := s.revisionForbids(cluster, version); v != nil {
			return append(broken, *v)
		}
		if s.revising.aborted() && s.holds(cluster) {
			if s.revising.AtOnce {
				return broken
			}
			return s.backForbids(ref, cluster, now, l)
		}
	}
	if s.givenUp[cluster] || s.deleted[cluster] {
		return broken
	}
	strategy := ref.strategy
	if strategy.Type == clusterv1alpha1.All || strategy.Type == "" {
		return broken
	}
	settings, perGroup, mandatory, limit := parts(&strategy)
	config := *settings
	stages, first := ref.stages(perGroup, *mandatory)

	own := slices.IndexFunc(stages, func(stage []seenGroup) bool { return slices.Contains(members(stage), cluster) })
	if l.everywhere && (perGroup || len(*mandatory) > 0) {
		for _, c := range s.leavers(nil, l) {
			if at, _, _ := s.stands(c, s.beside(version, c), config, now, l); at != waiting && at != succeeded {
				breaks(invMandatory, "%s, which left, isn't done", c)
			}
		}
	}
	total := map[string]bool{} // that failed
	for i, stage := range stages {
		all := members(stage)
		failures, unsettled := 0, ""
		for _, c := range all {
			at, surelyFailed, _ := s.stands(c, s.beside(version, c), config, now, l)
			if surelyFailed {
				total[c] = true
			}
			if c != cluster && !l.everywhere && (perGroup || i < first) && s.changedGroup(c, s.beside(version, c)) {
				continue
			}
			if surelyFailed {
				failures++
			}
			if at != succeeded && at != failed && (i < first || !s.mayHaveFailed(c, s.beside(version, c))) || at == failed && i < first {
				unsettled = c
			}
		}
		for _, c := range s.leavers(stage, l) {
			at, surelyFailed, _ := s.stands(c, s.beside(version, c), config, now, l)
			if surelyFailed {
				failures++
				total[c] = true
			}
			if at == inFlight || at == soaking || at == failed && i < first {
				unsettled = c
			}
		}
		budget := 0
		if i >= first {
			budget = count(config.MaxFailures, len(all))
		}
		if failures > budget && (perGroup || i < first) {
			breaks(invBudget, "%d of %d clusters of stage %d (%v) failed", failures, len(all), i, stage)
		}
		if i < own && unsettled != "" {
			if i < first {
				breaks(invMandatory, "%s of mandatory group %v isn't done", unsettled, stage)
			} else {
				breaks(invOrder, "%s of group %v isn't done", unsettled, stage)
			}
		}
	}
	if v := s.exposes(ref, cluster, version, now, l); v != nil {
		broken = append(broken, *v)
	}
	if limit == nil {
		return broken
	}
	if budget := count(config.MaxFailures, len(ref.groupOf)); len(total) > budget {
		breaks(invBudget, "%v of %d clusters failed", slices.Sorted(maps.Keys(total)), len(ref.groupOf))
	}
	if own == first {
		all, left := members(stages[first]), s.leavers(stages[first], l)
		allowed := ref.allowed(*limit, len(all))
		if ref.meansAll(*limit) {
			allowed += len(left) // they are members, too
		}
		var others []string
		for _, c := range append(all, left...) {
			if _, _, holds := s.stands(c, s.beside(version, c), config, now, l); holds && c != cluster {
				others = append(others, c)
			}
		}
		if len(others)+1 > allowed {
			breaks(invConcurrency, "%v are in flight, allowed are %d", others, allowed)
			broken[len(broken)-1].inFlight, broken[len(broken)-1].allowed = len(others)+1, allowed
		}
	}
	return broken
}

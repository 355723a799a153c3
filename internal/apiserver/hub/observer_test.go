package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// An invariant is what a rollout must never break.
type invariant string

const (
	invComplete    invariant = "nothing starts while the decisions are half written"
	invSelected    invariant = "nothing starts on a cluster that isn't selected"
	invMandatory   invariant = "mandatory groups are never overtaken"
	invOrder       invariant = "no group starts before those in front of it are complete"
	invConcurrency invariant = "no more clusters are in flight than MaxConcurrency"
	invBudget      invariant = "nothing starts past a breach"
	invSoak        invariant = "no success counts before it has soaked"
	invDeadline    invariant = "no cluster times out before its deadline"
	invVersion     invariant = "no version is written that is known to be replaced"
	invKept        invariant = "nothing is deleted while it is selected"
	invOnce        invariant = "no cluster has two works"
	invLeft        invariant = "nobody is left behind"
	invLate        invariant = "nobody waits for nothing"
	invStatus      invariant = "the status says how it stands"
	invStuck       invariant = "a rollout that stands still says whom it waits for"
)

// A violation is an invariant that was broken, where, and what was seen.
type violation struct {
	invariant invariant
	rv        int64
	text      string
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
// of them was forbidden by a time alone.
type leniency struct{ noSoak, noDeadline bool }

// stands returns where a cluster stands, whether it failed beyond doubt, and whether it holds a slot beyond doubt.
func (s *scene) stands(cluster, version string, config clusterv1alpha1.RolloutConfig, now time.Time, l leniency) (at standing, surelyFailed, holds bool) {
	at = waiting
	for _, w := range s.works[cluster] {
		if w.DeletionTimestamp != nil || w.version != version {
			continue
		}
		a, f, h := stands(w, config, now, l)
		// Of several works the one that holds back most counts.
		if at == waiting || order(a) > order(at) {
			at = a
		}
		surelyFailed, holds = surelyFailed || f, holds || h
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
	at := func(c *metav1.Condition, isFailed bool) (standing, bool, bool) {
		from := since(c)
		if timedOut(from, grace) || l.noDeadline && timedOut(from, deadline*2/3) {
			return failed, isFailed || timedOut(from, -grace), false
		}
		if isFailed {
			return failed, true, true
		}
		return inFlight, false, true
	}

	current := func(conditionType string) (*metav1.Condition, bool) {
		c := meta.FindStatusCondition(w.Status.Conditions, conditionType)
		return c, c != nil && c.ObservedGeneration == w.Generation
	}
	applied, has := current(workv1.WorkApplied)
	progressing, told := current(workv1.WorkProgressing)
	degraded, toldDegraded := current(workv1.WorkDegraded)
	switch {
	case !has || applied.Status != metav1.ConditionTrue || !told || degraded != nil && !toldDegraded:
		return at(nil, false)
	case progressing.Status == metav1.ConditionFalse:
		if now.Add(grace).Before(since(progressing).Add(config.MinSuccessTime.Duration)) && !l.noSoak {
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
		p := s.Progressive
		return &p.RolloutConfig, false, &p.MandatoryDecisionGroups.MandatoryDecisionGroups, &p.MaxConcurrency
	case clusterv1alpha1.ProgressivePerGroup:
		p := s.ProgressivePerGroup
		return &p.RolloutConfig, true, &p.MandatoryDecisionGroups.MandatoryDecisionGroups, nil
	default:
		return &s.All.RolloutConfig, false, new([]clusterv1alpha1.MandatoryDecisionGroup), nil
	}
}

// stages returns the stages as lists of groups, and how many of them are mandatory.
func (s *scene) stages(perGroup bool, mandatory []clusterv1alpha1.MandatoryDecisionGroup) (stages [][]seenGroup, first int) {
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
	breaks := func(i invariant, format string, args ...any) {
		broken = append(broken, violation{invariant: i, text: fmt.Sprintf(format, args...)})
	}
	if s.set == nil {
		breaks(invSelected, "there is no replica set")
		return broken
	}
	if s.incomplete != "" {
		breaks(invComplete, "%s", s.incomplete)
		return broken
	}
	if _, selected := s.groupOf[cluster]; !selected {
		breaks(invSelected, "%s isn't selected", cluster)
		return broken
	}
	strategy := s.set.Spec.PlacementRefs[0].RolloutStrategy
	if strategy.Type == clusterv1alpha1.All || strategy.Type == "" {
		return broken
	}
	settings, perGroup, mandatory, limit := parts(&strategy)
	config := *settings
	stages, first := s.stages(perGroup, *mandatory)

	own := slices.IndexFunc(stages, func(stage []seenGroup) bool { return slices.Contains(members(stage), cluster) })
	total := 0
	for i, stage := range stages {
		all := members(stage)
		failures, unsettled := 0, ""
		for _, c := range all {
			at, surelyFailed, _ := s.stands(c, version, config, now, l)
			if surelyFailed {
				failures++
			}
			if at != succeeded && at != failed || at == failed && i < first {
				unsettled = c
			}
		}
		total += failures
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
	if limit == nil {
		return broken
	}
	if budget := count(config.MaxFailures, len(s.groupOf)); total > budget {
		breaks(invBudget, "%d of %d clusters failed", total, len(s.groupOf))
	}
	if own == first {
		all := members(stages[first])
		allowed := count(*limit, len(all))
		if *limit == intstr.FromInt32(0) {
			if allowed = s.size(); allowed == 0 {
				allowed = len(all)
			}
		}
		var others []string
		for _, c := range all {
			if _, _, holds := s.stands(c, version, config, now, l); holds && c != cluster {
				others = append(others, c)
			}
		}
		if len(others)+1 > allowed {
			breaks(invConcurrency, "%v are in flight, allowed are %d", others, allowed)
		}
	}
	return broken
}

// check replays the history and returns what was broken. The caches are late by worst at most.
func (h *history) check(worst time.Duration) []violation {
	var broken []violation
	for _, e := range h.events {
		if e.id.kind != works {
			continue
		}
		now, _ := h.at(e.id, e.rv).(*manifestWork)
		before, _ := h.at(e.id, e.rv-1).(*manifestWork)
		switch {
		case now == nil && before != nil && before.DeletionTimestamp == nil, now != nil && before != nil && now.DeletionTimestamp != nil && before.DeletionTimestamp == nil:
			broken = append(broken, h.checkDelete(e, worst)...)
		case now != nil && now.DeletionTimestamp == nil:
			version := templateVersion(now.Spec.Workload.Manifests[0].Raw)
			if before == nil || templateVersion(before.Spec.Workload.Manifests[0].Raw) != version {
				broken = append(broken, h.checkStart(e, version, before == nil)...)
			}
		}
	}
	return broken
}

// checkStart judges the write that gives a cluster a version. It breaks an invariant if it does so in the world as
// the API server had it and also in the world as the controller had to know it.
func (h *history) checkStart(e event, version string, created bool) []violation {
	w := h.written[e.rv]
	if w == nil {
		return []violation{{invLeft, e.rv, e.id.String() + " was written by a stranger"}}
	}
	cluster := e.object.GetNamespace()
	known, truth := h.known(h.reconciles[w.reconcile], e.rv), h.truth(e.rv-1)
	var broken []violation
	forbidden := func(l leniency) []violation {
		if len(truth.forbids(cluster, version, w.sent, l)) == 0 {
			return nil
		}
		// A list of writes takes time, in which a deadline may pass that the plan could not foresee.
		planned := known.forbids(cluster, version, h.reconciles[w.reconcile].began, l)
		return slices.DeleteFunc(known.forbids(cluster, version, w.sent, l), func(v violation) bool {
			return !slices.ContainsFunc(planned, func(p violation) bool { return p.invariant == v.invariant })
		})
	}
	for _, v := range forbidden(leniency{}) {
		text := fmt.Sprintf("%s got version %s in reconcile %d: %s", cluster, version, w.reconcile, v.text)
		switch v.invariant {
		case invMandatory, invOrder, invConcurrency:
			// What takes time may be all that forbade it.
			if len(forbidden(leniency{noSoak: true})) == 0 {
				v.invariant = invSoak
			} else if len(forbidden(leniency{noDeadline: true})) == 0 {
				v.invariant = invDeadline
			}
		}
		broken = append(broken, violation{v.invariant, e.rv, text})
	}
	if set, _ := h.at(id{replicaSets, h.setKey()}, w.setShown).(*replicaSet); set != nil {
		if v := templateVersion(set.Spec.ManifestWorkTemplate.Workload.Manifests[0].Raw); v != version {
			broken = append(broken, violation{invVersion, e.rv, fmt.Sprintf("%s got version %s when the caches showed %s", cluster, version, v)})
		}
	}
	if created && has(truth, cluster) && has(known, cluster) {
		broken = append(broken, violation{invOnce, e.rv, fmt.Sprintf("%s got a second work %s in reconcile %d", cluster, e.id.key, w.reconcile)})
	}
	return broken
}

func (h *history) setKey() string {
	for i := range h.states {
		if i.kind == replicaSets {
			return i.key
		}
	}
	return ""
}

// has says whether a cluster has a work that isn't being deleted.
func has(s *scene, cluster string) bool {
	return slices.ContainsFunc(s.works[cluster], func(w seenWork) bool { return w.DeletionTimestamp == nil })
}

// checkDelete judges a deletion. The cluster counts as selected while decisions are being rewritten if it was
// before and is afterwards, and also if it was in no decision only for so short that the controller could see it.
func (h *history) checkDelete(e event, worst time.Duration) []violation {
	var w *write
	for i := range h.writes {
		if c := &h.writes[i]; c.kind == works && c.verb == "DELETE" && c.key == e.id.key && c.done && !c.sent.After(e.at) {
			w = c
		}
	}
	if w == nil {
		return []violation{{invKept, e.rv, e.id.String() + " was deleted by a stranger"}}
	}
	cluster := e.object.GetNamespace()
	known, truth := h.known(h.reconciles[w.reconcile], e.rv), h.truth(e.rv-1)
	if away := h.away(e.rv, cluster); away > 0 && away < removeAfter-worst-500*time.Millisecond && len(truth.works[cluster]) == 1 {
		return []violation{{invKept, e.rv, fmt.Sprintf("%s lost %s, because it was in no decision for %v", cluster, e.id.key, away)}}
	}
	if _, selected := known.groupOf[cluster]; known.incomplete == "" && !selected {
		return nil
	}
	if others := truth.works[cluster]; len(others) > 1 {
		return nil // of two, one has to go
	}
	_, selected := truth.groupOf[cluster]
	if truth.incomplete != "" {
		selected = h.nearest(e.rv, cluster, -1) && h.nearest(e.rv, cluster, 1)
	}
	if !selected {
		return nil
	}
	why := known.incomplete
	if why == "" {
		why = "it knew that it is selected"
	}
	return []violation{{invKept, e.rv, fmt.Sprintf("%s lost %s in reconcile %d: %s", cluster, e.id.key, w.reconcile, why)}}
}

// away returns for how long a cluster was in no decision, the last time before its work was deleted: 0 if it always was in
// one, or never came back.
func (h *history) away(rv int64, cluster string) time.Duration {
	was, away := false, time.Duration(0)
	var left time.Time
	for _, e := range h.events {
		if e.id.kind != decisions {
			continue
		}
		_, is := h.truth(e.rv).groupOf[cluster]
		switch {
		case was && !is && e.rv < rv:
			left, away = e.at, 0
		case !was && is && !left.IsZero():
			left, away = time.Time{}, e.at.Sub(left)
		}
		if was = is; e.rv > rv && left.IsZero() {
			break
		}
	}
	return away
}

// nearest says whether a cluster is selected in the last complete decisions before, or the first after.
func (h *history) nearest(rv int64, cluster string, direction int) bool {
	events := slices.Clone(h.events)
	if direction < 0 {
		slices.Reverse(events)
	}
	for _, e := range events {
		if e.id.kind != placements && e.id.kind != decisions || (e.rv-rv)*int64(direction) < 0 {
			continue
		}
		if s := h.truth(e.rv); s.incomplete == "" {
			_, selected := s.groupOf[cluster]
			return selected
		}
	}
	return false
}

// checkWaits finds clusters that could have started all the time for longer than it may take.
func (h *history) checkWaits(patience time.Duration) []violation {
	if len(h.events) == 0 {
		return nil
	}
	const tick = 500 * time.Millisecond
	since := map[string]time.Time{}
	var broken []violation
	end := h.events[len(h.events)-1].at
	next := 0
	for now := h.events[0].at; now.Before(end); now = now.Add(tick) {
		for next < len(h.events) && !h.events[next].at.After(now) {
			next++
		}
		rv := h.events[next-1].rv
		_, could := h.truth(rv).waits(now)
		for c := range since {
			if !slices.Contains(could, c) {
				delete(since, c)
			}
		}
		for _, c := range could {
			if since[c].IsZero() {
				since[c] = now
			}
			if now.Sub(since[c]) > patience {
				since[c] = end // once
				broken = append(broken, violation{invLate, rv, fmt.Sprintf("%s could have started for %v", c, patience)})
			}
		}
	}
	return broken
}

// waits returns the clusters that wait: for one of the others, and for nothing.
func (s *scene) waits(now time.Time) (held, could []string) {
	if s.set == nil || s.incomplete != "" {
		return nil, nil
	}
	version, config := s.wanted()
	for cluster := range s.groupOf {
		if slices.ContainsFunc(s.works[cluster], func(w seenWork) bool { return w.DeletionTimestamp != nil }) {
			held = append(held, cluster)
			continue
		}
		if at, _, _ := s.stands(cluster, version, config, now.Add(-grace), leniency{}); at != waiting {
			continue
		}
		if len(s.forbids(cluster, version, now.Add(-grace), leniency{})) == 0 {
			could = append(could, cluster)
		} else {
			held = append(held, cluster)
		}
	}
	return held, could
}

// wanted returns the version that is wanted, and the configuration of the strategy as it counts.
func (s *scene) wanted() (string, clusterv1alpha1.RolloutConfig) {
	strategy := s.set.Spec.PlacementRefs[0].RolloutStrategy
	settings, _, _, _ := parts(&strategy)
	config := *settings
	if strategy.Type == clusterv1alpha1.All || strategy.Type == "" {
		config.MinSuccessTime.Duration = 0
	}
	return templateVersion(s.set.Spec.ManifestWorkTemplate.Workload.Manifests[0].Raw), config
}

// ending is how a rollout stands when nothing happens any more.
type ending struct {
	complete bool
	inFlight []string // clusters that are, or failed and may yet recover
	failed   []string // clusters that timed out
	held     []string // clusters that wait, for one of them
	could    []string // clusters that wait, for nothing
	surplus  []string // clusters that have a work and aren't selected
	message  string
	reason   string
	current  bool // the status is about the present generation
	settled  bool // the status says that it is over
}

// end judges how it stands at a time.
func (h *history) end(now time.Time) ending {
	s := h.truth(1 << 62)
	var end ending
	if s.set == nil || s.incomplete != "" {
		return end
	}
	version, config := s.wanted()
	end.held, end.could = s.waits(now)
	for cluster := range s.groupOf {
		switch at, _, holds := s.stands(cluster, version, config, now.Add(-grace), leniency{}); {
		case holds: // also those that failed and may yet recover
			end.inFlight = append(end.inFlight, cluster)
		case at == failed:
			end.failed = append(end.failed, cluster)
		}
	}
	for cluster := range s.works {
		if _, selected := s.groupOf[cluster]; !selected {
			end.surplus = append(end.surplus, cluster)
		}
	}
	for _, c := range s.set.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			end.message, end.reason, end.current = c.Message, c.Reason, c.ObservedGeneration == s.set.Generation
			end.settled = c.Type == "Succeeded" || c.Type == "Failed"
		}
	}
	end.complete = end.over() && len(end.surplus) == 0 && end.current && end.settled
	return end
}

// over says whether nobody waits for anything.
func (e ending) over() bool { return len(e.inFlight)+len(e.held)+len(e.could) == 0 }

// checkEnd judges how a rollout stands that stands still.
func (h *history) checkEnd(now time.Time) []violation {
	end := h.end(now)
	last := h.events[len(h.events)-1].rv
	var broken []violation
	breaks := func(i invariant, format string, args ...any) {
		broken = append(broken, violation{i, last, fmt.Sprintf(format, args...)})
	}
	if end.complete {
		return nil
	}
	if s := h.truth(1 << 62); s.incomplete != "" {
		breaks(invLeft, "the harness ended with half written decisions: %s", s.incomplete)
	}
	if len(end.could) > 0 {
		breaks(invLeft, "%v may start and doesn't", end.could)
	}
	if len(end.surplus) > 0 {
		breaks(invLeft, "%v have the workload and aren't selected", end.surplus)
	}
	switch {
	case end.message == "" || !end.current:
		breaks(invStatus, "it says %q, of an earlier generation or nothing", end.message)
	case end.over():
		if !end.settled {
			breaks(invStatus, "all is done, and it says %q", end.message)
		}
	case !slices.ContainsFunc(slices.Concat(end.inFlight, end.failed), func(c string) bool { return strings.Contains(end.message, c) }):
		breaks(invStuck, "%v in flight and %v failed hold %v up, and it says %q", end.inFlight, end.failed, end.held, end.message)
	}
	return broken
}

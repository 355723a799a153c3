package trial

import (
	"fmt"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Of policies.
const (
	invTakeBack Invariant = "clusters are taken back before another one starts"
	invPasses   Invariant = "no cluster is enforced without a first pass"
)

// forbids says which invariants a start on a cluster would break, as those who left are read.
func (s *sight) forbids(cluster string, now time.Time, l leniency, as reading) (broken []violation) {
	breaks := func(i Invariant, format string, args ...any) {
		broken = append(broken, violation{invariant: i, text: fmt.Sprintf(format, args...)})
	}
	if s.ref.incomplete != "" {
		breaks(invComplete, "%s", s.ref.incomplete)
		return broken
	}
	if !s.isSelected(cluster) {
		breaks(invSelected, "%s isn't selected", cluster)
		return broken
	}
	if s.strategy.Type == clusterv1alpha1.All || s.strategy.Type == "" || s.givenUp[cluster] {
		return broken
	}
	config, perGroup, required, limit := parts(&s.strategy)
	stages, first := s.ref.stages(perGroup, *required)
	left := s.left(as)
	own := slices.IndexFunc(stages, func(stage []seenGroup) bool { return slices.Contains(members(stage), cluster) })
	total, size := 0, 0
	var rest []string // of the stage that is limited
	for i, stage := range stages {
		all := members(stage)
		for _, g := range stage {
			all = append(all, left[g.key()]...)
			delete(left, g.key())
		}
		if i == first {
			for was, clusters := range left { // of groups that are gone; those of mandatory ones follow below
				if !mandatory(*required, was.name) && !perGroup {
					all = append(all, clusters...)
					delete(left, was)
				}
			}
			rest = all
		}
		failures, unsettled := s.tally(all, i < first, now, l)
		total, size = total+failures, size+len(all)
		budget := 0
		if i >= first {
			budget = count(config.MaxFailures, len(all))
		}
		if failures > budget && (perGroup || i < first) {
			breaks(invBudget, "%d of %d clusters of stage %d (%v) failed", failures, len(all), i, all)
		}
		if i < own && unsettled != "" {
			breaks(map[bool]Invariant{true: invMandatory, false: invOrder}[i < first], "%s of %v isn't done", unsettled, all)
		}
	}
	for was, clusters := range left { // the group exists again, before all others
		failures, unsettled := s.tally(clusters, mandatory(*required, was.name), now, l)
		total, size = total+failures, size+len(clusters)
		switch {
		case mandatory(*required, was.name):
			if failures > 0 || unsettled != "" && own >= first {
				breaks(invMandatory, "%v of the mandatory group %q left, and %d failed, %s isn't done", clusters, was.name, failures, unsettled)
			}
		case perGroup && failures > count(config.MaxFailures, len(clusters)):
			breaks(invBudget, "%d of %v failed", failures, clusters)
		case perGroup && unsettled != "" && own >= first:
			breaks(invOrder, "%s of %v isn't done, whose group is gone", unsettled, clusters)
		}
	}
	if moved := s.moved(now, l, as); moved != "" && (perGroup || mandatory(*required, s.j.trial.groupOf[short(moved)])) && own >= first {
		breaks(invOrder, "%s isn't done, and the group in which it started is gone", moved)
	}
	if limit == nil {
		return broken
	}
	if budget := count(config.MaxFailures, size); total > budget {
		breaks(invBudget, "%d of %d clusters failed", total, size)
	}
	if own == first {
		var others []string
		for _, c := range rest {
			if c != cluster && s.stands(c, now, l).holds {
				others = append(others, c)
			}
		}
		if allowed := s.allowed(*limit, len(rest)); len(others)+1 > allowed {
			breaks(invConcurrency, "%v are in flight, allowed are %d", others, allowed)
		}
	}
	return broken
}

// tally counts the failures, and gives one of the clusters that are not settled.
func (s *sight) tally(clusters []string, mandatory bool, now time.Time, l leniency) (failures int, unsettled string) {
	for _, c := range clusters {
		at := s.stands(c, now, l)
		if at.failed {
			failures++
		}
		if !at.out && (at.at != succeeded && at.at != failed || at.at == failed && mandatory) {
			unsettled = c
		}
	}
	return failures, unsettled
}

// checkStart judges a start by the truth and by what the process had to know.
func (j *jury) checkStart(e event) (broken []violation) {
	w := j.written[e.rv]
	if w == nil {
		return []violation{{invariant: invLeft, rv: e.rv, text: e.id.String() + " was written by a stranger"}}
	}
	cluster, r := e.object.GetNamespace(), j.reconciles[w.reconcile]
	known, truth := j.knownTo(r, e.rv, w.sent), j.truthAt(e.rv-1)
	if known == nil || truth == nil || j.trade.read(e.object).version != known.version || truth.isGhost(cluster) && truth.isSelected(cluster) {
		return nil // who is back goes on where it was
	}
	forbidden := func(as reading) []violation {
		return inAll(known.forbids(cluster, w.sent, leniency{}, as), known.forbids(cluster, r.read, leniency{}, as), truth.forbids(cluster, w.sent, leniency{}, as))
	}
	without := len(forbidden(withoutLeft)) == 0
	were := forbidden(whereTheyWere)
	for _, v := range inAll(forbidden(whereTheyAre), were, were) { // nobody knows which of the two the process knew
		text := fmt.Sprintf("%s got version %s in reconcile %d: %s", cluster, known.version, w.reconcile, v.text)
		if without {
			v.invariant, text = invLeavers, text+" ("+string(v.invariant)+")"
		}
		broken = append(broken, violation{invariant: v.invariant, rv: e.rv, text: text})
	}
	if j.trade.gates && known.strategy.Type != clusterv1alpha1.All {
		broken = append(broken, j.checkPasses(e, cluster, known, truth)...)
	}
	return broken
}

// checkPasses judges a start of a policy: its cluster went through the first pass, and no other one is still enforced with
// another version.
func (j *jury) checkPasses(e event, cluster string, known, truth *sight) (broken []violation) {
	before := truth.held[cluster]
	if before.version != known.version && known.held[cluster].version != known.version {
		broken = append(broken, violation{invariant: invPasses, rv: e.rv, text: fmt.Sprintf("%s is enforced with %s, and had %q", cluster, known.version, before.version)})
	}
	behind := func(s *sight, c string) bool {
		h, ok := s.held[c]
		return ok && c != cluster && h.started && h.version != known.version && !h.dying && s.isSelected(c) && !s.stands(c, e.at, leniency{}).out
	}
	for _, c := range j.trial.clusters(j.trial.pool) {
		if behind(known, c) && behind(truth, c) {
			broken = append(broken, violation{invariant: invTakeBack, rv: e.rv, text: fmt.Sprintf("%s starts with %s while %s is enforced with %s", cluster, known.version, c, truth.held[c].version)})
			break
		}
	}
	return broken
}

// checkClaim judges that a controller calls a rollout complete.
func (j *jury) checkClaim(c *Claim, known, truth *sight, rv int64, now time.Time) []violation {
	if !c.Complete || known == nil || truth == nil || known.ref.incomplete != "" || truth.ref.incomplete != "" || c.Version != "" && c.Version != known.version {
		return nil
	}
	for _, cluster := range j.trial.clusters(j.trial.pool) {
		if k, t := known.undone(cluster, now), truth.undone(cluster, now); k != "" && t != "" && known.version == truth.version {
			return []violation{{invariant: invDone, rv: rv, text: fmt.Sprintf("version %s is called complete: %q; %s %s", known.version, c.Message, cluster, k)}}
		}
	}
	return nil
}

// undone says why a cluster is not done, if it is not.
func (s *sight) undone(cluster string, now time.Time) string {
	at := s.stands(cluster, now, leniency{})
	switch {
	case at.out || at.at == succeeded:
		return ""
	case s.isSelected(cluster):
		return "is selected, and not done"
	case at.failed:
		return "left, and failed"
	case at.holds:
		return "left, and its answer is awaited"
	default:
		return ""
	}
}

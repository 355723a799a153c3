package rollout

import (
	"cmp"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/bitset"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/status"
)

// reading is what a pass through the reports found beside how the members stand.
type reading struct {
	reports    []status.Report
	others     unselectedReports        // the reports of clusters that are not selected
	several    map[string]status.Report // the members with several reports, each with the merged one; nil if there are none
	deselected map[string]grouping.Key  // the clusters that were deselected and count, with their groups
}

// read reads the reports (R1 to R7, R27) into the states and ages of an empty result, and into o.
func (r *Result) read(o *observed, s *schedule, reports []status.Report, now time.Time) (reading, error) {
	f := reading{reports: reports}
	n := s.NumClusters()
	r.schedule = s
	r.states, r.tallies = make([]fleet.State, n), make([]fleet.Tally, s.Len())
	if s.options.starts.IsSet() {
		r.addDetails().startTimes = make([]time.Time, n)
	}
	*o = observed{unselected: s.options.unselected, record: r, before: s.told(s.options.previous)}
	named := true
	plain := s.options.record == nil // of a report that time changes nothing of, no more than a state is noted
	for i := range reports {
		report := &reports[i]
		position, member := s.Position(report.Cluster)
		if !member || s.IsDeselected(position) {
			f.others.add(i, len(reports))
		}
		switch {
		case report.Cluster == "":
			named = false
		case !member:
		case r.states[position] != fleet.Unreported:
			if f.several == nil {
				f.several = make(map[string]status.Report)
			}
			f.several[report.Cluster] = status.Report{}
		default:
			if kind := fleet.KindOf(report); plain && s.Timeless.Has(kind) && report.Attempt == 0 && !report.Deleting && report.Reason == "" {
				r.states[position] = kind.State()
			} else {
				r.set(position, report, now)
			}
		}
	}
	if !named {
		return f, fielderrs.Join(nameless(reports, field.NewPath("reports")))
	}
	if f.others.n > 0 || s.options.record.all() != nil {
		f.deselected, o.departed = s.findDeselected(s.options.previous, s.seen(reports, &f.others, now), now)
	}
	r.merge(reports, f.several, now)
	r.recall(o, now)
	r.freeze(now)
	return f, nil
}

// sum adds up in r and in o what was read.
func (r *Result) sum(o *observed, f *reading, now time.Time) {
	s := r.schedule
	for cluster := range f.several {
		if position, _ := s.Position(cluster); !s.IsDeselected(position) {
			o.merged.add(cluster)
		}
	}
	o.remove(s.Groups, f.reports, &f.others)
	o.deleting = s.endings(r.knownDetails().deleting)
	o.recheck = r.count(now)
	r.ignoredTallies = s.SplitIgnored(s.Members, r.tallies, r.states)
	o.recent = r.recentStarts(o.departed, now)
	o.totals = s.sum(r.tallies, r.ignoredTallies)
	o.active, o.breached = s.firsts(&o.totals)
}

// unknownAge is the age of a cluster whose time is unknown.
const unknownAge time.Duration = math.MinInt64

// set notes the report of the cluster at a position.
func (r *Result) set(position fleet.Position, report *status.Report, now time.Time) {
	kind := fleet.KindOf(report)
	if report.Attempt != 0 || r.details != nil {
		r.addDetails().tries.Set(position, report.Attempt, len(r.states))
	}
	if r.schedule.Timeless.Has(kind) {
		r.states[position] = kind.State()
	} else {
		r.date(position, report, now)
	}
	r.untell(position, kind)
	if said := messageOf(report); said != (message{}) || r.details != nil {
		r.say(position, said)
	}
	if report.Deleting || r.knownDetails().evidence != nil || r.schedule.IsDeselected(position) || r.schedule.options.record != nil {
		r.keep(position, report)
	}
}

// date notes the report of the cluster at a position where its times matter.
func (r *Result) date(position fleet.Position, report *status.Report, now time.Time) {
	x := fleet.ReportOf(report)
	r.states[position] = r.schedule.Phases.StateOf(&x, now)
	r.age(position, r.states[position], x.Since, now)
	if n := r.details; n != nil && n.startTimes != nil {
		n.startTimes[position] = x.StartedAt()
	}
}

// keep keeps the report of a cluster that was deselected or moved, whose object is being deleted, or that the record has.
func (r *Result) keep(position fleet.Position, said *status.Report) {
	s := r.schedule
	_, stored := s.options.record.entry(said.Cluster)
	if !said.Deleting && !s.IsDeselected(position) && !s.HasMoved(position) && !stored {
		delete(r.knownDetails().deleting, position) // one of several reports may have said so
		return
	}
	n := r.remember()
	n.evidence[position], n.deleting[position] = fleet.ReportOf(said), said.Deleting
	if s.IsDeselected(position) && r.states[position].IsWaiting() {
		r.states[position] = fleet.Skipped
	}
}

// remember makes the maps of what has to be known beyond the states.
func (r *Result) remember() *details {
	n := r.addDetails()
	if n.evidence == nil {
		n.evidence, n.deleting = make(map[fleet.Position]fleet.Report), make(map[fleet.Position]bool)
	}
	return n
}

// message is what explanations repeat of a report; the zero message is none.
type message struct {
	text    string
	refusal bool // it says why the API server refused to write the object of a waiting cluster (R29)
}

func messageOf(r *status.Report) message {
	if fleet.KindOf(r) == fleet.KindToApply && r.Reason == status.ReportRefused {
		return message{cmp.Or(r.Message, "no reason is known"), true}
	}
	return message{text: r.Message}
}

// say notes the message of the report that counts for the cluster at a position.
func (r *Result) say(position fleet.Position, said message) {
	if said == (message{}) {
		delete(r.knownDetails().says, position)
		return
	}
	n := r.addDetails()
	if n.says == nil {
		n.says = make(map[fleet.Position]message)
	}
	n.says[position] = said
}

// untell notes whether the cluster at a position, of a kind, timed out while nothing says when it is done.
func (r *Result) untell(position fleet.Position, kind fleet.Kind) {
	if kind != fleet.KindUntracked || r.states[position] != fleet.TimedOutNow {
		delete(r.knownDetails().untold, position) // one of several reports, or one that the record replaces, may have said so
		return
	}
	n := r.addDetails()
	if n.untold == nil {
		n.untold = make(map[fleet.Position]bool)
	}
	n.untold[position] = true
}

// lose notes whether only the record tells of the failure of the cluster at a position.
func (r *Result) lose(position fleet.Position, is bool) {
	if !is {
		return
	}
	n := r.addDetails()
	if n.lost == nil {
		n.lost = make(map[fleet.Position]bool)
	}
	n.lost[position] = true
}

// isLost says whether only the record tells of the failure of the cluster at a position.
func (r *Result) isLost(position fleet.Position) bool { return r.knownDetails().lost[position] }

// recall lets what the record says count where the reports say less (R49).
func (r *Result) recall(o *observed, now time.Time) {
	s := r.schedule
	for cluster, e := range s.options.record.all() {
		position, member := s.Position(cluster)
		if !member {
			continue
		}
		obs := observation{r.knownDetails().evidence[position], r.knownDetails().deleting[position], !s.IsDeselected(position)}
		x, recorded := s.decide(cluster, obs)
		if !recorded {
			o.comesBack(s, position, x, e, now)
			continue
		}
		r.states[position] = s.StateAt(position, x, now)
		r.age(position, r.states[position], x.Since, now)
		n := r.remember()
		n.tries.Set(position, x.Attempt, len(r.states))
		delete(n.says, position)
		n.evidence[position] = x
		r.lose(position, obs.isLost(r.states[position], recorded))
		r.untell(position, x.Kind)
		if n.startTimes != nil {
			n.startTimes[position] = x.StartedAt()
		}
	}
}

// comesBack lets the earlier start of a cluster count that waits for its turn once more (R49).
func (o *observed) comesBack(s *schedule, position fleet.Position, r fleet.Report, e entry, now time.Time) {
	if !r.Kind.IsWaiting() || s.Ignores(position) || !s.hasStarted(e.Report, now) && !s.isAwaited(e.Report, now) {
		return
	}
	if e.Kind.IsSuccess() {
		e.Kind = fleet.KindOnceSucceeded
	} else {
		e.Kind = fleet.KindOnceStarted
	}
	o.departed = append(o.departed, departure{s.Cluster(position), e.key, e.Report})
}

// seen merges the reports of each cluster that is not selected and may count.
func (s *schedule) seen(reports []status.Report, others *unselectedReports, now time.Time) map[string]observation {
	var merged map[string]status.Report
	for i := range reports {
		if others.n == 0 || !others.Has(i) {
			continue
		}
		if _, recorded := s.options.record.entry(reports[i].Cluster); !recorded && !s.mayCount(fleet.ReportOf(&reports[i]), now) {
			continue
		}
		if merged == nil {
			merged = make(map[string]status.Report)
		}
		merged[reports[i].Cluster] = status.Report{}
	}
	if merged == nil {
		return nil
	}
	for i := range reports {
		if before, may := merged[reports[i].Cluster]; may && before.Cluster != "" {
			merged[reports[i].Cluster] = status.Merge(before, reports[i])
		} else if may {
			merged[reports[i].Cluster] = reports[i]
		}
	}
	all := make(map[string]observation, len(merged))
	for cluster, report := range merged {
		all[cluster] = observation{Report: fleet.ReportOf(&report), deleting: report.Deleting}
	}
	return all
}

// age notes how long the cluster at a position has been in a state, where that matters.
func (r *Result) age(position fleet.Position, s fleet.State, since, now time.Time) {
	delete(r.knownDetails().far, position) // one of several reports, or one that the record replaces, may have been far away
	if !fleet.ExposedStates.Has(s) && (s != fleet.Succeeded || r.schedule.wait == 0) {
		return
	}
	age := now.Sub(since)
	switch {
	case since.IsZero():
		age = unknownAge
	case age == math.MaxInt64 || age == math.MinInt64: // further away than a Duration can say
		age = max(age, unknownAge+1)
		n := r.addDetails()
		if n.far == nil {
			n.far = make(map[fleet.Position]time.Time)
		}
		n.far[position] = since
	}
	r.ages.Set(position, age, len(r.states))
}

// since gives the time from which the age of a position counts, where that is known.
func (r *Result) since(position fleet.Position) time.Time {
	if r.details != nil {
		if at, ok := r.details.far[position]; ok {
			return at
		}
	}
	return r.now.Add(-r.ages.Of(position))
}

// merge sets each cluster in several from all of its reports (R1).
func (r *Result) merge(reports []status.Report, several map[string]status.Report, now time.Time) {
	if len(several) == 0 {
		return
	}
	for _, report := range reports {
		if merged, ok := several[report.Cluster]; ok {
			if merged.Cluster != "" {
				report = status.Merge(merged, report)
			}
			several[report.Cluster] = report
		}
	}
	for cluster, report := range several {
		position, _ := r.schedule.Position(cluster)
		r.set(position, &report, now)
	}
}

// count fills the tallies and gives the time until the next deadline, soak or freeze of a cluster ends. It is a separate pass, since that
// walks through memory in order, while the reports jump about.
func (r *Result) count(now time.Time) (recheck time.Duration) {
	groups, phases, tallies := r.schedule.Members, &r.schedule.Phases, r.tallies
	for position, s := range r.all() {
		tallies[groups.GroupOf(position)].Add(s, 1)
		switch {
		case !(fleet.DatedStates | fleet.FrozenStates).Has(s):
		case s.IsFrozen():
			recheck = sooner(recheck, r.schedule.Freezes.UntilUnfrozen(position, now))
		default:
			recheck = sooner(recheck, phases.Left(s, r.ages.Of(position)))
		}
	}
	return recheck
}

// recentStarts looks at the starts within the span of MaxStarts (R36).
func (r *Result) recentStarts(departed []departure, now time.Time) limits.Recent {
	l := r.schedule.options.starts
	if !l.IsSet() {
		return limits.Recent{}
	}
	within, unknown := r.schedule.startsOf(departed, now), 0
	for i, at := range r.details.startTimes {
		position := fleet.Position(i)
		if r.schedule.Ignores(position) {
			continue
		} else if at.IsZero() {
			unknown += one(fleet.InFlightStates.Has(r.states[position]))
		} else if l.Covers(at, now) {
			within = append(within, at)
		}
	}
	r.details.startTimes = nil
	return l.Recent(within, unknown)
}

// remove collects the clusters that are not selected, in order, each once (R7), without those that another part removes (R50).
func (o *observed) remove(groups *grouping.Groups, reports []status.Report, others *unselectedReports) {
	if others.n == 0 {
		return
	}
	o.removed = make([]string, 0, others.n)
	deleting := 0
	for i := range reports {
		if !others.Has(i) {
			continue
		}
		if other, _ := fleet.Elsewhere(groups, reports[i].Cluster); !other {
			o.removed = append(o.removed, reports[i].Cluster)
			deleting += one(reports[i].Deleting)
		}
	}
	slices.Sort(o.removed)
	for i := 1; i < len(o.removed); i++ {
		if o.removed[i] == o.removed[i-1] && (i == 1 || o.removed[i] != o.removed[i-2]) {
			o.merged.add(o.removed[i])
		}
	}
	o.removed = slices.Compact(o.removed)
	if o.there = o.removed; deleting > 0 {
		o.there = notDeleting(o.removed, reports, others)
	}
}

// notDeleting gives those of the names, which are in order, that have an object which is not being deleted.
func notDeleting(names []string, reports []status.Report, others *unselectedReports) []string {
	stays := make([]bool, len(names))
	for i := range reports {
		if at, found := slices.BinarySearch(names, reports[i].Cluster); found && others.Has(i) && !reports[i].Deleting {
			stays[at] = true
		}
	}
	there := make([]string, 0, len(names))
	for i, name := range names {
		if stays[i] {
			there = append(there, name)
		}
	}
	return there
}

// unselectedReports are the reports of clusters that are not selected, by their places in the list. They take memory once there is one.
type unselectedReports struct {
	bitset.Set
	n int
}

// add takes in the i-th report.
func (s *unselectedReports) add(i, reports int) {
	if s.n == 0 {
		s.Set = bitset.New(reports)
	}
	s.Add(i)
	s.n++
}

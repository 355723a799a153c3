package rollout

import (
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status"
)

// observe reads the reports (R1 to R7, R27) into the states, ages and tallies of an empty result.
func (r *Result) observe(s *schedule, reports []status.Report, now time.Time) (observed, error) {
	n := s.groups.NumClusters()
	r.schedule = s
	r.states, r.ages, r.tallies = make([]state, n), make([]time.Duration, n), make([]tally, s.groups.Len())
	if s.options.starts != nil {
		r.starts = make([]time.Time, n)
	}
	o := observed{unselected: s.options.unselected}
	var errs field.ErrorList
	var others bitmap // the reports of clusters that are not selected
	var several map[string]status.Report
	for i := range reports {
		report := &reports[i]
		position, selected := s.groups.Position(report.Cluster)
		switch {
		case report.Cluster == "":
			errs = append(errs, withoutCluster(field.NewPath("reports").Index(i)))
		case !selected:
			others.add(i, len(reports))
		case r.states[position] != unreported:
			if several == nil {
				several = make(map[string]status.Report)
			}
			several[report.Cluster] = status.Report{}
		default:
			r.set(position, report, now)
		}
	}
	if len(errs) > 0 {
		return o, fielderrs.Join(errs)
	}
	r.merge(reports, several, now)
	for cluster := range several {
		o.merged.add(cluster)
	}
	o.remove(reports, &others)
	o.recheck = r.count()
	r.aside = s.sort(r.tallies, r.states)
	o.recent = r.recentStarts(now)
	o.totals = s.sum(r.tallies, r.aside)
	o.active, o.breached = s.firsts(&o.totals)
	return o, nil
}

func withoutCluster(report *field.Path) *field.Error {
	return field.Required(report.Child("cluster"), "must be the name of a ManagedCluster")
}

// unknownAge is the age of a cluster where it is unknown since when it stands so.
const unknownAge time.Duration = math.MinInt64

// set notes the report of the cluster at a position.
func (r *Result) set(position int, report *status.Report, now time.Time) {
	kind, since := read(report)
	r.tries.set(position, report.Attempt, len(r.states))
	state := r.schedule.state(kind, since, report.Attempt, now)
	r.states[position] = state
	r.age(position, state, since, now)
	if r.starts != nil {
		r.starts[position] = startedAt(kind, since, lagOf(report))
	}
}

// age notes how long the cluster at a position has been in a state, where that matters.
func (r *Result) age(position int, s state, since, now time.Time) {
	if !agedStates.has(s) && (s != succeeded || r.schedule.wait == 0) {
		return
	}
	if r.ages[position] = now.Sub(since); since.IsZero() {
		r.ages[position] = unknownAge
	}
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
		position, _ := r.schedule.groups.Position(cluster)
		r.set(position, &report, now)
	}
}

// count fills the tallies and gives the time until the next deadline or soak ends. It is a separate pass, since that
// walks through memory in order, while the reports jump about.
func (r *Result) count() (recheck time.Duration) {
	groups, rules := r.schedule.groups, &r.schedule.rules
	for position, s := range r.states {
		r.tallies[groups.GroupAt(position)][s]++
		if datedStates.has(s) {
			recheck = sooner(recheck, rules.left(s, r.ages[position]))
		}
	}
	return recheck
}

// recentStarts looks at the starts within the span of MaxStarts (R36).
func (r *Result) recentStarts(now time.Time) recent {
	l := r.schedule.options.starts
	if l == nil {
		return recent{}
	}
	var within []time.Time
	unknown := 0
	for position, at := range r.starts {
		if r.schedule.isAside(position) {
			continue
		} else if at.IsZero() {
			unknown += one(inFlightStates.has(r.states[position]))
		} else if now.Sub(at) < l.per {
			within = append(within, at)
		}
	}
	r.starts = nil
	return l.recent(within, unknown)
}

// remove collects the clusters that are not selected, in order, each once (R7).
func (o *observed) remove(reports []status.Report, others *bitmap) {
	if others.n == 0 {
		return
	}
	o.removed = make([]string, 0, others.n)
	for i := range reports {
		if others.has(i) {
			o.removed = append(o.removed, reports[i].Cluster)
		}
	}
	slices.Sort(o.removed)
	for i := 1; i < len(o.removed); i++ {
		if o.removed[i] == o.removed[i-1] && (i == 1 || o.removed[i] != o.removed[i-2]) {
			o.merged.add(o.removed[i])
		}
	}
	o.removed = slices.Compact(o.removed)
}

// bitmap is a set of small integers that takes memory once the first is in it.
type bitmap struct {
	words []uint64
	n     int
}

// add puts i < limit into the set. The limit must always be the same.
func (b *bitmap) add(i, limit int) {
	if b.words == nil {
		b.words = make([]uint64, (limit+63)/64)
	}
	b.words[i/64] |= 1 << (i % 64)
	b.n++
}

func (b *bitmap) has(i int) bool { return b.words[i/64]&(1<<(i%64)) != 0 }

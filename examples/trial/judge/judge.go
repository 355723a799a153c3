// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options are how a recording is judged. The zero value has the defaults of [DefaultOptions] for lag and patience.
type Options struct {
	// Lag is how far behind the truth a controller may be when it writes.
	Lag time.Duration
	// Patience is for how long nothing may happen though something could.
	Patience time.Duration
	// RemoveAfter is for how long a cluster has to be out of the decisions until it loses its object. Zero means at once.
	RemoveAfter time.Duration
	// Began are the times at which processes of the controller began, in any order. Each counts RemoveAfter anew. A recording does not tell them:
	// without any, an object that stays for too long is [Suspicious] where there is a RemoveAfter.
	Began []time.Time
	// User is the user or user agent to judge, where the recording has them. Empty is all.
	User string
	// IgnoreAnnotation is the annotation of an owner in which people name clusters that count for nothing any more, with commas between them.
	IgnoreAnnotation string
	// Should says what should have happened instead, for a report. It may be nil.
	Should func(Moment) string

	only int // if set, no writes are judged but that of this line
}

// DefaultOptions are those of the program.
var DefaultOptions = Options{Lag: 2 * time.Second, Patience: 30 * time.Second}

// judge replays a recording.
type judge struct {
	Options
	lag      int64
	horizon  int64 // for how long the past is kept
	interval int64 // how often it is looked whether something is stuck

	objects  map[string]*known
	owners   map[string]*owner
	placings map[string]*placing
	users    map[string][]*owner // by placement
	bound    *bound
	registry registry

	now     int64
	line    int
	taken   int // how many events were
	from    *event
	logs    []string
	listing map[string]int64 // by kind: since when it is not whole
	reason  string
	whole   int64 // since when everything is
	began   bool

	report *Report
}

// known is an object of the recording.
type known struct {
	class     class
	rv        int64
	there     bool
	confirmed bool
	owner     string // of a holder
	placement string // of a decision
}

// Judge says what was broken in a recording.
func Judge(r *Recording, o Options) *Report {
	o.Lag, o.Patience = cmp.Or(o.Lag, DefaultOptions.Lag), cmp.Or(o.Patience, DefaultOptions.Patience)
	j := &judge{
		Options: o, logs: r.logs, lag: int64(o.Lag), horizon: 5 * int64(o.Lag), interval: int64(o.Patience) / 100,
		objects: map[string]*known{}, owners: map[string]*owner{}, placings: map[string]*placing{}, users: map[string][]*owner{}, listing: map[string]int64{}, bound: newBound(), registry: registry{since: map[string]int64{}, deleted: map[string]bool{}},
		report: &Report{Lag: Duration(o.Lag), Patience: Duration(o.Patience), Seen: Duration(r.Late), Lines: r.Lines, Ignored: r.Ignored},
	}
	for i := range r.events {
		j.from = &r.events[i]
		j.take(j.from)
	}
	j.end()
	return j.report
}

func at(nanos int64) time.Time { return time.Unix(0, nanos).UTC() }

// judges says whether the views that count are whole.
func (j *judge) judges() bool {
	return len(j.listing) == 0 && j.now-j.lag >= j.whole && (j.only == 0 || j.only == j.line)
}

// isOfUser says whether the present write is judged, by its writer.
func (j *judge) isOfUser() bool {
	name, agent, _ := strings.Cut(strings.TrimSuffix(j.from.by, ")"), "(")
	return j.User == "" || j.User == strings.TrimSpace(name) || j.User == agent
}

// judgesWriter says whether the present start or removal is judged by its writer, and counts it.
func (j *judge) judgesWriter() bool {
	by := j.from.by
	if !j.isOfUser() {
		return false
	}
	if by != "" {
		if j.report.Writers == nil {
			j.report.Writers = map[string]int{}
		}
		j.report.Writers[by]++
	}
	return true
}

// sign names the writer in a finding, and where an audit log says so.
func (j *judge) sign(f *Finding) {
	e := j.from
	if f.By = e.by; e.of > 0 {
		f.Source = fmt.Sprintf("line %d", e.of)
		if int(e.log) < len(j.logs) {
			f.Source += " of " + j.logs[e.log]
		}
	}
}

func (j *judge) find(f Finding) {
	f.At, f.Line = at(j.now), j.line
	if f.holder != "" {
		j.sign(&f)
	}
	j.report.Findings = append(j.report.Findings, f)
}

// take replays a line.
func (j *judge) take(e *event) {
	if !j.began {
		j.report.From = at(e.true)
	}
	before := j.now
	j.now, j.line, j.taken = e.true, e.line, j.taken+1
	j.report.To = at(j.now)
	switch e.typed {
	case typeBegin, typeHole:
		j.open(e, before)
	case typeListed:
		j.close(e)
	case typeBookmark:
		for _, o := range j.sorted() {
			o.lookAgain(true)
		}
		for _, p := range j.placings {
			p.watch.look(j, p)
		}
	default:
		if e.class != isOther {
			j.event(e)
		}
	}
	j.began = true
}

func (j *judge) sorted() []*owner {
	all := make([]*owner, 0, len(j.owners))
	for _, o := range j.owners {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *owner) int { return cmp.Compare(a.key, b.key) })
	return all
}

// open begins a hole, or the first list.
func (j *judge) open(e *event, before int64) {
	for id, k := range j.objects {
		if e.about == "" || kindOf(id) == e.about {
			k.confirmed = false
		}
	}
	if j.registry.blind = j.registry.blind || e.about == "" || e.about == kindCluster; e.about == kindCluster {
		return
	}
	if !j.began {
		before = 0
	} else if e.typed == typeHole {
		before = j.now
	}
	if len(j.listing) == 0 && j.began {
		j.sum(before)
	}
	j.reason = cmp.Or(e.reason, map[string]string{typeBegin: "the recording began again", typeHole: "the watch of " + e.about + " was lost"}[e.typed])
	if e.about != "" && e.typed == typeHole && e.reason != "" {
		j.reason = e.about + ": " + e.reason
	}
	if since, ok := j.listing[e.about]; ok {
		before = since
	}
	j.listing[e.about] = before
}

func kindOf(id string) string {
	for i := range id {
		if id[i] == ' ' {
			return id[:i]
		}
	}
	return id
}

// close ends a list: what was not in it is gone.
func (j *judge) close(e *event) {
	var gone []string
	for id, k := range j.objects {
		if k.there && !k.confirmed && (e.about == "" || kindOf(id) == e.about) {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		k := j.objects[id]
		kind := kindOf(id)
		j.put(&event{class: k.class, kind: kind, key: id[len(kind)+1:], gone: true, rv: k.rv}, k, k.class)
	}
	if e.about == "" || e.about == kindCluster {
		j.registry.listed(j.now)
	}
	if e.about == kindCluster {
		return
	}
	since := j.listing[e.about]
	if delete(j.listing, e.about); e.about == "" {
		clear(j.listing) // all was listed
	}
	if len(j.listing) > 0 {
		return
	}
	if since > 0 {
		j.report.Holes = append(j.report.Holes, Hole{at(since), at(j.now), j.reason})
	}
	j.whole = j.now
	for _, o := range j.owners {
		o.forget()
	}
	for _, p := range j.placings {
		p.watch = decisionWatch{}
	}
}

// sum adds to the time that was judged.
func (j *judge) sum(until int64) {
	if d := until - j.whole - j.lag; d > 0 && j.whole > 0 {
		j.report.Judged += Duration(d)
	}
}

// end looks once more at the last time, and says what stayed open.
func (j *judge) end() {
	if len(j.listing) > 0 {
		for _, since := range j.listing {
			if since > 0 {
				j.report.Holes = append(j.report.Holes, Hole{at(since), at(j.now), j.reason + ", and the recording ends before everything was listed again"})
				break
			}
		}
	} else {
		j.sum(j.now)
		for _, o := range j.sorted() {
			o.lookAgain(true)
		}
		for _, p := range j.placings {
			p.watch.look(j, p)
		}
	}
	for _, o := range j.sorted() {
		if o.fault != "" {
			j.report.Notes = append(j.report.Notes, fmt.Sprintf("%s is not judged: %s", o.key, o.fault))
		}
		if len(o.pending) > 0 {
			for _, d := range o.pending {
				d.finding.Grade = Suspicious
				j.report.Findings = append(j.report.Findings, d.finding)
			}
		}
		if len(o.members) > 0 {
			j.report.Owners++
		}
	}
	if n := j.report.Unclear; n > 0 {
		j.report.Notes = append(j.report.Notes, fmt.Sprintf("%d starts while decisions were rewritten in too many ways to look at all views: at most suspicious", n))
	}
	slices.SortStableFunc(j.report.Findings, func(a, b Finding) int { return a.At.Compare(b.At) })
}

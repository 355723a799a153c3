// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"
)

// last is what is known of an object, by the lines so far.
type last struct {
	rv, generation int64
	there          bool
	index          int // of its event
}

// gap is a time of which the logs do not say everything that happened to a kind: from before one event until behind another.
type gap struct {
	from, to int
	reason   string
}

// doubt is an uncertain write.
type doubt struct {
	gap
	at int64 // when it had ended
}

// assembler makes a recording of audit logs. Writes are in the order of their resourceVersions. The first list of all objects of a
// kind says what there was before, and from then on a write that is missing leaves a hole.
type assembler struct {
	out     []event
	known   map[string]map[string]last // by kind and key
	whole   map[string]bool            // kinds that were listed
	gaps    map[string][]gap
	doubts  map[string]map[string]doubt
	members map[string]map[string]bool // of the list that is read now
	listing map[string]int64           // its resourceVersion
	quiet   int                        // how many events say how everything was before the first write
	writes  bool
}

// fromAudit puts the lines of audit logs together.
func fromAudit(logs [][]logged) (*Recording, error) {
	ignored := map[string]int{}
	first, end := int64(math.MaxInt64), int64(0)
	kinds := map[string]bool{}
	var all []logged
	for n, log := range logs {
		until := int64(0)
		for i := range log {
			l := &log[i]
			if l.log = int32(n); l.doing == torn {
				continue
			}
			first, until = min(first, l.received), max(until, l.at)
			if l.doing == other {
				ignored[l.kind]++
			} else {
				kinds[l.kind] = true
			}
		}
		end = max(end, until)
		tail := len(log)
		if tail > 0 && log[tail-1].doing == torn {
			tail--
			for _, kind := range kindsOf {
				l := log[tail]
				l.doing, l.kind, l.at, l.received, l.reason = lost, kind, until, until, fmt.Sprintf("a log ends in the middle of line %d", l.of)
				log = append(log, l)
			}
		}
		log = slices.DeleteFunc(log, func(l logged) bool { return l.doing == other || l.doing == torn })
		if all == nil {
			all = log
		} else {
			all = append(all, log...)
		}
		logs[n] = nil
	}
	clusters := kinds[kindCluster]
	if delete(kinds, kindCluster); len(kinds) == 0 {
		return nil, errors.New("the audit log has no request for an object of a rollout: its policy has to have them at the level RequestResponse")
	}
	newClock(all).place(all)
	a := &assembler{known: map[string]map[string]last{}, whole: map[string]bool{}, gaps: map[string][]gap{}, doubts: map[string]map[string]doubt{},
		members: map[string]map[string]bool{}, listing: map[string]int64{}}
	for i := range all {
		a.take(&all[i])
	}
	all = nil
	needed := map[string]bool{kindCluster: clusters}
	for kind := range kinds {
		for _, k := range familyOf(kind) {
			needed[k] = true
		}
	}
	for k, is := range needed {
		if is && !a.whole[k] {
			a.gaps[k] = append(a.gaps[k], gap{0, len(a.out) + 1, "the audit log has no list of them all"})
		}
		for _, d := range a.doubts[k] {
			a.gaps[k] = append(a.gaps[k], gap{d.from, len(a.out) + 1, d.reason})
		}
	}
	maps.DeleteFunc(a.gaps, func(k string, _ []gap) bool { return !needed[k] })
	r, err := newRecording(a.recording(first, end))
	if err == nil {
		maps.Copy(r.Ignored, ignored)
		r.anew = true
	}
	return r, err
}

// familyOf are the kinds that have to be known where one is.
func familyOf(kind string) []string {
	all := []string{"Placement", "PlacementDecision"}
	switch kind {
	case "ManifestWorkReplicaSet", "ManifestWork":
		return append(all, "ManifestWorkReplicaSet", "ManifestWork")
	case "ClusterManagementAddOn", "ManagedClusterAddOn":
		return append(all, "ClusterManagementAddOn", "ManagedClusterAddOn")
	case "Policy", "PlacementBinding", "PolicySet":
		return append(all, "Policy", "PlacementBinding", "PolicySet")
	}
	return all
}

// effect is the resourceVersion at which, or behind which, a line tells something.
func (l *logged) effect() int64 {
	if l.doing == item {
		return l.before
	}
	return l.rv
}

func (a *assembler) take(l *logged) {
	if a.known[l.kind] == nil {
		a.known[l.kind], a.doubts[l.kind] = map[string]last{}, map[string]doubt{}
	}
	k, was := a.known[l.kind][l.key]
	switch l.doing {
	case wrote, made:
		a.writes = a.writes || l.kind != kindCluster
		a.lacks(l, k, was)
		a.put(l, k)
	case item:
		a.member(l)
		fallthrough
	case saw:
		if k.rv < l.rv && (was || a.whole[l.kind]) {
			a.missing(l, k, was, "a write before %s at resourceVersion %d is missing")
		}
		a.put(l, k)
	case listed:
		a.list(l)
	case removed:
		if a.writes = a.writes || l.kind != kindCluster; k.there {
			a.remove(l.kind, l.key, k, l.at, l.by, l.source)
		}
		delete(a.doubts[l.kind], l.key)
	case lost:
		d, is := a.doubts[l.kind][l.key]
		if !is {
			d.from, d.reason = len(a.out), cmp.Or(l.reason, fmt.Sprintf("the audit log does not say what came of a write of %s, in line %d", cmp.Or(l.key, "one"), l.of))
		}
		d.at = max(d.at, l.at)
		a.doubts[l.kind][l.key] = d
	}
}

// put takes the state of an object, if it is a later one.
func (a *assembler) put(l *logged, k last) {
	if k.rv < l.rv || l.gone && k.there {
		a.known[l.kind][l.key] = last{l.rv, l.generation, !l.gone, len(a.out)}
		a.out = append(a.out, l.event)
	}
	if !a.writes {
		a.quiet = len(a.out)
	}
	if d, is := a.doubts[l.kind][l.key]; is && l.received >= d.at {
		delete(a.doubts[l.kind], l.key)
		a.gap(l.kind, d.from, d.reason)
	}
}

// lacks finds that a write is missing before another one.
func (a *assembler) lacks(l *logged, k last, was bool) {
	switch {
	case was && l.rv <= k.rv: // nothing was changed
	case l.doing == made && k.there:
		a.missing(l, k, was, "the deletion before %s at resourceVersion %d is missing")
	case l.doing == made:
	case !was && !a.whole[l.kind]: // from before the log
	case !k.there, l.before > k.rv, k.generation > 0 && l.generation > k.generation+1:
		a.missing(l, k, was, "a write before %s at resourceVersion %d is missing")
	}
}

// missing notes that something is missing before a line, since the object was seen last, or since it was created.
func (a *assembler) missing(l *logged, k last, was bool, format string) {
	from := k.index + 1
	if !was || !k.there {
		from = sort.Search(len(a.out), func(i int) bool { return a.out[i].at >= l.created-int64(time.Second) })
	}
	a.gaps[l.kind] = append(a.gaps[l.kind], gap{from, len(a.out) + 1, fmt.Sprintf(format, l.key, l.rv)})
}

// gap notes a gap until now.
func (a *assembler) gap(kind string, from int, reason string) {
	a.gaps[kind] = append(a.gaps[kind], gap{from, len(a.out), reason})
}

func (a *assembler) remove(kind, key string, k last, at int64, by string, from source) {
	e := a.out[k.index] // as a watch has it
	e.typed, e.gone, e.at, e.by, e.source = "DELETED", true, at, by, from
	k.there, k.index = false, len(a.out)
	a.known[kind][key] = k
	a.out = append(a.out, e)
}

// member takes one of the objects of a list.
func (a *assembler) member(l *logged) {
	if a.listing[l.kind] != l.before || a.members[l.kind] == nil {
		a.listing[l.kind], a.members[l.kind] = l.before, map[string]bool{}
	}
	a.members[l.kind][l.key] = true
}

// list ends a list, if it has them all: what is not in it is gone.
func (a *assembler) list(l *logged) {
	members := a.members[l.kind]
	if a.listing[l.kind] != l.rv {
		members = nil
	}
	if l.total != len(members) {
		return
	}
	for _, key := range sortedKeys(a.known[l.kind]) {
		if k := a.known[l.kind][key]; k.there && !members[key] {
			if a.whole[l.kind] {
				a.gaps[l.kind] = append(a.gaps[l.kind], gap{k.index + 1, len(a.out) + 1, "the deletion of " + key + " is missing"})
			}
			a.remove(l.kind, key, k, l.at, "", l.source)
		}
	}
	if !a.whole[l.kind] {
		a.whole[l.kind] = true
		a.gap(l.kind, 0, "the audit log lists them all only then")
	}
	for key, d := range a.doubts[l.kind] {
		if l.received >= d.at {
			delete(a.doubts[l.kind], key)
			a.gap(l.kind, d.from, d.reason)
		}
	}
}

// recording writes the events with what begins and ends, and with holes where something is missing.
func (a *assembler) recording(first, end int64) []event {
	opens, closes := map[int][]event{}, map[int][]string{}
	for _, kind := range sortedKeys(a.gaps) {
		gaps := a.gaps[kind]
		slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
		for i := 0; i < len(gaps); {
			g := gaps[i]
			for i++; i < len(gaps) && gaps[i].from <= g.to; i++ {
				g.to = max(g.to, gaps[i].to)
			}
			if g.from = max(g.from, a.quiet); g.to <= g.from { // nothing was written meanwhile
				continue
			}
			opens[g.from] = append(opens[g.from], event{typed: typeHole, about: kind, reason: g.reason})
			if g.to <= len(a.out) { // the others stay open
				closes[g.to] = append(closes[g.to], kind)
			}
		}
	}
	out := make([]event, 0, len(a.out)+2*len(opens)+3)
	now := first
	say := func(e event) {
		e.at = now
		out = append(out, e)
	}
	say(event{typed: typeBegin})
	there := map[string]map[string]int{} // of the kinds with gaps
	for kind := range a.gaps {
		there[kind] = map[string]int{}
	}
	for i := 0; i <= len(a.out); i++ {
		if i == a.quiet {
			say(event{typed: typeListed})
		}
		for _, kind := range closes[i] {
			for _, key := range sortedKeys(there[kind]) {
				e := a.out[there[kind][key]]
				e.typed = "ADDED"
				say(e)
			}
			say(event{typed: typeListed, about: kind})
		}
		for _, e := range opens[i] {
			say(e)
		}
		if i == len(a.out) {
			break
		}
		e := a.out[i]
		if objects := there[e.kind]; objects != nil && e.gone {
			delete(objects, e.key)
		} else if objects != nil {
			objects[e.key] = i
		}
		out = append(out, e)
		now = max(now, e.at)
	}
	now = end
	say(event{typed: typeBookmark})
	earliest := int64(math.MaxInt64)
	for i := len(out) - 1; i >= 0; i-- {
		e := &out[i]
		earliest = min(earliest, e.at)
		e.true, e.position = earliest, position{line: i + 1}
	}
	return out
}

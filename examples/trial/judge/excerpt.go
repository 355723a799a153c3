// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	mostExcerpts = 40    // of a report
	mostLines    = 3_000 // that an excerpt is looked for in
	mostTries    = 1_000 // of judging a part, for one excerpt

	never = 10_000 * time.Hour
)

// Excerpts gives the first finding of each owner, kind and grade its excerpt: the numbers of lines that are a recording by
// themselves, in which the same finding is found. As many lines are left out as can be, one part after the other.
func Excerpts(r *Recording, report *Report, o Options) {
	done := map[string]bool{}
	for i := range report.Findings {
		f := &report.Findings[i]
		key := fmt.Sprint(f.Owner, f.Kind, f.Grade)
		if done[key] || len(done) == mostExcerpts {
			continue
		}
		done[key] = true
		Excerpt(r, report, i, o, nil)
	}
}

// Excerpt gives one finding its excerpt, by its index. Because says of some lines, by their numbers, whether they still have what made the writer decide as it
// did, as far as the caller can ask that. It may be nil: then an excerpt shows what was wrong, and may lack why.
func Excerpt(r *Recording, report *Report, i int, o Options, because func(lines []int) bool) {
	o.Should = nil // it takes time, and is not compared
	f := &report.Findings[i]
	f.Excerpt = numbersOf(smallest(r, report, f, o, because))
}

func numbersOf(part []event) (lines []int) {
	for i := range part {
		lines = append(lines, part[i].line)
	}
	return lines
}

// smallest leaves out of what concerns a finding what it does not need. Where it can, what is left shows nothing that the whole does not
// show. It is empty where too much concerns it.
func smallest(r *Recording, report *Report, f *Finding, o Options, because func(lines []int) bool) []event {
	type found struct {
		kind           Kind
		grade          Grade
		owner, cluster string
		line           int
		left           string // whether the objects of deselected are there
	}
	of := func(x *Finding) found {
		f := found{kind: x.Kind, grade: x.Grade, owner: x.Owner, cluster: x.Cluster, line: x.Line}
		if x.Kind == Leavers {
			f.left, _, _ = strings.Cut(x.Text, ":")
		}
		return f
	}
	whole := map[found]bool{}
	for i := range report.Findings {
		whole[of(&report.Findings[i])] = true
	}
	most, patience := mostTries, o.Patience
	if f.Kind != Stuck && f.Kind != Left && f.Kind != Status && f.Kind != Unfinished {
		o.Patience = never // what does not happen is not looked for
	} else {
		most = mostTries / 5 // it is, at each line
	}
	part := concerned(r, f, o, true)
	alone := func(part []event, pure bool) bool { // it shows the finding, and pure says that it shows nothing else
		again := slices.Clone(part)
		for i := range again {
			again[i].true = 0
		}
		sub, err := newRecording(again)
		if err != nil {
			return false
		}
		o := o
		if pure {
			o.Patience = patience
		} else {
			o.only = f.Line
		}
		is := false
		for _, x := range Judge(sub, o).Findings {
			is = is || of(&x) == of(f)
			if pure && !whole[of(&x)] {
				return false
			}
		}
		return is && (because == nil || because(numbersOf(part)))
	}
	if len(part) > mostLines || !alone(part, false) {
		if part = concerned(r, f, o, false); len(part) > mostLines || !alone(part, false) {
			return nil
		}
	}
	small := shrink(part, most, func(part []event) bool { return alone(part, false) })
	if alone(small, true) {
		return small
	}
	if part = concerned(r, f, o, false); len(part) <= mostLines && alone(part, true) {
		return shrink(part, most, func(part []event) bool { return alone(part, true) })
	}
	return small
}

// shrink leaves out one part after the other, as long as what is left shows it.
func shrink(part []event, most int, shows func([]event) bool) []event {
	tries := 0
	for size := (len(part) + 1) / 2; size > 0 && tries < most; size /= 2 {
		for at := len(part) - size; at > -size && tries < most; at -= size {
			from := max(at, 0)
			without := slices.Concat(part[:from], part[at+size:])
			if tries++; len(without) < len(part) && shows(without) {
				part = without
			}
		}
	}
	return part
}

// concerned are the lines that a finding may need, in the order of the recording. Briefly leaves out what is over long before.
func concerned(r *Recording, f *Finding, o Options, briefly bool) []event {
	placements := r.placementsOf(f.Owner)
	binds, _, _ := strings.Cut(strings.TrimPrefix(f.Owner, "Policy "), "/") // in this namespace
	place := map[string]string{}                                            // of decisions
	owner := map[string]string{}                                            // of holders
	old := f.At.UnixNano() - 5*int64(cmp.Or(o.Lag, DefaultOptions.Lag))
	last := map[string]int{}    // by object: its last line that is old
	version := map[string]int{} // by object: the line that brought the version that it then had
	var part []event
	var drop []int
	found, lost := false, r.lost(f)
	for i := range r.events {
		e := &r.events[i]
		takes := false
		switch e.class {
		case isNothing:
			takes = !found && (e.typed != typeBookmark || e.line == f.Line)
		case isOwner, isRoot:
			takes = !found && e.id() == f.Owner
		case isBinding, isSet:
			takes = !found && strings.HasPrefix(e.key, binds+"/") && strings.HasPrefix(f.Owner, "Policy ")
		case isCluster:
			takes = !found && lost[e.key]
		case isPlacement:
			takes = (!found || f.Kind == Kept) && placements[e.key]
		case isDecision:
			if !e.gone {
				place[e.id()] = e.state.(*decisionState).placement
			}
			takes = (!found || f.Kind == Kept) && placements[place[e.id()]]
		case isHolder:
			if !e.gone {
				owner[e.id()] = e.state.(*holderState).owner
			}
			takes = !found && owner[e.id()] == f.Owner
		}
		if e.line == f.Line {
			takes, found = true, true
		}
		if !takes {
			continue
		}
		if id := e.id(); briefly && e.class != isNothing && e.true < old && e.line != f.Line {
			if n, ok := last[id]; ok && n != version[id] {
				drop = append(drop, n)
			}
			if n, ok := version[id]; e.class == isHolder {
				if !ok || e.gone || part[n].gone || part[n].state.(*holderState).carries() != e.state.(*holderState).carries() {
					if ok && n != last[id] {
						drop = append(drop, n)
					} else if ok {
						drop = append(drop, n)
					}
					version[id] = len(part)
				}
			} else {
				version[id] = -1
			}
			last[id] = len(part)
		}
		part = append(part, *e)
		if found && f.Kind == Kept && len(part) > mostLines {
			break
		}
	}
	slices.Sort(drop)
	drop = slices.Compact(drop)
	var kept []event
	for i := range part {
		if _, dropped := slices.BinarySearch(drop, i); !dropped {
			kept = append(kept, part[i])
		}
	}
	slices.SortStableFunc(kept, func(a, b event) int { return cmp.Compare(a.line, b.line) })
	return kept
}

// lost are the clusters with a ManagedCluster that a finding may need: those that its owner has lost an object on.
func (r *Recording) lost(f *Finding) map[string]bool {
	all, owner := map[string]bool{}, map[string]string{}
	for i := range r.events {
		switch e := &r.events[i]; {
		case e.class != isHolder || f.Kind != Leavers && f.Kind != Complete:
		case !e.gone:
			owner[e.id()] = e.state.(*holderState).owner
		case owner[e.id()] == f.Owner:
			cluster, _, _ := strings.Cut(e.key, "/")
			all[cluster] = true
		}
	}
	return all
}

// placementsOf are the placements that an owner names, or that a policy in its namespace may be bound to. A placement has itself.
func (r *Recording) placementsOf(owner string) map[string]bool {
	all := map[string]bool{strings.TrimPrefix(owner, "Placement "): true}
	namespace, _, _ := strings.Cut(strings.TrimPrefix(owner, "Policy "), "/")
	for i := range r.events {
		switch e := &r.events[i]; {
		case e.gone:
		case e.class == isOwner && e.id() == owner:
			for _, ref := range e.state.(*ownerState).spec.refs {
				all[ref.placement] = true
			}
		case e.class == isBinding && strings.HasPrefix(owner, "Policy ") && strings.HasPrefix(e.key, namespace+"/"):
			all[e.state.(*bindingState).placement] = true
		}
	}
	return all
}

// Lines copies lines of a recording, by their numbers, which are in order. Where the input is compressed or an audit log, it writes
// what is judged of them.
func Lines(out io.Writer, in io.ReaderAt, r *Recording, numbers []int) error {
	if r.anew {
		return (&anonymiser{clear: true}).write(out, slices.DeleteFunc(slices.Clone(r.events), func(e event) bool {
			_, wanted := slices.BinarySearch(numbers, e.line)
			return !wanted
		}))
	}
	byLine := map[int]*event{}
	for i := range r.events {
		if _, wanted := slices.BinarySearch(numbers, r.events[i].line); wanted {
			byLine[r.events[i].line] = &r.events[i]
		}
	}
	for _, n := range numbers {
		e := byLine[n]
		if e == nil {
			return fmt.Errorf("the recording has no line %d", n)
		}
		if _, err := io.Copy(out, io.NewSectionReader(in, e.offset, int64(e.length))); err != nil {
			return err
		}
	}
	return nil
}

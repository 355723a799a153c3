// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"container/heap"
	"time"
)

// event is when a member does something in an attempt.
type event struct {
	at      time.Time
	member  int
	attempt int
}

// events are a heap in the order of time.
type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// expect notes when the member does something next.
func (p *play) expect(i int) {
	if at, found := p.members[i].next(p.now); found {
		heap.Push(&p.coming, event{at, i, p.members[i].attempt})
	}
}

// due takes in what happens now.
func (p *play) due() {
	for len(p.coming) > 0 && !p.coming[0].at.After(p.now) {
		e := heap.Pop(&p.coming).(event)
		if p.stale(e) {
			continue
		}
		p.news = append(p.news, e.member)
		if m := &p.members[e.member]; !m.deselected && m.leaves(p.now) {
			p.leaving = append(p.leaving, e.member)
		}
		p.expect(e.member)
	}
}

// stale says whether the event is of a life that is over: the cluster is late for ever, in a later attempt, or has no object any more.
func (p *play) stale(e event) bool {
	m := &p.members[e.member]
	return m.life == nil || m.gone || m.attempt != e.attempt
}

// next does what run's next does.
func (p *play) next() (next time.Time, found bool) {
	if after := p.last.RecheckAfter; after > 0 {
		next, found = p.now.Add(after), true
	}
	for len(p.coming) > 0 && p.stale(p.coming[0]) {
		heap.Pop(&p.coming)
	}
	if len(p.coming) > 0 && (!found || p.coming[0].at.Before(next)) {
		next, found = p.coming[0].at, true
	}
	return next, found
}

// SPDX-License-Identifier: Apache-2.0

package judge

import "slices"

// event replays the event of an object.
func (j *judge) event(e *event) {
	k := j.objects[e.id()]
	if k == nil {
		k = &known{class: e.class}
		j.objects[e.id()] = k
	}
	if k.rv > e.rv || k.rv == e.rv && k.there != e.gone {
		if len(j.listing) == 0 {
			j.report.Repeated++
		}
		k.confirmed = k.confirmed || !e.gone
		return
	}
	j.put(e, k, e.class)
}

// put gives an object its next state.
func (j *judge) put(e *event, k *known, c class) {
	k.rv, k.there, k.confirmed = e.rv, !e.gone, true
	switch c {
	case isOwner:
		var next *ownerState
		if !e.gone {
			next = e.state.(*ownerState)
		}
		j.putOwner(e.id(), next)
	case isRoot, isBinding, isSet:
		for _, key := range j.bound.put(e) {
			j.putOwner("Policy "+key, j.bound.wants(key))
		}
	case isCluster:
		j.registry.put(e, j.now)
	case isPlacement:
		var next *placementState
		if !e.gone {
			next = e.state.(*placementState)
		}
		p := j.placing(e.key)
		j.changePlacing(p, func() { p.placement.put(j.now, next, j.now-j.horizon) })
		p.watch.placed(p)
	case isDecision:
		j.putDecision(e, k)
	case isHolder:
		var next *holderState
		if !e.gone {
			next = e.state.(*holderState)
		}
		if k.owner != "" && (next == nil || next.owner != k.owner) {
			j.owner(k.owner).hold(e, nil)
		}
		if next != nil {
			k.owner = next.owner
			j.owner(k.owner).hold(e, next)
		}
	}
}

func (j *judge) owner(key string) *owner {
	o := j.owners[key]
	if o == nil {
		o = &owner{judge: j, key: key, members: map[string]*member{}, surplus: map[string]int64{}, stages: map[stagesKey]*stages{}}
		j.owners[key] = o
	}
	return o
}

func (j *judge) placing(key string) *placing {
	p := j.placings[key]
	if p == nil {
		p = newPlacing(key)
		j.placings[key] = p
	}
	return p
}

func (j *judge) putOwner(key string, next *ownerState) {
	o := j.owner(key)
	o.look()
	before := o.states.now()
	o.states.put(j.now, next, j.now-j.horizon)
	if before == nil || next == nil || before.spec != next.spec {
		if next.wantsAnother(before) {
			o.event = j.taken
		}
		j.wants(o, next)
	} else if before.annotations[j.IgnoreAnnotation] != next.annotations[j.IgnoreAnnotation] {
		o.isOpen, o.said = false, false // an operator ignored others
	}
	o.judgeClaims(before, next)
}

// wants has an owner want something else.
func (j *judge) wants(o *owner, next *ownerState) {
	o.changed, o.isOpen, o.epoch = j.now, false, o.epoch+1
	for key, users := range j.users {
		j.users[key] = slices.DeleteFunc(users, func(u *owner) bool { return u == o })
	}
	if next == nil {
		return
	}
	o.fault = next.spec.fault
	for i := range next.spec.refs {
		if key := next.spec.refs[i].placement; !slices.Contains(j.users[key], o) {
			j.users[key] = append(j.users[key], o)
		}
	}
}

func (j *judge) putDecision(e *event, k *known) {
	var next *decisionState
	if !e.gone {
		next = e.state.(*decisionState)
	}
	if k.placement != "" && (next == nil || next.placement != k.placement) {
		j.decide(j.placing(k.placement), e.key, nil)
	}
	if next != nil {
		k.placement = next.placement
		j.decide(j.placing(k.placement), e.key, next)
	}
}

func (j *judge) decide(p *placing, key string, next *decisionState) {
	name := key[slices.Index([]byte(key), '/')+1:]
	d := p.decisions[name]
	if d == nil {
		d = &span[decisionState]{}
		p.decisions[name] = d
	}
	before := d.now()
	j.changePlacing(p, func() {
		d.put(j.now, next, j.now-j.horizon)
		if next != nil {
			for _, c := range next.clusters {
				p.places[c]++
			}
		}
		var left []string
		if before != nil {
			for _, c := range before.clusters {
				if p.places[c]--; p.places[c] == 0 {
					delete(p.places, c)
					left = append(left, c)
				}
			}
		}
		p.watch.moved(j, p, left, next)
	})
}

// changePlacing has a placement, or its decisions, changed.
func (j *judge) changePlacing(p *placing, change func()) {
	for _, o := range j.users[p.key] {
		o.look()
	}
	half := p.fleet == nil
	change()
	p.dirty, p.changed, p.event = true, p.changed+1, j.taken
	if p.read(); half {
		p.half = j.now
	}
	if len(j.listing) == 0 {
		p.watch.look(j, p)
	}
	for _, o := range j.users[p.key] {
		o.settle(p)
		if s := o.states.now(); s != nil && len(j.listing) == 0 {
			o.lookLeft()
		}
	}
}

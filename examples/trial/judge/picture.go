// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	mostPictures = 20 // owners on a page
	mostLanes    = 40 // clusters of an owner
)

// A picture is what happened to an owner's clusters over time: a lane for each.
type picture struct {
	Owner    string
	Versions []version
	Lanes    []*lane
	Others   int // clusters that have no lane
	holes    []stretch
	from, to int64
}

// version is what its number in a picture stands for.
type version struct {
	Number int
	Text   string
}

// A lane is a cluster, or what is said of the owner itself.
type lane struct {
	Name     string
	selected []stretch // by the placements of the owner
	holds    []stretch // an object, by what it says
	Marks    []*markOf
	first    int64 // when its object came
}

// stretch is something that stays as it is for a time.
type stretch struct {
	from, to int64 // to is 0 while it lasts
	class    string
	text     string
	version  int // number of its version
}

// markOf is a finding, by its number on the page.
type markOf struct {
	Number  int
	Finding *Finding
}

// pictures draws the owners of which something was found, or the first ones where nothing was.
func (r *Recording) pictures(report *Report) []*picture {
	marks := map[string][]*markOf{}
	var order []string
	for i := range report.Findings {
		f := &report.Findings[i]
		if marks[f.Owner] == nil {
			order = append(order, f.Owner)
		}
		marks[f.Owner] = append(marks[f.Owner], &markOf{i + 1, f})
	}
	d := r.draw()
	for _, owner := range slices.Sorted(maps.Keys(d.owners)) {
		if !slices.Contains(order, owner) && len(report.Findings) == 0 {
			order = append(order, owner)
		}
	}
	var all []*picture
	for _, owner := range order[:min(len(order), mostPictures)] {
		all = append(all, d.picture(r, owner, marks[owner]))
	}
	return all
}

// drawing is a recording as stretches of time.
type drawing struct {
	owners   map[string]*drawn                          // of objects
	places   map[string]map[string]map[string][]stretch // by placement, cluster and decision
	holes    []stretch
	from, to int64
}

// drawn are the clusters of an owner.
type drawn struct {
	clusters map[string]map[string][]stretch // by object
	versions []string
}

func (r *Recording) draw() *drawing {
	d := &drawing{owners: map[string]*drawn{}, places: map[string]map[string]map[string][]stretch{}, from: math.MaxInt64}
	owners, inDecision, placed := map[string]string{}, map[string][]string{}, map[string]string{}
	open := map[string]int64{} // holes by kind
	for i := range r.events {
		e := &r.events[i]
		d.to = max(d.to, e.true)
		if e.class == isCluster || e.about == kindCluster {
			continue // nothing of it is shown
		}
		switch e.class {
		case isNothing:
			switch e.typed {
			case typeHole:
				open[e.about] = e.true
				d.stop(e.about, e.true)
			case typeListed:
				if since, ok := open[e.about]; ok {
					d.holes = append(d.holes, stretch{from: since, to: e.true, text: e.about + ": " + e.reason})
					delete(open, e.about)
				}
			}
			continue
		case isHolder:
			d.holder(e, owners)
		case isDecision:
			d.decision(e, inDecision, placed)
		}
		d.from = min(d.from, e.true)
	}
	for kind, since := range open {
		d.holes = append(d.holes, stretch{from: since, to: d.to, text: kind})
	}
	if d.from > d.to {
		d.from = d.to
	}
	return d
}

// end closes the last stretch of several at a time.
func end(all []stretch, at int64) []stretch {
	if n := len(all); n > 0 && all[n-1].to == 0 {
		all[n-1].to = at
	}
	return all
}

// stop closes what is open of a kind.
func (d *drawing) stop(kind string, at int64) {
	if kind == "PlacementDecision" {
		for _, clusters := range d.places {
			for _, decisions := range clusters {
				for name := range decisions {
					decisions[name] = end(decisions[name], at)
				}
			}
		}
		return
	}
	for _, o := range d.owners {
		for _, objects := range o.clusters {
			for id := range objects {
				if kindOf(id) == kind {
					objects[id] = end(objects[id], at)
				}
			}
		}
	}
}

func (d *drawing) holder(e *event, owners map[string]string) {
	id := e.id()
	cluster, _, _ := strings.Cut(e.key, "/")
	if e.gone {
		if o := d.owners[owners[id]]; o != nil {
			o.clusters[cluster][id] = end(o.clusters[cluster][id], e.true)
		}
		return
	}
	h := e.state.(*holderState)
	owners[id] = h.owner
	o := d.owners[h.owner]
	if o == nil {
		o = &drawn{clusters: map[string]map[string][]stretch{}}
		d.owners[h.owner] = o
	}
	n := slices.Index(o.versions, h.version)
	if n < 0 {
		n, o.versions = len(o.versions), append(o.versions, h.version)
	}
	if o.clusters[cluster] == nil {
		o.clusters[cluster] = map[string][]stretch{}
	}
	s := stretch{from: e.true, class: h.class(), version: n + 1}
	s.text = fmt.Sprintf("version %d, %s", s.version, h.class())
	before := o.clusters[cluster][id]
	if k := len(before); k > 0 && before[k-1].to == 0 && before[k-1].class == s.class && before[k-1].version == s.version {
		return
	}
	o.clusters[cluster][id] = append(end(before, e.true), s)
}

// class is a word for how an object stands.
func (h *holderState) class() string {
	switch {
	case h.deleting:
		return "terminating"
	case h.inform:
		return "informed"
	default:
		return [...]string{"started", "progressing", "succeeded", "failed"}[h.answer]
	}
}

func (d *drawing) decision(e *event, in map[string][]string, placed map[string]string) {
	var now []string
	if !e.gone {
		now, placed[e.key] = e.state.(*decisionState).clusters, e.state.(*decisionState).placement
	}
	clusters := d.places[placed[e.key]]
	if clusters == nil {
		clusters = map[string]map[string][]stretch{}
		d.places[placed[e.key]] = clusters
	}
	for _, c := range in[e.key] {
		if !slices.Contains(now, c) {
			clusters[c][e.key] = end(clusters[c][e.key], e.true)
		}
	}
	for _, c := range now {
		if clusters[c] == nil {
			clusters[c] = map[string][]stretch{}
		}
		if all := clusters[c][e.key]; len(all) == 0 || all[len(all)-1].to != 0 {
			clusters[c][e.key] = append(all, stretch{from: e.true})
		}
	}
	in[e.key] = now
}

// picture has the clusters of an owner: first those of which something was found, then those that were first.
func (d *drawing) picture(r *Recording, owner string, marks []*markOf) *picture {
	p := &picture{Owner: owner, holes: d.holes, from: d.from, to: max(d.to, d.from+int64(time.Second))}
	lanes := map[string]*lane{}
	of := func(name string) *lane {
		if lanes[name] == nil {
			lanes[name] = &lane{Name: name, first: math.MaxInt64}
		}
		return lanes[name]
	}
	if o := d.owners[owner]; o != nil {
		for i, v := range o.versions {
			p.Versions = append(p.Versions, version{i + 1, short(v)})
		}
		for cluster, objects := range o.clusters {
			for _, id := range sortedKeys(objects) {
				l := of(cluster)
				l.holds = append(l.holds, objects[id]...)
				l.first = min(l.first, objects[id][0].from)
			}
		}
	}
	for placement := range r.placementsOf(owner) {
		for cluster, decisions := range d.places[placement] {
			for _, name := range sortedKeys(decisions) {
				of(cluster).selected = append(of(cluster).selected, decisions[name]...)
			}
		}
	}
	for _, m := range marks {
		l := of(cmp.Or(m.Finding.Cluster, "the rollout itself"))
		l.Marks = append(l.Marks, m)
	}
	p.Lanes = slices.SortedFunc(maps.Values(lanes), func(a, b *lane) int {
		return cmp.Or(cmp.Compare(b2i(len(a.Marks) == 0), b2i(len(b.Marks) == 0)), cmp.Compare(a.first, b.first), cmp.Compare(a.Name, b.Name))
	})
	if p.Others = max(0, len(p.Lanes)-mostLanes); p.Others > 0 {
		p.Lanes = p.Lanes[:mostLanes]
	}
	slices.SortStableFunc(p.Lanes, func(a, b *lane) int { return cmp.Compare(a.first, b.first) })
	return p
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claim is that an owner calls its rollout complete: nothing waits or is under way.
type claim struct {
	placement  string // the one that it is about; empty for all
	generation int64  // of the owner, that it is about; 0 where it does not say
	succeeded  bool   // and no cluster failed
}

// claims reads what conditions say of the present generation. Those that name none may be about an earlier one.
func (o *object) claims(conditions []metav1.Condition, placement string, read func(metav1.Condition) (complete, succeeded bool)) (all []claim) {
	for _, c := range conditions {
		complete, succeeded := read(c)
		if complete && (c.ObservedGeneration == 0 || c.ObservedGeneration == o.Metadata.Generation) {
			all = append(all, claim{placement, c.ObservedGeneration, succeeded})
		}
	}
	return all
}

// judgeClaims judges what an owner calls complete with this write, and did not before.
func (o *owner) judgeClaims(before, next *ownerState) {
	j := o.judge
	if before == nil || next == nil || next.deleting || o.fault != "" || !j.judges() {
		return
	}
	for _, c := range next.claims {
		if !slices.Contains(before.claims, c) && j.isOfUser() {
			o.judgeClaim(c)
		}
	}
}

// judgeClaim judges a claim as a start is. That clusters which left are not done is broken only where a start would be: see judgeLeavers. With
// several placements it may be unknown from which of them they were deselected.
func (o *owner) judgeClaim(c claim) {
	j := o.judge
	all := leniency{withLeft: true, withGone: true}
	truth := o.belies(c, 0, all)
	if truth.right {
		return
	}
	f := Finding{Kind: Complete, Grade: Suspicious, Owner: o.key, Cluster: truth.cluster, holder: o.key}
	seen, alone := o.belies(c, j.lag, all), o.belies(c, j.lag, leniency{})
	if surely := o.belies(c, j.lag, leniency{withLeft: true, withStays: true}); alone.right && j.IgnoreAnnotation != "" && len(o.states.now().spec.refs) == 1 {
		alone = surely
	}
	switch {
	case seen.right:
		f.Explained = Duration(j.least(j.lag, func(lag int64) bool { return o.belies(c, lag, all).right }))
		j.report.Explained = max(j.report.Explained, f.Explained)
	case !seen.all || !alone.all:
		j.report.Unclear++
	case !alone.right:
		f.Grade, f.Cluster, truth.why = Broken, alone.cluster, alone.why
	}
	f.Text = fmt.Sprintf("its rollout is called %s, and %s %s", map[bool]string{true: "successful", false: "complete"}[c.succeeded], f.Cluster, truth.why)
	if j.Should != nil {
		f.Should = j.Should(o.moment(f.Cluster))
	}
	j.find(f)
}

// belied says what speaks against a claim.
type belied struct {
	right        bool // in some view nothing does, or decisions are partially observed, so that none may be seen
	all          bool // all views were looked at
	cluster, why string
}

// belies looks in all views that are at most lag behind for a cluster that is not done. With left, those that left with the version count, too.
func (o *owner) belies(c claim, lag int64, l leniency) (b belied) {
	b.all = true
	now, out, specs := o.judge.now, map[string]bool{}, []*ownerSpec{o.states.now().spec}
	o.states.since(now-lag, func(s *ownerState) bool {
		if s != nil {
			maps.Copy(out, s.ignoredClusters(o.judge.IgnoreAnnotation))
			if c.generation == 0 && !slices.Contains(specs, s.spec) {
				specs = append(specs, s.spec)
			}
		}
		return true
	})
	for _, spec := range specs {
		if b.cluster, b.why = "", ""; !o.beliesOf(spec, c, out, lag, l, &b) {
			b.right = true
			return b
		}
	}
	return b
}

// beliesOf says whether at one of the placements of what is wanted a cluster is not done in each view.
func (o *owner) beliesOf(spec *ownerSpec, c claim, out map[string]bool, lag int64, l leniency, b *belied) bool {
	taken := map[string]bool{} // by a placement before
	for i := range spec.refs {
		r := &spec.refs[i]
		p := o.judge.placing(r.placement)
		fleets, all := p.seen(o.judge.now, lag)
		b.all = b.all && all
		if c.placement == "" || c.placement == r.placement {
			wrong := p.fleet != nil && p.half <= o.judge.now-lag && r.version != "" && !r.all // its deadlines are not read
			for _, f := range fleets {
				wrong = wrong && o.unfinished(r, f, c, func(cluster string) bool { return out[cluster] || taken[cluster] }, lag, l, b)
			}
			if wrong {
				return true
			}
		}
		for _, f := range fleets {
			for cluster := range f.groupOf {
				taken[cluster] = true
			}
		}
	}
	return false
}

// unfinished finds a cluster of a fleet that is not done in any view of its object, or one that left. One with an object in deletion may have
// been done before.
func (o *owner) unfinished(r *ref, f *fleet, c claim, skips func(string) bool, lag int64, l leniency, b *belied) bool {
	undone := func(m *member, l leniency) (could, bool) {
		at := m.stands(o, r.version, &r.strategy, o.judge.now, lag, l)
		return at, !at.succeed && (c.succeeded || !at.give)
	}
	for _, cluster := range sortedKeys(f.groupOf) {
		m := o.member(cluster)
		if skips(cluster) || m.terminates() {
			continue
		}
		if at, is := undone(m, leniency{withLeft: true}); is && (c.succeeded || !m.mayHaveFailed(o, r.version, &r.strategy, lag)) {
			b.cluster, b.why = cluster, "is selected and not done"
			if at == waits {
				b.why = "is selected and waits"
			}
			return true
		}
	}
	if !l.withLeft {
		return false
	}
	for _, cluster := range sortedKeys(o.members) {
		m := o.members[cluster]
		_, was := o.judge.placing(r.placement).lastGroup[cluster]
		if !was || skips(cluster) || o.isPlaced(cluster) {
			continue
		}
		if at, is := undone(m, l); is && !at.wait {
			b.cluster, b.why = cluster, "left with the version and is not done"
			return true
		}
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package judge

// kindCluster is the kind that says whether an operator ignored a cluster by deleting it. Nothing is judged of it, and a hole of it is none of others.
const kindCluster = "ManagedCluster"

// clusterState is a ManagedCluster.
type clusterState struct{ deleting bool }

func (r *reader) cluster(o *object, e *event) error {
	e.class, e.state = isCluster, &clusterState{o.Metadata.DeletionTimestamp != nil}
	return nil
}

// registry are the ManagedClusters.
type registry struct {
	since   map[string]int64 // by name: since when it has been there for certain, and was not deleted
	deleted map[string]bool  // by name: the trace has its deletion, and it was not made again since
	blind   bool             // they are listed, or their watch is lost
}

func (g *registry) put(e *event, now int64) {
	if e.gone || e.state.(*clusterState).deleting {
		delete(g.since, e.key)
		g.deleted[e.key] = true
		return
	}
	delete(g.deleted, e.key)
	if _, is := g.since[e.key]; !is {
		g.since[e.key] = now
	}
}

// listed begins anew with those that are there. Any may have been deleted and made again before.
func (g *registry) listed(now int64) {
	g.blind = false
	for name := range g.since {
		g.since[name] = now
	}
}

// stays says whether a cluster that left has its ManagedCluster in all views, and had it since it left, so that no user can have ignored it by
// deleting it. Its object has to be gone, if it is, for long enough after that: an immediate deletion leaves no time to see both.
func (m *member) stays(o *owner) bool {
	j := o.judge
	away := o.away(m.cluster)
	since, is := j.registry.since[m.cluster]
	left := j.now - away
	return is && away > 0 && !j.registry.blind && since <= left-j.lag && left <= m.failed.at-j.lag
}

package hub

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// history is what the API server showed of one rollout, in the order of the resource versions, with what the
// controller's network and caches noted.
type history struct {
	events     []event
	states     map[id][]event
	writes     []write
	reconciles []*reconcile
	written    map[int64]*write  // by resourceVersion
	began      map[int]time.Time // by life: when its first reconcile did

	// Starts that the truth forbids, whether or not the controller could know, by what they break, and how many times of
	// MaxConcurrency were in flight at most.
	blind       map[Invariant]int
	blindStarts int
	most        float64

	arrival bool // what the network held back counts from when it came

	revisions func(*replicaSet) revising // by the versions of the payload; nil where the controller keeps none
}

// A reconcile is what the harness notes of one.
type reconcile struct {
	replica, life int
	view          map[id]int64 // what the caches showed when it read them
	began         time.Time
	read          time.Time // when it did: as it began, or when it had written to the set itself
	ended         time.Time
	after         time.Duration // when it wants to be called again
	err           error
}

func newHistory(events []event, writes []write, reconciles []*reconcile) *history {
	h := &history{
		events: slices.Clone(events), states: map[id][]event{}, writes: writes, reconciles: reconciles,
		written: map[int64]*write{}, began: map[int]time.Time{}, blind: map[Invariant]int{},
	}
	for _, r := range reconciles {
		if h.began[r.life].IsZero() {
			h.began[r.life] = r.began
		}
	}
	slices.SortFunc(h.events, func(a, b event) int { return cmp.Compare(a.rv, b.rv) })
	for _, e := range h.events {
		h.states[e.id] = append(h.states[e.id], e)
	}
	for i := range writes {
		if writes[i].rv > 0 {
			h.written[writes[i].rv] = &writes[i]
		}
	}
	return h
}

// at returns the state of an object as of a resourceVersion, nil if it isn't there.
func (h *history) at(i id, rv int64) object {
	states := h.states[i]
	n, found := slices.BinarySearchFunc(states, rv, func(e event, rv int64) int { return cmp.Compare(e.rv, rv) })
	if !found {
		n--
	}
	if n < 0 || states[n].gone {
		return nil
	}
	return states[n].object
}

// truth is the world as the API server had it as of a resourceVersion.
func (h *history) truth(rv int64) *scene {
	return h.look(func(i id) object { return h.at(i, rv) })
}

// known is the world that a process has to know: what the caches showed when a reconcile began, what the process itself
// had written before a resourceVersion, and what others had written before it began.
func (h *history) known(r *reconcile, rv int64) *scene {
	floor := maps.Clone(r.view)
	for _, w := range h.writes {
		if w.kind != Works && h.revisions == nil || !w.done || w.rv >= rv || !h.knows(r, &w) {
			continue
		}
		i := id{w.kind, w.key}
		if w.verb == "DELETE" && w.rv == 0 {
			for _, e := range h.states[i] {
				if e.gone && e.rv < rv && !e.at.Before(w.sent) {
					floor[i] = max(floor[i], e.rv)
				}
			}
			continue
		}
		floor[i] = max(floor[i], w.rv)
	}
	return h.look(func(i id) object {
		if rv, ok := floor[i]; ok {
			return h.at(i, rv)
		}
		return nil
	})
}

// knows says whether the process of a reconcile has to know of a write.
func (h *history) knows(r *reconcile, w *write) bool {
	return w.life == r.life || w.answered.Before(h.began[r.life])
}

// scene is the world at one time.
type scene struct {
	set   *replicaSet
	refs  []*seenRef // in the order of the set's placementRefs
	works map[string][]seenWork

	revising *revising // what the set's status says of its revisions; nil where the controller keeps none
}

// seenRef is one of the placementRefs, with the clusters that none before it selects.
type seenRef struct {
	name       string
	strategy   clusterv1alpha1.RolloutStrategy
	placement  *placement
	groups     []seenGroup    // in the order of their index
	groupOf    map[string]int // by cluster
	selected   map[string]int // also those that one before it selects: their index
	incomplete string         // why the decisions are, if they are
}

// refOf is the first ref that selects a cluster, or nil. As long as one before it is incomplete, nobody knows whether it
// is the first: it says why.
func (s *scene) refOf(cluster string) (ref *seenRef, incomplete string) {
	for _, r := range s.refs {
		if r.incomplete != "" {
			return nil, r.incomplete
		}
		if _, ok := r.groupOf[cluster]; ok {
			return r, ""
		}
	}
	return nil, ""
}

// selects says whether a ref selects a cluster, as far as the decisions go.
func (s *scene) selects(cluster string) bool {
	return slices.ContainsFunc(s.refs, func(r *seenRef) bool { _, ok := r.selected[cluster]; return ok })
}

// incomplete says why the decisions of a placement are, if they are.
func (s *scene) incomplete() string {
	for _, r := range s.refs {
		if r.incomplete != "" {
			return r.incomplete
		}
	}
	return ""
}

type seenGroup struct {
	index    int
	name     string
	clusters []string
}

// seenWork is a work, with the version that it carries and when that was written.
type seenWork struct {
	*manifestWork
	version string
	applied time.Time
}

func (h *history) look(get func(id) object) *scene {
	s := &scene{works: map[string][]seenWork{}}
	all := map[string]*placement{}
	pds := map[string][]*placementDecision{}
	for i := range h.states {
		o := get(i)
		if o == nil {
			continue
		}
		switch o := o.(type) {
		case *placement:
			all[o.Name] = o
		case *placementDecision:
			of := o.Labels[clusterv1beta1.PlacementLabel]
			pds[of] = append(pds[of], o)
		case *replicaSet:
			s.set = o
		case *manifestWork:
			v := templateVersion(o.Spec.Workload.Manifests[0].Raw)
			s.works[o.Namespace] = append(s.works[o.Namespace], seenWork{o, v, h.appliedAt(i, o, v)})
		}
	}
	if s.set == nil {
		return s
	}
	if h.revisions != nil {
		r := h.revisions(s.set)
		s.revising = &r
	}
	taken := map[string]bool{}
	for _, ref := range s.set.Spec.PlacementRefs {
		r := &seenRef{name: ref.Name, strategy: ref.RolloutStrategy, placement: all[ref.Name], groupOf: map[string]int{}, selected: map[string]int{}}
		r.divide(pds[ref.Name], taken)
		for c := range r.groupOf {
			taken[c] = true
		}
		s.refs = append(s.refs, r)
	}
	return s
}

// templateVersion reads the version from the payload, which no controller changes.
func templateVersion(manifest []byte) string {
	var configMap struct{ Data struct{ Version string } }
	if err := json.Unmarshal(manifest, &configMap); err != nil {
		panic(err)
	}
	return configMap.Data.Version
}

// appliedAt returns when the write was sent that gave a work its version.
func (h *history) appliedAt(i id, work *manifestWork, version string) time.Time {
	var first event
	for _, e := range h.states[i] {
		if e.rv > versionOf(work) {
			break
		}
		if e.gone || templateVersion(e.object.(*manifestWork).Spec.Workload.Manifests[0].Raw) != version {
			first = event{}
		} else if first.rv == 0 {
			first = e
		}
	}
	if w := h.written[first.rv]; w != nil && !(w.delayed && h.arrival) {
		return w.sent
	}
	return first.at
}

// divide reads the groups from the decisions, without clusters that are taken, and whether the decisions are what the
// placement's status speaks of.
func (s *seenRef) divide(pds []*placementDecision, taken map[string]bool) {
	byIndex := map[int]*seenGroup{}
	names := map[string]int{}
	lowest := s.selected
	for _, pd := range pds {
		index, _ := strconv.Atoi(pd.Labels[clusterv1beta1.DecisionGroupIndexLabel])
		names[pd.Name] = index
		g := byIndex[index]
		if g == nil {
			g = &seenGroup{index: index, name: pd.Labels[clusterv1beta1.DecisionGroupNameLabel]}
			byIndex[index] = g
		}
		for _, d := range pd.Status.Decisions {
			if at, ok := lowest[d.ClusterName]; !ok || index < at {
				lowest[d.ClusterName] = index
			}
		}
	}
	for cluster, index := range lowest {
		if !taken[cluster] {
			byIndex[index].clusters = append(byIndex[index].clusters, cluster)
		}
	}
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		for _, c := range byIndex[index].clusters {
			s.groupOf[c] = len(s.groups)
		}
		slices.Sort(byIndex[index].clusters)
		s.groups = append(s.groups, *byIndex[index])
	}

	switch {
	case len(pds) == 0:
		s.incomplete = "there is no PlacementDecision"
	case s.placement == nil:
		s.incomplete = "there is no Placement"
	default:
		spoken := map[string]int{}
		for _, g := range s.placement.Status.DecisionGroups {
			for _, name := range g.Decisions {
				spoken[name] = int(g.DecisionGroupIndex)
			}
		}
		if !maps.Equal(spoken, names) {
			s.incomplete = fmt.Sprintf("the Placement's status speaks of %v, there are %v", spoken, names)
		} else if n := int(s.placement.Status.NumberOfSelectedClusters); n != len(lowest) {
			s.incomplete = fmt.Sprintf("%d clusters are selected, the decisions have %d", n, len(lowest))
		}
	}
}

// size is the placement's clusters per group, 0 if there is no limit.
func (s *seenRef) size() int {
	if s.placement == nil {
		return 0
	}
	if n := s.placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup; n.Type == intstr.Int {
		return n.IntValue()
	}
	return 0
}

// String is what stands where, for people.
func (h *history) String() string {
	var b strings.Builder
	start := h.events[0].at
	for _, e := range h.events {
		fmt.Fprintf(&b, "%7.3fs rv %d %s", e.at.Sub(start).Seconds(), e.rv, e.id)
		switch o := e.object.(type) {
		case *placement:
			fmt.Fprintf(&b, " size %s selected %d in", o.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup.String(), o.Status.NumberOfSelectedClusters)
			for _, g := range o.Status.DecisionGroups {
				fmt.Fprintf(&b, " %d:%s%v", g.DecisionGroupIndex, g.DecisionGroupName, g.Decisions)
			}
		case *placementDecision:
			fmt.Fprintf(&b, " group %s %q:", o.Labels[clusterv1beta1.DecisionGroupIndexLabel], o.Labels[clusterv1beta1.DecisionGroupNameLabel])
			for _, d := range o.Status.Decisions {
				b.WriteString(" " + d.ClusterName)
			}
		case *replicaSet:
			fmt.Fprintf(&b, " generation %d version %s", o.Generation, templateVersion(o.Spec.ManifestWorkTemplate.Workload.Manifests[0].Raw))
			for _, c := range o.Status.Conditions {
				if c.Status == "True" || c.Type == workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut {
					fmt.Fprintf(&b, " %s@%d %s: %s", c.Type, c.ObservedGeneration, c.Reason, c.Message)
				}
			}
		case *manifestWork:
			fmt.Fprintf(&b, " generation %d version %s", o.Generation, templateVersion(o.Spec.Workload.Manifests[0].Raw))
			for _, c := range o.Status.Conditions {
				fmt.Fprintf(&b, " %s=%s@%d(%s)", c.Type, c.Status, c.ObservedGeneration, c.LastTransitionTime.Format("05"))
			}
			if o.DeletionTimestamp != nil {
				b.WriteString(" terminating")
			}
		}
		if e.gone {
			b.WriteString(" GONE")
		}
		if w := h.written[e.rv]; w != nil {
			fmt.Fprintf(&b, " [process %d, reconcile %d, sent %.3fs]", w.life, w.reconcile, w.sent.Sub(start).Seconds())
			if w.delayed {
				b.WriteString(" held back")
			}
		}
		b.WriteByte('\n')
	}
	for i, r := range h.reconciles {
		fmt.Fprintf(&b, "reconcile %d of process %d from %.3fs to %.3fs, again after %v, error %v\n", i, r.life, r.began.Sub(start).Seconds(), r.ended.Sub(start).Seconds(), r.after, r.err)
	}
	return b.String()
}

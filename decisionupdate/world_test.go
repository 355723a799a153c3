// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// server is the little of an API server that an update of PlacementDecisions meets: a create drops the status,
// an update of the object ignores the status, an update of the status ignores the labels, and a stale
// resourceVersion is a conflict. It keeps what was stored after each request.
type server struct {
	mu      sync.Mutex
	objects map[string]*clusterv1beta1.PlacementDecision
	version int
	history []world

	// before is called ahead of each request, with no lock held. An error is the answer and nothing is done.
	before func(verb, name string) error
}

var _ decisionupdate.Client = (*server)(nil)

// newServer stores the objects as they are.
func newServer(objects ...*clusterv1beta1.PlacementDecision) *server {
	s := &server{objects: map[string]*clusterv1beta1.PlacementDecision{}}
	for _, pd := range objects {
		s.put(pd.DeepCopy(), true)
	}
	s.history = []world{s.world()}
	return s
}

func (s *server) put(pd *clusterv1beta1.PlacementDecision, created bool) *clusterv1beta1.PlacementDecision {
	s.version++
	pd.ResourceVersion = strconv.Itoa(s.version)
	if created {
		pd.UID = types.UID("uid-" + pd.ResourceVersion)
	}
	s.objects[pd.Name] = pd
	s.history = append(s.history, s.world())
	return pd.DeepCopy()
}

var decisions = schema.GroupResource{Group: clusterv1beta1.GroupName, Resource: "placementdecisions"}

// ask takes no notice of a context that is done, so that it shows which code makes requests all the same.
func (s *server) ask(verb, name string) error {
	if s.before != nil {
		return s.before(verb, name)
	}
	return nil
}

func (s *server) Create(_ context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.CreateOptions) (*clusterv1beta1.PlacementDecision, error) {
	if err := s.ask("create", pd.Name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[pd.Name] != nil {
		return nil, apierrors.NewAlreadyExists(decisions, pd.Name)
	}
	pd = pd.DeepCopy()
	pd.Status = clusterv1beta1.PlacementDecisionStatus{}
	return s.put(pd, true), nil
}

func (s *server) Update(_ context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return s.update("update", pd, func(next *clusterv1beta1.PlacementDecision) {
		next.Labels, next.Annotations, next.OwnerReferences = pd.Labels, pd.Annotations, pd.OwnerReferences
	})
}

func (s *server) UpdateStatus(_ context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return s.update("updateStatus", pd, func(next *clusterv1beta1.PlacementDecision) { next.Status = pd.Status })
}

func (s *server) update(verb string, pd *clusterv1beta1.PlacementDecision,
	change func(next *clusterv1beta1.PlacementDecision)) (*clusterv1beta1.PlacementDecision, error) {
	if err := s.ask(verb, pd.Name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.objects[pd.Name]
	switch {
	case stored == nil:
		return nil, apierrors.NewNotFound(decisions, pd.Name)
	case pd.ResourceVersion != stored.ResourceVersion || pd.UID != stored.UID:
		return nil, apierrors.NewConflict(decisions, pd.Name, fmt.Errorf("resourceVersion %s, want %s", pd.ResourceVersion, stored.ResourceVersion))
	}
	next := stored.DeepCopy()
	change(next)
	return s.put(next.DeepCopy(), false), nil
}

func (s *server) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	if err := s.ask("delete", name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.objects[name]
	if stored == nil {
		return apierrors.NewNotFound(decisions, name)
	}
	if p := opts.Preconditions; p != nil && (*p.UID != stored.UID || *p.ResourceVersion != stored.ResourceVersion) {
		return apierrors.NewConflict(decisions, name, fmt.Errorf("preconditions not met"))
	}
	if len(stored.Finalizers) > 0 {
		next := stored.DeepCopy()
		next.DeletionTimestamp = &noon
		s.put(next, false)
		return nil
	}
	delete(s.objects, name)
	s.history = append(s.history, s.world())
	return nil
}

// noon is when all deletes were asked for.
var noon = metav1.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// end removes an object without finalizers.
func (s *server) end(name string) {
	delete(s.objects, name)
	s.history = append(s.history, s.world())
}

func (s *server) Get(_ context.Context, name string, _ metav1.GetOptions) (*clusterv1beta1.PlacementDecision, error) {
	if err := s.ask("get", name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[name] == nil {
		return nil, apierrors.NewNotFound(decisions, name)
	}
	return s.objects[name].DeepCopy(), nil
}

// list returns what is stored, in no order.
func (s *server) list() []*clusterv1beta1.PlacementDecision {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*clusterv1beta1.PlacementDecision
	for _, pd := range s.objects {
		all = append(all, pd.DeepCopy())
	}
	return all
}

// world is what a reader sees at one moment: the groups that each cluster stands in, with the object.
type world map[string][]sight

// sight is an object that has a cluster, and its group.
type sight struct {
	object   string
	group    decisionupdate.Group
	dying    bool // it is being deleted
	labelled bool // it has its placement's label
}

func (s *server) world() world { return worldOf(slices.Collect(maps.Values(s.objects))) }

func worldOf(objects []*clusterv1beta1.PlacementDecision) world {
	w := world{}
	for _, pd := range objects {
		g := groupOf(pd)
		for _, d := range pd.Status.Decisions {
			if d.ClusterName != "" {
				w[d.ClusterName] = append(w[d.ClusterName], sight{pd.Name, g,
					!pd.DeletionTimestamp.IsZero(), pd.Labels[clusterv1beta1.PlacementLabel] == "web"})
			}
		}
	}
	return w
}

func groupOf(pd *clusterv1beta1.PlacementDecision) decisionupdate.Group {
	return decisionupdate.Group{
		Index: pd.Labels[clusterv1beta1.DecisionGroupIndexLabel],
		Name:  pd.Labels[clusterv1beta1.DecisionGroupNameLabel],
	}
}

// foreign reports whether the sight shows a group, and none of the right ones. An object that names neither a placement nor a group shows none.
func (s sight) foreign(right []decisionupdate.Group) bool {
	return !slices.Contains(right, s.group) && (s.labelled || s.group != decisionupdate.Group{})
}

// all returns all sights, in no order.
func (w world) all() []sight { return slices.Concat(slices.Collect(maps.Values(w))...) }

// groups returns the groups that a cluster is seen in.
func (w world) groups(cluster string) []decisionupdate.Group {
	var groups []decisionupdate.Group
	for _, s := range w[cluster] {
		groups = append(groups, s.group)
	}
	return groups
}

// neverAbsent is D5, straight from its words: a cluster of the first world and the last is in every one. It holds for
// all objects, for those that stay should the others' finalizers end (D13), and for those that are found by the
// placement's label (D14).
func neverAbsent(history []world, last world) error {
	for i, w := range history {
		for cluster, sights := range history[0] {
			if len(last[cluster]) == 0 {
				continue
			}
			if lost := viewsOf(sights) &^ viewsOf(w[cluster]); lost != 0 {
				return fmt.Errorf("after %d requests %s is in no object%s", i, cluster, lost)
			}
		}
	}
	return nil
}

// views are ways to look at objects: bit 0 takes in all of them, 1 those that are not being deleted, 2 those with the
// placement's label, and 3 those with both.
type views uint

func viewsOf(sights []sight) views {
	var v views
	for _, s := range sights {
		v |= 1
		if !s.dying {
			v |= 2
		}
		if s.labelled {
			v |= 4
		}
		if s.labelled && !s.dying {
			v |= 8
		}
	}
	return v
}

func (v views) String() string {
	switch {
	case v&1 != 0:
		return ""
	case v&2 != 0:
		return " that is not being deleted (D13)"
	case v&4 != 0:
		return " with the placement's label (D14)"
	}
	return " with the placement's label that is not being deleted (D13, D14)"
}

// neverWrong is D6, straight from its words, except for sights that Misplaced has told of (D7).
func neverWrong(history []world, last world, misplaced []decisionupdate.Misplaced) error {
	first := history[0]
	for i, w := range history {
		for cluster, sights := range w {
			if len(first[cluster]) == 0 && len(last[cluster]) == 0 {
				return fmt.Errorf("after %d requests %s appears, neither stored nor desired", i, cluster)
			}
			if len(last[cluster]) == 0 && i > 0 && len(history[i-1][cluster]) == 0 {
				return fmt.Errorf("after %d requests %s comes back", i, cluster)
			}
			for _, s := range sights {
				if s.foreign(append(first.groups(cluster), last.groups(cluster)...)) && !warned(misplaced, cluster, s) {
					return fmt.Errorf("after %d requests %s is seen in group %s by %s: neither stored nor desired, and not in Misplaced", i, cluster, s.group, s.object)
				}
			}
		}
	}
	return nil
}

func warned(misplaced []decisionupdate.Misplaced, cluster string, s sight) bool {
	return slices.ContainsFunc(misplaced, func(w decisionupdate.Misplaced) bool {
		return w.Object == s.object && w.Seen == s.group && slices.Contains(w.Clusters, cluster)
	})
}

// request is one of the one or two requests of a write.
type request struct {
	write decisionupdate.Write
	part  int // of write.Parts
}

// do makes the request as a caller would that carries out the update by hand.
func (s *server) do(r request) {
	ctx := context.Background()
	must := func(_ any, err error) {
		if err != nil {
			panic(fmt.Sprintf("%s: %v", r.write, err))
		}
	}
	if r.write.Verb == decisionupdate.VerbDelete {
		must(nil, s.Delete(ctx, r.write.Name(), metav1.DeleteOptions{}))
		return
	}
	pd := r.write.To.DeepCopy()
	if stored := s.objects[pd.Name]; stored != nil {
		pd.ResourceVersion, pd.UID = stored.ResourceVersion, stored.UID
	}
	switch {
	case r.write.Verb == decisionupdate.VerbCreate && r.part == 0:
		must(s.Create(ctx, pd, metav1.CreateOptions{}))
	case r.write.Parts[r.part] == decisionupdate.PartLabels:
		must(s.Update(ctx, pd, metav1.UpdateOptions{}))
	default:
		must(s.UpdateStatus(ctx, pd, metav1.UpdateOptions{}))
	}
}

// interleave returns the requests of a step in an order that pick chooses: of n writes that are not done, the
// next to go on.
func interleave(step decisionupdate.Step, pick func(n int) int) []request {
	type progress struct {
		write decisionupdate.Write
		next  int
	}
	var open []progress
	for _, w := range step {
		open = append(open, progress{write: w})
	}
	var order []request
	for len(open) > 0 {
		i := pick(len(open))
		order = append(order, request{open[i].write, open[i].next})
		if open[i].next++; open[i].next >= len(open[i].write.Parts) {
			open = slices.Delete(open, i, i+1)
		}
	}
	return order
}

// state reads lines into objects of the placement web: each is "<object> <index>[/<name>]: <clusters>". Behind the
// name of an object may stand "dying" if it is being deleted, "owned" if the placement is its controller but it
// has no labels, "bare" if only its placement's label is gone, and "edited" if it has the label of another placement instead. It is how
// tests and scenes write a state.
func state(lines ...string) []*clusterv1beta1.PlacementDecision {
	var objects []*clusterv1beta1.PlacementDecision
	for _, line := range lines {
		head, clusters, _ := strings.Cut(line, ":")
		object, marks, _ := strings.Cut(head, " ")
		pd := decision(object, strings.Fields(clusters)...)
		for _, mark := range strings.Fields(marks) {
			switch mark {
			case "dying":
				pd.DeletionTimestamp, pd.Finalizers = &noon, []string{"example.com/slow"}
			case "owned", "bare", "edited":
				yes := true
				if mark == "owned" {
					pd.Labels = nil
				} else if mark == "bare" {
					delete(pd.Labels, clusterv1beta1.PlacementLabel)
				} else {
					pd.Labels[clusterv1beta1.PlacementLabel] = "db"
				}
				pd.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: "web", UID: "p1", Controller: &yes}}
			default:
				index, name, _ := strings.Cut(mark, "/")
				pd.Labels[clusterv1beta1.DecisionGroupIndexLabel] = index
				pd.Labels[clusterv1beta1.DecisionGroupNameLabel] = name
			}
		}
		objects = append(objects, pd)
	}
	return objects
}

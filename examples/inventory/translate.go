package inventory

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Convention says how slices name clusters and the writer.
type Convention struct {
	// Profiles is the namespace of the ClusterProfiles. Empty means the namespace of each slice, as in the API.
	Profiles string

	// Scheduler is the schedulerName of the slices.
	Scheduler string
}

// namespace is the namespace of the ClusterProfiles of a slice.
func (c Convention) namespace(slice string) string { return cmp.Or(c.Profiles, slice) }

// ToOCM converts slices to objects of OCM. A reference to a ClusterProfile in another namespace than the convention's
// becomes a cluster "<namespace>/<name>", which cannot be the name of a cluster in OCM. If the label of OCM's placement is
// missing, it becomes the decision key. Nil stays nil. The objects share nothing with the slices.
func ToOCM(c Convention, decisions ...*sig.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	objects := make([]*clusterv1beta1.PlacementDecision, len(decisions))
	for i, s := range decisions {
		if s == nil {
			continue
		}
		o := &clusterv1beta1.PlacementDecision{ObjectMeta: *s.ObjectMeta.DeepCopy()}
		if key := o.Labels[sig.DecisionKeyLabel]; key != "" && o.Labels[clusterv1beta1.PlacementLabel] == "" {
			o.Labels[clusterv1beta1.PlacementLabel] = key
		}
		for _, d := range s.Decisions {
			ref := d.ClusterProfileRef
			name := ref.Name
			if namespace := cmp.Or(ref.Namespace, s.Namespace); namespace != c.namespace(s.Namespace) {
				name = namespace + "/" + name
			}
			o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: name, Reason: d.Reason})
		}
		objects[i] = o
	}
	return objects
}

// FromOCM converts an object of OCM to a slice. It leaves out decisions without a cluster, which OCM has for slots that are
// not scheduled yet.
func FromOCM(c Convention, o *clusterv1beta1.PlacementDecision) *sig.PlacementDecision {
	s := &sig.PlacementDecision{ObjectMeta: *o.ObjectMeta.DeepCopy(), Decisions: []sig.ClusterDecision{}, SchedulerName: c.Scheduler}
	for _, d := range o.Status.Decisions {
		if d.ClusterName == "" {
			continue
		}
		ref := sig.ClusterProfileReference{Namespace: c.namespace(o.Namespace), Name: d.ClusterName}
		if namespace, name, other := strings.Cut(d.ClusterName, "/"); other {
			ref = sig.ClusterProfileReference{Namespace: namespace, Name: name}
		}
		s.Decisions = append(s.Decisions, sig.ClusterDecision{ClusterProfileRef: ref, Reason: d.Reason})
	}
	return s
}

// Label returns all objects of a placement with the labels of slices, and without scores. The placement's name is the
// decision key. The index counts slices: by group, and within a group by name, so slices of one group have several indexes.
// An object with more than 100 clusters, which OCM's API allows, becomes several: the additional ones have its labels and
// are named <name>-over-1 and so on. The given objects are not changed.
func Label(objects []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	sorted := slices.SortedFunc(slices.Values(cut(objects)), func(a, b *clusterv1beta1.PlacementDecision) int {
		return cmp.Or(group(a)-group(b), cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	for i, o := range sorted {
		labelled := *o
		labelled.Labels = maps.Clone(o.Labels)
		if labelled.Labels == nil {
			labelled.Labels = make(map[string]string)
		}
		labelled.Labels[sig.DecisionKeyLabel] = o.Labels[clusterv1beta1.PlacementLabel]
		labelled.Labels[sig.DecisionIndexLabel] = strconv.Itoa(i)
		labelled.Status.Decisions = slices.Clone(o.Status.Decisions)
		for j := range labelled.Status.Decisions {
			labelled.Status.Decisions[j].Score = 0
		}
		sorted[i] = &labelled
	}
	return sorted
}

// cut splits objects with more than 100 clusters.
func cut(objects []*clusterv1beta1.PlacementDecision) (all []*clusterv1beta1.PlacementDecision) {
	for _, o := range objects {
		if len(o.Status.Decisions) <= grouping.MaxDecisions {
			all = append(all, o)
			continue
		}
		n := 0
		for part := range slices.Chunk(o.Status.Decisions, grouping.MaxDecisions) {
			one := *o
			one.Status.Decisions = part
			if n > 0 {
				one.Name += "-over-" + strconv.Itoa(n)
			}
			all, n = append(all, &one), n+1
		}
	}
	return all
}

func group(o *clusterv1beta1.PlacementDecision) int {
	index, err := strconv.ParseUint(o.Labels[clusterv1beta1.DecisionGroupIndexLabel], 10, 31)
	if err != nil {
		return 0
	}
	return int(index)
}

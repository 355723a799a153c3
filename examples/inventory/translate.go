// SPDX-License-Identifier: Apache-2.0

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
func (convention Convention) namespace(slice string) string {
	return cmp.Or(convention.Profiles, slice)
}

// ToOCM converts slices to objects of OCM. A reference to a ClusterProfile in another namespace than the convention's
// becomes a cluster "<namespace>/<name>", which cannot be the name of a cluster in OCM. If the label of OCM's placement is
// missing, it becomes the decision key. Nil stays nil. The objects share nothing with the slices.
func ToOCM(convention Convention, decisions ...*sig.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	objects := make([]*clusterv1beta1.PlacementDecision, len(decisions))
	for i, slice := range decisions {
		if slice == nil {
			continue
		}
		object := &clusterv1beta1.PlacementDecision{ObjectMeta: *slice.ObjectMeta.DeepCopy()}
		if key := object.Labels[sig.DecisionKeyLabel]; key != "" && object.Labels[clusterv1beta1.PlacementLabel] == "" {
			object.Labels[clusterv1beta1.PlacementLabel] = key
		}
		for _, decision := range slice.Decisions {
			ref := decision.ClusterProfileRef
			name := ref.Name
			if namespace := cmp.Or(ref.Namespace, slice.Namespace); namespace != convention.namespace(slice.Namespace) {
				name = namespace + "/" + name
			}
			object.Status.Decisions = append(object.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: name, Reason: decision.Reason})
		}
		objects[i] = object
	}
	return objects
}

// FromOCM converts an object of OCM to a slice. It leaves out decisions without a cluster, which OCM has for slots that are
// not scheduled yet.
func FromOCM(convention Convention, object *clusterv1beta1.PlacementDecision) *sig.PlacementDecision {
	slice := &sig.PlacementDecision{ObjectMeta: *object.ObjectMeta.DeepCopy(), Decisions: []sig.ClusterDecision{}, SchedulerName: convention.Scheduler}
	for _, decision := range object.Status.Decisions {
		if decision.ClusterName == "" {
			continue
		}
		ref := sig.ClusterProfileReference{Namespace: convention.namespace(object.Namespace), Name: decision.ClusterName}
		if namespace, name, other := strings.Cut(decision.ClusterName, "/"); other {
			ref = sig.ClusterProfileReference{Namespace: namespace, Name: name}
		}
		slice.Decisions = append(slice.Decisions, sig.ClusterDecision{ClusterProfileRef: ref, Reason: decision.Reason})
	}
	return slice
}

// Label returns all objects of a placement with the labels of slices, and without scores. The placement's name is the
// decision key. The index counts slices: by group, and within a group by name, so slices of one group have several indexes.
// An object with more than 100 clusters, which OCM's API allows, becomes several: the additional ones have its labels and
// are named <name>-over-1 and so on. The given objects are not changed.
func Label(objects []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	sorted := slices.SortedFunc(slices.Values(cut(objects)), func(a, b *clusterv1beta1.PlacementDecision) int {
		return cmp.Or(group(a)-group(b), cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	for i, object := range sorted {
		labelled := *object
		labelled.Labels = maps.Clone(object.Labels)
		if labelled.Labels == nil {
			labelled.Labels = make(map[string]string)
		}
		labelled.Labels[sig.DecisionKeyLabel] = object.Labels[clusterv1beta1.PlacementLabel]
		labelled.Labels[sig.DecisionIndexLabel] = strconv.Itoa(i)
		labelled.Status.Decisions = slices.Clone(object.Status.Decisions)
		for j := range labelled.Status.Decisions {
			labelled.Status.Decisions[j].Score = 0
		}
		sorted[i] = &labelled
	}
	return sorted
}

// cut splits objects with more than 100 clusters.
func cut(objects []*clusterv1beta1.PlacementDecision) (all []*clusterv1beta1.PlacementDecision) {
	for _, object := range objects {
		if len(object.Status.Decisions) <= grouping.MaxDecisions {
			all = append(all, object)
			continue
		}
		n := 0
		for part := range slices.Chunk(object.Status.Decisions, grouping.MaxDecisions) {
			one := *object
			one.Status.Decisions = part
			if n > 0 {
				one.Name += "-over-" + strconv.Itoa(n)
			}
			all, n = append(all, &one), n+1
		}
	}
	return all
}

func group(object *clusterv1beta1.PlacementDecision) int {
	index, err := strconv.ParseUint(object.Labels[clusterv1beta1.DecisionGroupIndexLabel], 10, 31)
	if err != nil {
		return 0
	}
	return int(index)
}

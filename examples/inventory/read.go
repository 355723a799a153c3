// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Read returns the groups in the slices of one decision. Slices that were written from OCM's groups have these groups.
// Slices of other schedulers are one group. Profiles are the existing ClusterProfiles; nil if they are unknown.
//
// The groups are incomplete unless the slices are complete, as far as slices can tell. Groups.Incomplete then has a line
// with the reason, and package rollout starts and removes no cluster. Slices are complete if there is at least one and none
// is being deleted; their indexes are 0, 1, 2 and so on, or none has one; no cluster is in two; each cluster has its
// ClusterProfile; and their seal, if any (see grouping.Sealed), is theirs. Without a seal a missing last slice cannot be
// noticed.
//
// Slices belong together by their decision key. If none has one, they belong together by their names: <base>-<index>.
//
// Read returns an error if a slice is nil, occurs twice, has more than 100 clusters or a reference without a name, or
// differs from the others in its decision, namespace or scheduler. Then it returns nil groups, which are incomplete.
func Read(convention Convention, decisions []*sig.PlacementDecision, profiles []*sig.ClusterProfile) (*grouping.Groups, error) {
	for i, s := range decisions {
		if s == nil {
			return nil, field.Required(field.NewPath("slices").Index(i), "must not be nil")
		}
	}
	decisions = slices.SortedFunc(slices.Values(decisions), func(a, b *sig.PlacementDecision) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	var errs field.ErrorList
	for _, s := range decisions {
		errs = append(errs, validate(s, decisions[0])...)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs.ToAggregate().Errors()...)
	}
	objects := ToOCM(convention, decisions...)
	for _, o := range objects {
		if o.Labels[sig.DecisionKeyLabel] == "" {
			base, _ := named(o.Name)
			if o.Labels == nil {
				o.Labels = make(map[string]string)
			}
			o.Labels[clusterv1beta1.PlacementLabel] = base
		}
	}
	groups, err := grouping.Read(nil, objects)
	if err != nil {
		return nil, err
	}
	return groups.Lacking(cmp.Or(going(decisions), oddIndexes(decisions), twice(decisions), unknown(decisions, profiles))), nil
}

// validate returns the faults of a slice, compared with the first one of its decision.
func validate(slice, first *sig.PlacementDecision) (errs field.ErrorList) {
	path := field.NewPath("slices").Key(slice.Namespace + "/" + slice.Name)
	key, want := slice.Labels[sig.DecisionKeyLabel], first.Labels[sig.DecisionKeyLabel]
	base, _ := named(slice.Name)
	wantBase, _ := named(first.Name)
	switch {
	case key != want:
		errs = append(errs, field.Invalid(path.Child("metadata", "labels").Key(sig.DecisionKeyLabel), key, fmt.Sprintf(
			"must be the decision key of the other slices, %q as of %s", want, first.Name)))
	case key == "" && base != wantBase:
		errs = append(errs, field.Invalid(path.Child("metadata", "name"), slice.Name, fmt.Sprintf(
			"must be <base>-<index> with the base of the other slices, %q as of %s, where no slice has a decision key", wantBase, first.Name)))
	}
	if slice.SchedulerName != first.SchedulerName {
		errs = append(errs, field.Invalid(path.Child("schedulerName"), slice.SchedulerName, fmt.Sprintf(
			"must be the scheduler of the other slices, %q as of %s", first.SchedulerName, first.Name)))
	}
	if n := len(slice.Decisions); n > grouping.MaxDecisions {
		errs = append(errs, field.TooMany(path.Child("decisions"), n, grouping.MaxDecisions))
	}
	for i, d := range slice.Decisions {
		if d.ClusterProfileRef.Name == "" {
			errs = append(errs, field.Required(path.Child("decisions").Index(i).Child("clusterProfileRef", "name"), "must be the name of a ClusterProfile"))
		}
	}
	return errs
}

// named splits a name <base>-<index>. Other names have no index.
func named(name string) (base, index string) {
	if cut := strings.LastIndexByte(name, '-'); cut > 0 {
		if _, err := strconv.ParseUint(name[cut+1:], 10, 31); err == nil {
			return name[:cut], name[cut+1:]
		}
	}
	return name, ""
}

// going looks for a slice that is being deleted, whose clusters move to another slice or are deselected.
func going(decisions []*sig.PlacementDecision) string {
	for _, slice := range decisions {
		if slice.DeletionTimestamp != nil {
			return fmt.Sprintf("slice %s is being deleted", slice.Name)
		}
	}
	return ""
}

// oddIndexes says what is wrong with the indexes of slices. They are optional: if no slice has one, nothing is wrong.
func oddIndexes(decisions []*sig.PlacementDecision) string {
	owner, without := make(map[int]string), ""
	for _, slice := range decisions {
		label, labelled := slice.Labels[sig.DecisionIndexLabel]
		if !labelled && slice.Labels[sig.DecisionKeyLabel] == "" && len(decisions) > 1 {
			_, label = named(slice.Name)
			labelled = label != ""
		}
		if !labelled {
			without = slice.Name
			continue
		}
		index, err := strconv.ParseUint(label, 10, 31)
		if err != nil {
			return fmt.Sprintf("slice %s has %q for its index", slice.Name, label)
		}
		if other, twice := owner[int(index)]; twice {
			return fmt.Sprintf("slices %s and %s both have the index %d", other, slice.Name, index)
		}
		owner[int(index)] = slice.Name
	}
	if len(owner) > 0 && without != "" {
		return fmt.Sprintf("slice %s has no index, and others have one", without)
	}
	for i := range len(owner) {
		if _, has := owner[i]; !has {
			return fmt.Sprintf("no slice has the index %d", i)
		}
	}
	return ""
}

// twice looks for a cluster in two slices, as during a move.
func twice(decisions []*sig.PlacementDecision) string {
	first := make(map[sig.ClusterProfileReference]string)
	for ref, slice := range references(decisions) {
		if other, again := first[ref]; again {
			return fmt.Sprintf("cluster %s/%s is in %s and again in %s", ref.Namespace, ref.Name, other, slice)
		}
		first[ref] = slice
	}
	return ""
}

// unknown looks for a cluster without a ClusterProfile: it was deleted, or a stale cache lacks it.
func unknown(decisions []*sig.PlacementDecision, profiles []*sig.ClusterProfile) string {
	if profiles == nil {
		return ""
	}
	known := make(map[sig.ClusterProfileReference]bool, len(profiles))
	for _, profile := range profiles {
		known[sig.ClusterProfileReference{Namespace: profile.Namespace, Name: profile.Name}] = true
	}
	for ref, slice := range references(decisions) {
		if !known[ref] {
			return fmt.Sprintf("cluster %s/%s is in %s, and there is no such ClusterProfile", ref.Namespace, ref.Name, slice)
		}
	}
	return ""
}

// references yields each reference with its namespace, and the name of its slice.
func references(decisions []*sig.PlacementDecision) iter.Seq2[sig.ClusterProfileReference, string] {
	return func(yield func(sig.ClusterProfileReference, string) bool) {
		for _, slice := range decisions {
			for _, decision := range slice.Decisions {
				ref := decision.ClusterProfileRef
				if ref.Namespace = cmp.Or(ref.Namespace, slice.Namespace); !yield(ref, slice.Name) {
					return
				}
			}
		}
	}
}

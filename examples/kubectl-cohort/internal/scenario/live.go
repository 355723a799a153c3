// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	oldaddon "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// liveState is the objects in the namespaces of clusters that a hub has written for its rollouts.
type liveState struct {
	works      []source[workv1.ManifestWork]
	addOns     []source[addonv1beta1.ManagedClusterAddOn]
	oldAddOns  []source[oldaddon.ManagedClusterAddOn]
	replicated []manifest.Object // policies
	used       map[string]bool   // of these the ones that a rollout has
}

// use notes that a rollout has an object.
func (live *liveState) use(object manifest.Object) {
	if live.used == nil {
		live.used = make(map[string]bool)
	}
	live.used[object.String()] = true
}

// resume finds what of the live state is the rollout's: it is where a simulation goes on from.
func (s *Scenario) resume(r applier, o *objects) error {
	s.approve(r)
	var found int
	var err error
	switch {
	case r.policy != nil:
		found, err = s.resumePolicy(r, o)
	case r.template != nil:
		found, err = s.resumeWorks(r, o)
	case r.GetKind() == "ClusterManagementAddOn":
		found = s.resumeAddOns(r, o)
	}
	if found == 0 || err != nil {
		return err
	}
	s.Live = true
	if s.Stands = "1 object " + o.where() + " says where the rollout stands"; found > 1 {
		s.Stands = fmt.Sprintf("%d objects %s say where the rollout stands", found, o.where())
	}
	var gone, anew []string
	for _, report := range s.Observed {
		switch selected := s.selected(report.Cluster); {
		case !selected:
			gone = append(gone, report.Cluster)
		case report.Deleting:
			anew = append(anew, report.Cluster)
		}
	}
	var others []string
	for _, report := range s.Unselected {
		others = append(others, report.Cluster)
	}
	if s.OfOCM {
		s.noteClusters("not selected, so that the workload is removed there; OCM's own controller, which makes no stamps, has the rollout and does not count these", others)
	}
	s.noteClusters("selected, and its object is being deleted: it starts anew once that is gone, and a forecast takes it as gone by its turn", anew)
	if s.Groups.Incomplete() != "" {
		s.noteClusters("in none of the PlacementDecisions, of which not all are there: these keep the workload until all are", gone)
	} else {
		s.noteClusters("not selected, so that the workload is removed there", gone)
	}
	return nil
}

// selected says whether the rollout goes to a cluster, by this placement or another.
func (s *Scenario) selected(cluster string) bool {
	parts, _ := s.Groups.Parts()
	for _, part := range parts {
		if _, _, selected := part.Groups.Find(cluster); selected {
			return true
		}
	}
	_, _, selected := s.Groups.Find(cluster)
	return selected
}

// Removes says whether a cluster that has the workload loses it by this placement: it is selected here, or by no placement, and this
// is the last one.
func (s *Scenario) Removes(cluster string) bool {
	if _, here := s.Groups.Position(cluster); here {
		return true
	}
	parts, at := s.Groups.Parts()
	return !s.selected(cluster) && (len(parts) == 0 || at == len(parts)-1)
}

// remember takes over what the owner has stored of deselected clusters that have the version, for this placement.
func (s *Scenario) remember(r applier, version string) error {
	records, err := status.RecordsOf(&r.Object)
	if err != nil {
		return r.Fault(err)
	}
	named := []grouping.PlacementGroups{{Placement: s.Placement.Name, Groups: s.Groups}}
	parts, at := s.Groups.Parts()
	if len(parts) > 0 {
		named = slices.Clone(parts)
		for i := range named { // records have their names without the namespace
			named[i].Placement = named[i].Placement[strings.LastIndex(named[i].Placement, "/")+1:]
		}
	} else {
		at = 0
	}
	if record := records.Of(version, named...)[named[at].Placement]; !reflect.DeepEqual(record, status.Record{}) {
		s.StoredRecord = &rollout.StoredRecord{Version: version, Record: record}
	}
	return nil
}

// merged is one report for each cluster, by name.
func merged(reports []status.Report) (all []status.Report) {
	of := make(map[string][]status.Report)
	for _, report := range reports {
		of[report.Cluster] = append(of[report.Cluster], report)
	}
	for _, cluster := range slices.Sorted(maps.Keys(of)) {
		all = append(all, status.Merge(of[cluster]...))
	}
	return all
}

// noteLive counts the objects that no rollout of the files owns.
func (o *objects) noteLive() []string {
	if others := len(o.works) + len(o.addOns) + len(o.oldAddOns) + len(o.replicated) - len(o.used); others > 0 {
		return []string{fmt.Sprintf("ManifestWork, ManagedClusterAddOn, replicated Policy: of no rollout here, not used (%d)", others)}
	}
	return nil
}

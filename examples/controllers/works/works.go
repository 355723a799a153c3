package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// placementLabel says for which placement a cluster has its work, as OCM's controller does.
const placementLabel = workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey

// versionOf names what a set wants its clusters to have: a hash of the template. It is compared instead of the
// template, which would have to be decoded for each work.
func versionOf(set *workv1alpha1.ManifestWorkReplicaSet) string {
	text, err := json.Marshal(set.Spec.ManifestWorkTemplate)
	if err != nil {
		panic(err) // it has come as JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// reports gives the reports of a set's works about the wanted version. An object in a cache is never changed, but
// replaced, so that the report of an object is made once. The zero value is ready to use.
type reports struct {
	version string
	of      map[*workv1.ManifestWork]status.Report
}

// readWorks finds the works of a set, and makes a report of each.
func (c *controller) readWorks(set *workv1alpha1.ManifestWorkReplicaSet, memory *memory, placements []*placement, version string) {
	works := c.caches.worksOf(set)
	memory.reports.begin(version, len(works))
	last := placements[len(placements)-1]
	last.works = make([]*workv1.ManifestWork, 0, len(works))
	last.reports = make([]status.Report, 0, len(works))
	for _, work := range works {
		p := placementOf(work.Namespace, placements)
		p.works = append(p.works, work)
		if report, ok := memory.reports.report(work); ok {
			p.reports = append(p.reports, report)
			if work.Labels[placementLabel] != p.ref.Name {
				p.moved = append(p.moved, work)
			}
		}
	}
}

// begin forgets the reports about another version, and reports about replaced objects once they are many.
func (r *reports) begin(version string, works int) {
	if r.version != version || len(r.of) > works+works/4 {
		*r = reports{version: version, of: make(map[*workv1.ManifestWork]status.Report, works)}
	}
}

// report is what a work says of its cluster. There is none of a work that is being deleted.
func (r *reports) report(work *workv1.ManifestWork) (status.Report, bool) {
	if report, known := r.of[work]; known {
		return report, true
	}
	report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: r.version})
	if ok {
		r.of[work] = report
	}
	return report, ok
}

// placementOf is the one that selects a cluster, or the last.
func placementOf(cluster string, placements []*placement) *placement {
	last := len(placements) - 1
	for _, p := range placements[:last] {
		if _, ok := p.groups.Position(cluster); ok {
			return p
		}
	}
	return placements[last]
}

// surplus lists works of clusters that have more than one. They are what generated names leave behind, where a cache
// was late; this controller's names make none. Plan warns if there are any, so that nobody has to look each time.
func surplus(set *workv1alpha1.ManifestWorkReplicaSet, p *placement) (works []*workv1.ManifestWork) {
	merged := func(w rollout.Warning) bool { return w.Type == rollout.WarningReportsMerged }
	if !slices.ContainsFunc(p.result.Warnings, merged) {
		return nil
	}
	keep := make(map[string]*workv1.ManifestWork, len(p.works))
	for _, work := range p.works {
		switch kept := keep[work.Namespace]; {
		case work.DeletionTimestamp != nil:
		case kept == nil:
			keep[work.Namespace] = work
		case keepRather(set, work, kept):
			keep[work.Namespace] = work
			works = append(works, kept)
		default:
			works = append(works, work)
		}
	}
	return works
}

// keepRather says which of two works of a cluster is kept: one that isn't being deleted, then the one with the name that
// follows from the set, then the older one.
func keepRather(set *workv1alpha1.ManifestWorkReplicaSet, a, b *workv1.ManifestWork) bool {
	name := nameOf(set)
	switch {
	case (a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil):
		return a.DeletionTimestamp == nil
	case (a.Name == name) != (b.Name == name):
		return a.Name == name
	case !a.CreationTimestamp.Equal(&b.CreationTimestamp):
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	default:
		return a.Name < b.Name
	}
}

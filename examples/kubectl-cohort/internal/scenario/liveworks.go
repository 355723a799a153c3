// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// resumeWorks reads the works of a ManifestWorkReplicaSet. A stamp says which version a work has, and when it got it. A work
// without one has the version where its spec is the template's.
func (s *Scenario) resumeWorks(r applier, o *objects) (found int, err error) {
	works := o.worksOf(r)
	version := versionOf(r.template, works)
	s.Version = version
	if err := s.remember(r, version); err != nil {
		return 0, err
	}
	var reports []status.Report
	var undated []string
	var counted []source[workv1.ManifestWork]
	s.available = s.availableSucceeds(r)
	told := false // told: something says of a work with the version whether it is done
	reportOf := o.reportsOf(r.template, version, s.available)
	for _, work := range works {
		if !s.has(r, work) {
			continue
		}
		o.use(work.Object)
		s.Stamped = s.Stamped || status.StampOf(work.typed).Version != ""
		found++
		report, dated := reportOf(work)
		told = told || report.Status != status.ToApply && meta.FindStatusCondition(work.typed.Status.Conditions, workv1.WorkProgressing) != nil
		counted = append(counted, work)
		if !hasVersion(&report) {
			s.older = append(s.older, work.typed)
		}
		if reports = append(reports, report); !dated {
			undated = append(undated, report.Cluster)
		}
	}
	s.noteClusters("ManifestWork: neither a stamp nor managed fields say when these got the version, so the time of the "+
		"last condition counts; kubectl get --show-managed-fields prints them", undated)
	s.Observed = merged(s.judge(r, counted, reports, o.now))
	if s.OfOCM = found > 0 && !s.Stamped && s.ofOCM(r); s.OfOCM {
		s.Unselected = slices.DeleteFunc(slices.Clone(s.Observed), func(r status.Report) bool { return s.selected(r.Cluster) })
		s.Observed = slices.DeleteFunc(s.Observed, func(r status.Report) bool { return !s.selected(r.Cluster) })
	}
	s.untold = slices.ContainsFunc(s.Observed, func(r status.Report) bool { return r.Reason == status.ReportUntracked }) ||
		!s.available && lacksRules(r.template) && !told
	return found, nil
}

// ofOCM says whether OCM's own controller has a set with works without stamps. One of this library may have taken it over and have written
// none yet: the set has a record then, or its condition a message, which OCM's never has.
func (s *Scenario) ofOCM(r applier) bool {
	records, err := status.RecordsOf(&r.Object)
	return err == nil && len(records) == 0 && saysOf(r.Object.Object, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut) == ""
}

// lacksRules says whether works of a template never say that they are done. A template without manifests is a sketch, of which nothing is known.
func lacksRules(template *workv1.ManifestWorkSpec) bool {
	return len(template.Workload.Manifests) > 0 && !slices.ContainsFunc(template.ManifestConfigs, func(config workv1.ManifestConfigOption) bool {
		return slices.ContainsFunc(config.ConditionRules, func(rule workv1.ConditionRule) bool { return rule.Condition == workv1.WorkProgressing })
	})
}

// annotationAvailable of a ManifestWorkReplicaSet says whether its works have succeeded once they are Available, where no conditionRules
// say when they are done.
const annotationAvailable = annotationPrefix + "available-succeeds"

// availableSucceeds reads that annotation.
func (s *Scenario) availableSucceeds(r applier) bool {
	switch value := r.GetAnnotations()[annotationAvailable]; value {
	case "true":
		return true
	case "", "false":
	default:
		s.note("metadata.annotations[%s]: %q must be true or false: Available does not count", annotationAvailable, value)
	}
	return false
}

// worksOf are the works that a ManifestWorkReplicaSet owns.
func (o *objects) worksOf(r applier) (works []source[workv1.ManifestWork]) {
	for _, work := range o.works {
		if work.GetLabels()[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey] == r.GetNamespace()+"."+r.GetName() {
			works = append(works, work)
		}
	}
	return works
}

// has says whether a work counts in this placement: its cluster is selected here, or the work was written for it, or its owner
// remembers that. The last one has those that were written for a placement that the owner names no longer.
func (s *Scenario) has(r applier, work source[workv1.ManifestWork]) bool {
	placement := work.GetLabels()[workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey]
	if _, _, selected := s.Groups.Find(work.GetNamespace()); selected || placement == s.Placement.Name {
		return true
	}
	if s.deselected(work.GetNamespace()) != nil {
		return true
	}
	named := slices.ContainsFunc(r.Targets, func(t target) bool { return t.Placement.Name == placement })
	return !named && r.last(s.Placement)
}

// last says whether a placement is the last of the rollout's, which has the clusters that none selects.
func (r applier) last(placement Ref) bool {
	return len(r.Targets) == 0 || r.Targets[len(r.Targets)-1].Placement.matches(placement)
}

// versionOf is the version that is wanted, as stamps name it: as the functions of package writes do, or else as the newest
// stamp does of a work that has the template's spec.
func versionOf(template *workv1.ManifestWorkSpec, works []source[workv1.ManifestWork]) string {
	version := writes.VersionOf(*template)
	var newest time.Time
	other := ""
	for _, work := range works {
		switch stamp := status.StampOf(work.typed); {
		case stamp.Version == version:
			return version
		case stamp.Version != "" && (other == "" || stamp.Applied.After(newest)) && reflect.DeepEqual(generic(work.typed.Spec), generic(*template)):
			other, newest = stamp.Version, stamp.Applied
		}
	}
	if other != "" {
		return other
	}
	return version
}

// reportOf is the report of a work, and whether it is known when the work got the version. Where that is not, it has the
// version at least since its creation, and its conditions say the rest, as far as they have observed the version.
func reportOf(work *workv1.ManifestWork, q question) (report status.Report, dated bool) {
	adopted := status.Adopt(work, *q.template, q.version)
	state := status.WorkState{Work: adopted, Version: q.version, AvailableSucceeds: q.available}
	report, _ = status.FromManifestWork(state)
	if waits := report.Status == status.ToApply; waits || !report.Applied.IsZero() || len(work.ManagedFields) > 0 {
		return report, true
	}
	state.Applied = work.CreationTimestamp.Time
	if observed, _ := status.FromManifestWork(state); observed.Status != status.ToApply {
		report = observed
	}
	return report, false
}

// generic is what JSON has of a value, to compare with another.
func generic(value any) (v any) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	_ = json.Unmarshal(data, &v)
	return v
}

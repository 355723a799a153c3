package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	oldaddon "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/addonv1alpha1"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// liveState is the objects in the namespaces of clusters that a hub has written for its rollouts.
type liveState struct {
	works      []source[workv1.ManifestWork]
	addOns     []source[addonv1beta1.ManagedClusterAddOn]
	oldAddOns  []source[oldaddon.ManagedClusterAddOn]
	replicated []manifest.Object // policies
}

// wantedVersion is what a work has whose spec is the template's.
const wantedVersion = "wanted"

// resume finds what of the live state is the rollout's: it is where a simulation goes on from.
func (s *Scenario) resume(r applier, o *objects) {
	var found int
	switch {
	case r.policy != nil:
		found = s.resumePolicy(r, o)
	case r.template != nil:
		found = s.resumeWorks(r, o)
	case r.GetKind() == "ClusterManagementAddOn":
		found = s.resumeAddOns(r, o)
	}
	if found == 0 {
		return
	}
	s.Live = true
	if s.Stands = "1 object in the files says where the rollout stands"; found > 1 {
		s.Stands = fmt.Sprintf("%d objects in the files say where the rollout stands", found)
	}
	var gone []string
	for _, report := range s.Observed {
		if _, _, selected := s.Groups.Find(report.Cluster); !selected {
			gone = append(gone, report.Cluster)
		}
	}
	s.noteClusters("not selected, so that the workload is removed there", gone)
}

// resumeWorks reads the works of a ManifestWorkReplicaSet. One whose spec is not the template's has another version.
func (s *Scenario) resumeWorks(r applier, o *objects) (found int) {
	want := generic(r.template)
	var reports []status.Report
	for _, work := range o.works {
		labels := work.GetLabels()
		owner := labels[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey]
		placement := labels[workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey]
		if owner != r.GetNamespace()+"."+r.GetName() || placement != "" && placement != s.Placement.Name {
			continue
		}
		o.used++
		has := "another"
		if reflect.DeepEqual(generic(work.typed.Spec), want) {
			has = wantedVersion
		}
		if report, ok := status.FromManifestWork(status.WorkState{Work: work.typed, Version: wantedVersion, Has: has}); ok {
			found++
			reports = append(reports, report)
		}
	}
	s.Observed = merged(reports)
	return found
}

// resumeAddOns reads the add-ons of a ClusterManagementAddOn, which have its name. What they should have stands in its
// status, for each placement.
func (s *Scenario) resumeAddOns(r applier, o *objects) (found int) {
	var reports []status.Report
	add := func(report status.Report, ok bool) {
		if _, _, selected := s.Groups.Find(report.Cluster); ok && selected {
			found++
			reports = append(reports, report)
		}
	}
	for _, addOn := range o.addOns {
		if addOn.GetName() == r.GetName() {
			o.used++
			state := status.AddOnState{AddOn: addOn.typed, Desired: addOn.typed.Status.ConfigReferences}
			if desired, known := r.desired[s.Placement]; known {
				state.Desired = desired
			}
			add(status.FromManagedClusterAddOn(state))
		}
	}
	for _, addOn := range o.oldAddOns {
		if addOn.GetName() == r.GetName() {
			o.used++
			state := addonv1alpha1.AddOnState{AddOn: addOn.typed, Desired: addOn.typed.Status.ConfigReferences}
			if desired, known := r.oldDesired[s.Placement]; known {
				state.Desired = desired
			}
			add(addonv1alpha1.FromManagedClusterAddOn(state))
		}
	}
	s.Observed = merged(reports)
	return found
}

// resumePolicy reads the replicated policies of a root policy, which are named after it.
func (s *Scenario) resumePolicy(r applier, o *objects) int {
	want := contentOf(r.Object)
	for _, object := range o.replicated {
		if object.GetName() != r.GetNamespace()+"."+r.GetName() {
			continue
		}
		o.used++
		s.Policy.Replicas = append(s.Policy.Replicas, replicaOf(object, s.Policy.Version, want))
	}
	slices.SortFunc(s.Policy.Replicas, func(a, b passes.Replica) int { return strings.Compare(a.Cluster, b.Cluster) })
	s.Policy.Replicas = slices.CompactFunc(s.Policy.Replicas, func(a, b passes.Replica) bool { return a.Cluster == b.Cluster })
	return len(s.Policy.Replicas)
}

// replicaOf is a replicated policy as package passes sees it. It is of the version if its content is the root's.
func replicaOf(object manifest.Object, version string, want []any) passes.Replica {
	var typed struct {
		Spec struct {
			RemediationAction policyv1.RemediationAction `json:"remediationAction"`
		} `json:"spec"`
		Status policyv1.PolicyStatus `json:"status"`
	}
	data, _ := json.Marshal(object.Object)
	_ = json.Unmarshal(data, &typed) // what can't be read is unknown
	r := passes.Replica{Cluster: object.GetNamespace(), Action: typed.Spec.RemediationAction,
		RolloutStatus: status.RolloutStatus(typed.Status.RolloutStatus), Compliance: typed.Status.ComplianceState}
	if sameContent(want, contentOf(object)) {
		r.Version = version
	}
	if r.Applied = status.StampOf(&object).Applied; r.Applied.IsZero() && object.GetGeneration() <= 1 {
		r.Applied = object.GetCreationTimestamp().Time
	}
	for _, details := range typed.Status.Details {
		for _, message := range details.History {
			if at := message.LastTimestamp.Time; at.After(r.ComplianceTime) {
				r.ComplianceTime = at
			}
		}
	}
	return r
}

// contentOf is what the templates of a policy create, as JSON has it, one after the other. The rest of the spec a
// propagator writes in its own way, such as dependencies, and a rollout, such as the action.
func contentOf(object manifest.Object) (content []any) {
	spec, _ := object.Object["spec"].(map[string]any)
	templates, _ := spec["policy-templates"].([]any)
	for _, template := range templates {
		fields, _ := template.(map[string]any)
		content = append(content, generic(fields["objectDefinition"]))
	}
	return content
}

// sameContent says whether a replicated policy has the root's templates. One that a hub fills in looks different.
func sameContent(root, replica []any) bool {
	return slices.EqualFunc(root, replica, func(a, b any) bool {
		if text, err := json.Marshal(a); err == nil && bytes.Contains(text, []byte("{{hub")) {
			return true
		}
		return reflect.DeepEqual(a, b)
	})
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
	if others := len(o.works) + len(o.addOns) + len(o.oldAddOns) + len(o.replicated) - o.used; others > 0 {
		return []string{fmt.Sprintf("ManifestWork, ManagedClusterAddOn, replicated Policy: of no rollout here, not used (%d)", others)}
	}
	return nil
}

func readOldAddOn(o *objects, object manifest.Object) error {
	return into(func(o *objects) *[]source[oldaddon.ManagedClusterAddOn] { return &o.oldAddOns })(o, object)
}

package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// controller is the one of the package's documentation, with a hub in memory.
type controller struct {
	owner     *workv1alpha1.ManifestWorkReplicaSet
	placement *clusterv1beta1.Placement
	decisions []*clusterv1beta1.PlacementDecision
	works     map[string]*workv1.ManifestWork // by cluster
	last      *rollout.Result
}

// The block of doc.go.

// reconcile brings the next clusters on their way, and says when to come back.
func (c *controller) reconcile(ctx context.Context, owner *workv1alpha1.ManifestWorkReplicaSet) (time.Duration, error) {
	ref := owner.Spec.PlacementRefs[0]
	placement, decisions, err := c.getPlacement(owner.Namespace, ref.Name)
	if err != nil {
		return 0, err
	}
	groups, err := grouping.Read(placement, decisions)
	if err != nil {
		return 0, err
	}

	version := hashOf(owner.Spec.ManifestWorkTemplate)
	var reports []status.Report
	for _, work := range c.listWorks(owner) { // which shows what this controller wrote
		if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version}); ok {
			reports = append(reports, report)
		}
	}

	result, err := rollout.Plan(ref.RolloutStrategy, groups, reports, c.now(), rollout.RemoveAfter(time.Minute, c.last))
	if err != nil {
		return 0, err // names the field of the strategy
	}
	c.last = result

	for _, cluster := range result.Removed {
		err = errors.Join(err, c.deleteWork(ctx, owner, cluster)) // one that refuses must not hold up the others
	}
	for _, cluster := range slices.Concat(result.InFlight, result.Start) {
		if c.getGeneration(owner) != owner.Generation {
			return time.Millisecond, err // another version is wanted by now: plan anew
		}
		work := c.getWork(owner, cluster.Name) // as it is, or a new one under the cluster's one name
		status.Stamp(work, version, c.now())   // keeps the time where the work has the version
		work.Spec = owner.Spec.ManifestWorkTemplate
		err = errors.Join(err, c.applyWork(ctx, work)) // creates or updates it, unless nothing changes
	}

	for _, warning := range result.Warnings {
		c.event(owner, string(warning.Type), warning.String())
	}
	owner = owner.DeepCopy()
	if status.SetConditions(&owner.Status.Conditions, result.Summary(), owner.Generation, c.now()) {
		err = errors.Join(err, c.updateStatus(ctx, owner))
	}
	return result.RecheckAfter, err
}

// The end of the block.

func (c *controller) now() time.Time { return noon() }

func (c *controller) getPlacement(string, string) (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision, error) {
	return c.placement, c.decisions, nil
}

func hashOf(template workv1.ManifestWorkSpec) string {
	return fmt.Sprint(len(template.Workload.Manifests))
}

func (c *controller) listWorks(*workv1alpha1.ManifestWorkReplicaSet) (works []*workv1.ManifestWork) {
	for _, work := range c.works {
		works = append(works, work)
	}
	return works
}

func (c *controller) getGeneration(*workv1alpha1.ManifestWorkReplicaSet) int64 {
	return c.owner.Generation
}

func (c *controller) getWork(owner *workv1alpha1.ManifestWorkReplicaSet, cluster string) *workv1.ManifestWork {
	if work := c.works[cluster]; work != nil {
		return work.DeepCopy()
	}
	return &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: owner.Namespace + "-" + owner.Name}}
}

func (c *controller) applyWork(_ context.Context, work *workv1.ManifestWork) error {
	fmt.Println("apply", work.Namespace)
	c.works[work.Namespace] = work
	return nil
}

func (c *controller) deleteWork(_ context.Context, _ *workv1alpha1.ManifestWorkReplicaSet, cluster string) error {
	fmt.Println("delete", cluster)
	delete(c.works, cluster)
	return nil
}

func (c *controller) event(_ *workv1alpha1.ManifestWorkReplicaSet, reason, message string) {
	fmt.Println(reason+":", message)
}

func (c *controller) updateStatus(_ context.Context, owner *workv1alpha1.ManifestWorkReplicaSet) error {
	c.owner = owner
	return nil
}

// The controller of the package's documentation at its first call, and at the next: an agent that is silent holds its
// slot.
func Example_controller() {
	owner := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", Generation: 1}}
	owner.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "fleet", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m"}, MaxConcurrency: intstr.FromInt32(1),
		},
	}}}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "fleet"}}
	placement.Status.NumberOfSelectedClusters = 2
	c := &controller{
		owner: owner, placement: placement, works: map[string]*workv1.ManifestWork{},
		decisions: []*clusterv1beta1.PlacementDecision{decision(0, "", "oslo", "rome")},
	}
	for range 2 {
		after, err := c.reconcile(context.Background(), c.owner)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("come back after", after)
	}
	fmt.Println(c.owner.Status.Conditions[0].Message)
	// Output:
	// apply oslo
	// come back after 0s
	// apply oslo
	// come back after 10m0s
	// 0 of 2 clusters done, 1 in flight; 1 of 1 slot taken: oslo has not answered, times out at 2026-11-21T12:10:00Z
}

// The block in the package's documentation is the code that the example runs.
func TestDocumentedControllerIsTheOneThatRuns(t *testing.T) {
	source, err := os.ReadFile("example_controller_test.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if block := blockOf(string(source)); !strings.Contains(string(doc), block) {
		t.Errorf("doc.go does not have this block:\n%s", block)
	}
}

// blockOf is the part of a file that doc.go shows, as it stands there.
func blockOf(source string) string {
	_, block, _ := strings.Cut(source, "// The block of doc.go.\n\n")
	block, _, _ = strings.Cut(block, "\n// The end of the block.")
	return strings.ReplaceAll("//\t"+strings.ReplaceAll(strings.TrimRight(block, "\n"), "\n", "\n//\t"), "\n//\t\n", "\n//\n")
}

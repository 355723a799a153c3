package manager

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// Decisions lets decisionupdate write the PlacementDecisions of a namespace with controller-runtime's client. Get reads
// live, since it follows a conflict, which shows that a cache is stale.
type Decisions struct {
	Client    client.Client
	Live      client.Reader
	Namespace string
}

var _ decisionupdate.Client = Decisions{}

type decision = clusterv1beta1.PlacementDecision

// Create creates a PlacementDecision.
func (d Decisions) Create(ctx context.Context, pd *decision, _ metav1.CreateOptions) (*decision, error) {
	return pd, d.Client.Create(ctx, pd)
}

// Update updates a PlacementDecision, without its status.
func (d Decisions) Update(ctx context.Context, pd *decision, _ metav1.UpdateOptions) (*decision, error) {
	return pd, d.Client.Update(ctx, pd)
}

// UpdateStatus updates the status of a PlacementDecision.
func (d Decisions) UpdateStatus(ctx context.Context, pd *decision, _ metav1.UpdateOptions) (*decision, error) {
	return pd, d.Client.Status().Update(ctx, pd)
}

// Delete deletes a PlacementDecision.
func (d Decisions) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	pd := &decision{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name}}
	return d.Client.Delete(ctx, pd, &client.DeleteOptions{Preconditions: opts.Preconditions})
}

// Get reads a PlacementDecision.
func (d Decisions) Get(ctx context.Context, name string, _ metav1.GetOptions) (*decision, error) {
	pd := &decision{}
	return pd, d.Live.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: name}, pd)
}

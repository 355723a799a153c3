package inventory

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// Client writes objects of OCM as slices, for decisionupdate.Applier. A slice has no status, so one request writes all of
// it, where OCM's API takes two.
type Client struct {
	Client     client.Client
	Live       client.Reader // to read from the API server
	Namespace  string
	Convention Convention
}

var _ decisionupdate.Client = Client{}

// Create creates a slice with its clusters.
func (c Client) Create(ctx context.Context, o *clusterv1beta1.PlacementDecision, _ metav1.CreateOptions) (*clusterv1beta1.PlacementDecision, error) {
	s := FromOCM(c.Convention, o)
	return c.answer(s, c.Client.Create(ctx, s))
}

// Update writes a slice.
func (c Client) Update(ctx context.Context, o *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	s := FromOCM(c.Convention, o)
	return c.answer(s, c.Client.Update(ctx, s))
}

// UpdateStatus also writes the slice.
func (c Client) UpdateStatus(ctx context.Context, o *clusterv1beta1.PlacementDecision, opts metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return c.Update(ctx, o, opts)
}

// Delete deletes a slice.
func (c Client) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	s := &sig.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}
	return c.Client.Delete(ctx, s, &client.DeleteOptions{Preconditions: opts.Preconditions})
}

// Get reads a slice from the API server.
func (c Client) Get(ctx context.Context, name string, _ metav1.GetOptions) (*clusterv1beta1.PlacementDecision, error) {
	s := &sig.PlacementDecision{}
	return c.answer(s, c.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, s))
}

func (c Client) answer(s *sig.PlacementDecision, err error) (*clusterv1beta1.PlacementDecision, error) {
	if err != nil {
		return nil, err
	}
	return ToOCM(c.Convention, s)[0], nil
}

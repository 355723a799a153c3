// SPDX-License-Identifier: Apache-2.0

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
func (c Client) Create(ctx context.Context, decision *clusterv1beta1.PlacementDecision, _ metav1.CreateOptions) (*clusterv1beta1.PlacementDecision, error) {
	slice := FromOCM(c.Convention, decision)
	return c.answer(slice, c.Client.Create(ctx, slice))
}

// Update writes a slice.
func (c Client) Update(ctx context.Context, decision *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	slice := FromOCM(c.Convention, decision)
	return c.answer(slice, c.Client.Update(ctx, slice))
}

// UpdateStatus also writes the slice.
func (c Client) UpdateStatus(ctx context.Context, decision *clusterv1beta1.PlacementDecision, opts metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return c.Update(ctx, decision, opts)
}

// Delete deletes a slice.
func (c Client) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	slice := &sig.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}
	return c.Client.Delete(ctx, slice, &client.DeleteOptions{Preconditions: opts.Preconditions})
}

// Get reads a slice from the API server.
func (c Client) Get(ctx context.Context, name string, _ metav1.GetOptions) (*clusterv1beta1.PlacementDecision, error) {
	slice := &sig.PlacementDecision{}
	return c.answer(slice, c.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, slice))
}

func (c Client) answer(slice *sig.PlacementDecision, err error) (*clusterv1beta1.PlacementDecision, error) {
	if err != nil {
		return nil, err
	}
	return ToOCM(c.Convention, slice)[0], nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// writer lets decisionupdate write the PlacementDecisions of a namespace with controller-runtime's client. Get reads
// live, since it follows a conflict, which shows that a cache is stale.
type writer struct {
	client    client.Client
	live      client.Reader
	namespace string
}

var _ decisionupdate.Client = writer{}

type decision = clusterv1beta1.PlacementDecision

// Create creates a PlacementDecision.
func (w writer) Create(ctx context.Context, pd *decision, _ metav1.CreateOptions) (*decision, error) {
	return pd, w.client.Create(ctx, pd)
}

// Update updates a PlacementDecision, without its status.
func (w writer) Update(ctx context.Context, pd *decision, _ metav1.UpdateOptions) (*decision, error) {
	return pd, w.client.Update(ctx, pd)
}

// UpdateStatus updates the status of a PlacementDecision.
func (w writer) UpdateStatus(ctx context.Context, pd *decision, _ metav1.UpdateOptions) (*decision, error) {
	return pd, w.client.Status().Update(ctx, pd)
}

// Delete deletes a PlacementDecision.
func (w writer) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	pd := &decision{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	return w.client.Delete(ctx, pd, &client.DeleteOptions{Preconditions: opts.Preconditions})
}

// Get reads a PlacementDecision.
func (w writer) Get(ctx context.Context, name string, _ metav1.GetOptions) (*decision, error) {
	pd := &decision{}
	return pd, w.live.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, pd)
}

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// placementDecisions lets decisionupdate write the PlacementDecisions of a namespace with controller-runtime's client.
// An object is read by asking the API server itself: it is read after a conflict, which has just shown that a cache
// is old.
type placementDecisions struct {
	client    client.Client
	live      client.Reader
	namespace string
}

var _ decisionupdate.Client = placementDecisions{}

func (p placementDecisions) Create(ctx context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.CreateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return pd, p.client.Create(ctx, pd)
}

func (p placementDecisions) Update(ctx context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return pd, p.client.Update(ctx, pd)
}

func (p placementDecisions) UpdateStatus(ctx context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return pd, p.client.Status().Update(ctx, pd)
}

func (p placementDecisions) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	pd := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}
	return p.client.Delete(ctx, pd, &client.DeleteOptions{Preconditions: opts.Preconditions})
}

func (p placementDecisions) Get(ctx context.Context, name string, _ metav1.GetOptions) (*clusterv1beta1.PlacementDecision, error) {
	pd := &clusterv1beta1.PlacementDecision{}
	return pd, p.live.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: name}, pd)
}

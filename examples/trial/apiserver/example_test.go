// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

var rolling = decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}

// With OCM's generated client nothing is needed in between.
func Example_generatedClient() {
	ctx := context.Background()
	clientset, err := clusterclient.NewForConfig(server.Config)
	if err != nil {
		fmt.Println(err)
		return
	}
	const namespace = "generated-client"
	pds := clientset.ClusterV1beta1().PlacementDecisions(namespace)

	update := func(desired ...*clusterv1beta1.PlacementDecision) {
		for _, o := range desired {
			o.Namespace = namespace
		}
		list, err := pds.List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=web"})
		if err != nil {
			fmt.Println(err)
			return
		}
		var stored []*clusterv1beta1.PlacementDecision
		for i := range list.Items {
			stored = append(stored, &list.Items[i])
		}
		update, err := decisionupdate.Diff(stored, desired, rolling)
		if err != nil {
			fmt.Println(err)
			return
		}
		outcome, err := decisionupdate.Applier{Client: pds, Parallel: 4}.Apply(ctx, update)
		fmt.Println(outcome, err)
	}
	update(pd("web-decision-1", "0", "b", "c"), pd("web-decision-2", "0", "d"))
	update(pd("web-decision-1", "0", "a", "b"), pd("web-decision-2", "0", "c", "d"))
	// Output:
	// PlacementDecisions: 2 created, 0 updated, 0 deleted; 0 writes retried <nil>
	// PlacementDecisions: 0 created, 2 updated, 0 deleted; 0 writes retried <nil>
}

// placementDecisions makes a decisionupdate.Client of controller-runtime's client.
type placementDecisions struct {
	client.Client
	namespace string
}

func (c placementDecisions) Create(ctx context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.CreateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return pd, c.Client.Create(ctx, pd)
}

func (c placementDecisions) Update(ctx context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return pd, c.Client.Update(ctx, pd)
}

func (c placementDecisions) UpdateStatus(ctx context.Context, pd *clusterv1beta1.PlacementDecision, _ metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error) {
	return pd, c.Client.Status().Update(ctx, pd)
}

func (c placementDecisions) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	pd := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
	return c.Client.Delete(ctx, pd, &client.DeleteOptions{Preconditions: opts.Preconditions})
}

func (c placementDecisions) Get(ctx context.Context, name string, _ metav1.GetOptions) (*clusterv1beta1.PlacementDecision, error) {
	pd := &clusterv1beta1.PlacementDecision{}
	return pd, c.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, pd)
}

// With controller-runtime's client it takes a wrapper of a few lines. Get must ask the API server
// (mgr.GetAPIReader), not a cache, if the client has one for PlacementDecisions: the conflict that it is called
// for has just shown the cache to be old.
func Example_controllerRuntime() {
	ctx := context.Background()
	scheme := runtime.NewScheme()
	if err := clusterv1beta1.Install(scheme); err != nil {
		fmt.Println(err)
		return
	}
	cl, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		fmt.Println(err)
		return
	}
	const namespace = "controller-runtime"
	applier := decisionupdate.Applier{Client: placementDecisions{cl, namespace}}

	update := func(desired ...*clusterv1beta1.PlacementDecision) {
		for _, o := range desired {
			o.Namespace = namespace
		}
		var list clusterv1beta1.PlacementDecisionList
		if err := cl.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: "web"}); err != nil {
			fmt.Println(err)
			return
		}
		var stored []*clusterv1beta1.PlacementDecision
		for i := range list.Items {
			stored = append(stored, &list.Items[i])
		}
		update, err := decisionupdate.Diff(stored, desired, rolling)
		if err != nil {
			fmt.Println(err)
			return
		}
		outcome, err := applier.Apply(ctx, update)
		fmt.Println(outcome, err)
	}
	update(pd("web-decision-1", "0", "a", "b"), pd("web-decision-2", "0", "c"))
	update(pd("web-decision-1", "1", "a", "c"), pd("web-decision-2", "0", "b"))
	update(pd("web-decision-1", "1", "a", "c", "b"))
	// Output:
	// PlacementDecisions: 2 created, 0 updated, 0 deleted; 0 writes retried <nil>
	// PlacementDecisions: 0 created, 2 updated, 0 deleted; 0 writes retried; before these, 1 more update only added clusters, so that no cluster was missing at any time <nil>
	// PlacementDecisions: 0 created, 1 updated, 1 deleted; 0 writes retried <nil>
}

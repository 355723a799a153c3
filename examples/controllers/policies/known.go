// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// takeOver lists the Policies live, once in the life of a process, before anything is propagated. The caches may not show
// the writes of the process or leader before: a first list may come from an API server that is behind.
func (c *controller) takeOver(ctx context.Context) error {
	cached := kit.ByOwner(kit.All[policy](c.caches.policies), rootOf) // what comes after is newer than the list
	all, err := c.listAll(ctx)
	if err != nil {
		return err
	}
	now, live := c.now(), kit.ByOwner(all, rootOf)
	for _, root := range all {
		if _, replicated := rootOf(root); !replicated {
			memory := c.memories.Of(root.key())
			memory.stored.Begin([]*policy{root}, nil, now)
			memory.written.Begin(live[root.key()], cached[root.key()], now)
		}
	}
	return nil
}

// listAll lists the Policies as the API server has them now, in pages.
func (c *controller) listAll(ctx context.Context) (all []*policy, err error) {
	const page = 500
	for next := ""; ; {
		list, err := c.client.Resource(policies).List(ctx, metav1.ListOptions{Limit: page, Continue: next})
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			all = append(all, stateOf(&list.Items[i]))
		}
		if next = list.GetContinue(); next == "" {
			return all, nil
		}
	}
}

// stateOf is a Policy with only the fields that identify its state and its root.
func stateOf(u *unstructured.Unstructured) *policy {
	return &policy{ObjectMeta: metav1.ObjectMeta{
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(),
		DeletionTimestamp: u.GetDeletionTimestamp(), Labels: map[string]string{rootLabel: u.GetLabels()[rootLabel]},
	}}
}

// wrote notes the answer to a write of a Policy, and returns err.
func (c *controller) wrote(own *writes.Own[*policy], namespace, name string, answer *unstructured.Unstructured, err error) error {
	sent := &policy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err == nil {
		sent = stateOf(answer)
	}
	return own.Wrote(sent, err, c.now())
}

// behind says when to look again if the cache does not show all of this process's writes yet; 0 if it does. Until then nothing is
// propagated. By an outdated record, a replica would be deleted without a record of its cluster.
func (c *controller) behind(ctx context.Context, memory *memory) (time.Duration, error) {
	read := func(key types.NamespacedName) (*policy, error) {
		u, err := c.client.Resource(policies).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return stateOf(u), nil
	}
	unseen := func(own *writes.Own[*policy]) func() (int, error) {
		return func() (int, error) { return own.Unseen(c.caches.policies, read, c.now) }
	}
	return kit.Behind(unseen(&memory.stored), unseen(&memory.written), func() time.Duration { return memory.written.RecheckAfter(c.now()) })
}

// ignored are the ignored clusters: by name, or because the ManagedCluster was deleted. ManagedClusters are read live for the
// clusters of the record: a replica of a deselected cluster is recorded first. A cluster without a ManagedCluster stays ignored
// while its replica exists: otherwise it would be recorded again.
func (c *controller) ignored(ctx context.Context, root *policy, names []string, memory *memory) ([]string, error) {
	clusters := kit.Left(status.Records{"": root.record}, nil)
	for _, cluster := range memory.gone.Gone() {
		if c.replica(root.key(), cluster) != nil {
			clusters = append(clusters, cluster)
		}
	}
	return memory.gone.Of(names, clusters, func(cluster string) (bool, error) {
		_, err := c.client.Resource(managedClusters).Get(ctx, cluster, metav1.GetOptions{})
		if apierrors.IsNotFound(err) { // a hub that does not know such objects has none that could be deleted
			return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse), nil
		}
		return false, err
	}, c.now())
}

var (
	managedClusters = schema.GroupVersion(clusterv1.GroupVersion).WithResource("managedclusters")
	placements      = schema.GroupVersion(clusterv1beta1.GroupVersion).WithResource("placements")
)

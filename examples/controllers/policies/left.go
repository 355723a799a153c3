package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/status"
)

// giveUpAnnotation names, with commas between them, the clusters of a root policy that a person gives up. They count no more:
// neither those that left with a version nor those that the policy is bound to.
const giveUpAnnotation = "cohort.open-cluster-management.io/give-up"

var managedClusters = schema.GroupVersion(clusterv1.GroupVersion).WithResource("managedclusters")

// seenGone says whether the API server had no ManagedCluster, and when it was asked.
type seenGone struct {
	is bool
	at time.Time
}

// givenUp says which clusters a person gave up: by name, or by deleting the ManagedCluster. Only clusters of the record are
// asked for: a replica that tells something is recorded first. Who was given up and has left the record stays so while its replica
// is there, since the replica would be recorded again.
func (c *controller) givenUp(ctx context.Context, root *policy, memory *memory) ([]string, error) {
	is := make(map[string]bool)
	for name := range strings.SplitSeq(root.Annotations[giveUpAnnotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			is[name] = true
		}
	}
	var clusters []string
	for i := range root.record.Left {
		clusters = append(clusters, root.record.Left[i].Cluster)
	}
	for cluster, seen := range memory.gone {
		if seen.is && c.replica(root.key(), cluster) != nil {
			clusters = append(clusters, cluster)
		}
	}
	now, gone := c.now(), make(map[string]seenGone)
	for _, cluster := range clusters {
		seen, known := memory.gone[cluster]
		if !known || now.Sub(seen.at) >= patience {
			absent, err := c.isGone(ctx, cluster)
			if err != nil {
				return nil, err
			}
			seen = seenGone{absent, now}
		}
		if gone[cluster] = seen; seen.is {
			is[cluster] = true
		}
	}
	memory.gone = gone
	return slices.Collect(maps.Keys(is)), nil
}

// isGone asks the API server whether a cluster has no ManagedCluster any more. A hub that does not know such objects has none
// that could be deleted.
func (c *controller) isGone(ctx context.Context, cluster string) (bool, error) {
	_, err := c.client.Resource(managedClusters).Get(ctx, cluster, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse), nil
	}
	return false, err
}

// recordOf takes the record of clusters that left out of the annotations of a root policy: they are kept apart, so that a new
// record is no other content, and no replica gets it.
func recordOf(root metav1.Object) (status.Record, error) {
	records, err := status.RecordsOf(root)
	if err != nil {
		return status.Record{}, err
	}
	_, err = status.Records(nil).Note(root)
	return records[""], err
}

// store writes into the root policy what has to be known of clusters that left, and says whether that was anything new. A replica
// is deleted only by a propagation that read it back. Users write the root policy, too: a write of theirs in between is a conflict,
// and the next reconcile sees it.
func (c *controller) store(ctx context.Context, root *policy, memory *memory, record status.Record) (stored bool, err error) {
	var noted metav1.ObjectMeta
	if _, err := (status.Records{"": root.record}).Note(&noted); err != nil {
		return false, err
	}
	annotations := map[string]any{}
	for name := range noted.Annotations {
		annotations[name] = nil
	}
	if changed, err := (status.Records{"": record}).Note(&noted); !changed || err != nil {
		return false, err
	}
	for name, text := range noted.Annotations {
		annotations[name] = text
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": root.UID, "resourceVersion": root.ResourceVersion, "annotations": annotations,
	}})
	if err != nil {
		return false, err
	}
	answer, err := c.client.Resource(policies).Namespace(root.Namespace).Patch(ctx, root.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if memory.stored.wrote(answer, err, c.now()); err != nil && refused(err) {
		c.teller.event(root, warning, "Refused", err.Error())
	}
	return true, err
}

// behind says when to look again if the cache does not show yet what was written into the root policy itself; 0 if it does. An
// older record would let a replica go whose evidence is not stored any more.
func (c *controller) behind(ctx context.Context, root *policy, memory *memory) (recheck time.Duration, err error) {
	m := &memory.stored
	if m.unheard || !m.since.IsZero() && c.now().Sub(m.since) >= patience {
		if *m, err = ask(ctx, c.client.Resource(policies).Namespace(root.Namespace), root.Name, c.now()); err != nil {
			return 0, err
		}
	}
	if !m.shown(root) {
		return gather, nil // no event comes of it, if the policy stays as it was
	}
	*m = mark{}
	return 0, nil
}

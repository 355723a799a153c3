package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// write is one that a plan asks for.
type write struct {
	verb      verb
	cluster   string
	placement string               // that selects the cluster; none to delete
	work      *workv1.ManifestWork // as the cache has it; nil where there is none
}

type verb string

const (
	verbApply   verb = "apply"   // give the cluster the template, in the work that it has or a new one
	verbRelabel verb = "relabel" // the cluster has come to another placement: nothing else about its work changes
	verbDelete  verb = "delete"
)

// writes lists what the plans ask for: works that go, before works that come. Clusters in flight are not among them, as
// they have the version, and with it all that the template says.
func (c *controller) writes(set *workv1alpha1.ManifestWorkReplicaSet, placements []*placement) (writes []write) {
	for _, p := range placements {
		for _, work := range surplus(set, p) {
			writes = append(writes, write{verb: verbDelete, cluster: work.Namespace, work: work})
		}
	}
	for _, p := range placements {
		for _, cluster := range p.result.Removed { // the last one has the works that no placement selects any more
			writes = append(writes, write{verb: verbDelete, cluster: cluster, work: c.caches.workOn(set, cluster)})
		}
	}
	for _, p := range placements {
		for _, work := range p.moved {
			disposition, _, selected := p.result.Find(work.Namespace)
			if selected && disposition != rollout.DispositionStarting && work == c.caches.workOn(set, work.Namespace) {
				writes = append(writes, write{verb: verbRelabel, cluster: work.Namespace, placement: p.ref.Name, work: work})
			}
		}
		for _, cluster := range p.result.Start {
			work := c.caches.workOn(set, cluster.Name)
			if work == nil || work.DeletionTimestamp == nil { // otherwise once it is gone
				writes = append(writes, write{verb: verbApply, cluster: cluster.Name, placement: p.ref.Name, work: work})
			}
		}
	}
	return writes
}

// write makes one write, and notes the answer.
func (c *controller) write(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, memory *memory, w write, version string) error {
	if w.verb == verbDelete {
		err := c.client.Delete(ctx, w.work, client.Preconditions{UID: &w.work.UID})
		return memory.written.deleted(w.work, err, c.now())
	}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: w.cluster, Name: nameOf(set)}}
	if w.work != nil {
		work = w.work.DeepCopy()
	}
	metav1.SetMetaDataLabel(&work.ObjectMeta, setLabel, labelOf(set))
	metav1.SetMetaDataLabel(&work.ObjectMeta, placementLabel, w.placement)
	if w.verb == verbApply {
		work.Spec = *set.Spec.ManifestWorkTemplate.DeepCopy()
		status.Stamp(work, version, c.now()) // with the write that carries the version, and not with another
	}
	var err error
	if w.work == nil {
		err = c.client.Create(ctx, work)
	} else {
		err = c.client.Update(ctx, work) // a conflict if the cache is late
	}
	return memory.written.wrote(work, err, c.now())
}

// nameOf is the name of a set's work on each cluster. It follows from the set, so that whoever creates it twice creates
// one; sets of one name in two namespaces have two.
func nameOf(set *workv1alpha1.ManifestWorkReplicaSet) string {
	sum := sha256.Sum256([]byte(labelOf(set)))
	return fmt.Sprintf("%s-%s", set.Name, hex.EncodeToString(sum[:4]))
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Delivery is what a trial rolls out: add-ons, or policies in two passes.
type Delivery struct {
	owner, object Kind
	// gates says that a cluster gets a version in a first pass before it may start.
	gates bool
	// isOwner tells the owner from the objects of clusters.
	isOwner func(o object) bool
	// put writes the owner with a version. The first one creates it.
	put func(ctx context.Context, r *runner, version string, first bool) error
	// wanted reads the version and the strategy that an owner wants.
	wanted func(owner object) (string, clusterv1alpha1.RolloutStrategy)
	// read reads what an object says of its cluster.
	read func(o object) observed
	// reread does so by the states of an object since it was made, the newest last. What did not change since it was answered need not be
	// answered anew: neither where an edit by hand was set back, nor by a cluster that never got what was written in between. It may be nil.
	reread func(states []object) observed
	// traceless are the duties of which no trace tells enough to judge, with what it does not tell.
	traceless map[Duty]string
	// claims reads what the owner says. It is nil where the subject says it itself.
	claims func(owner object) *Claim
	// report makes the patch of an object's status that an agent writes.
	report func(o object, a answer, count int) map[string]any
	// parts counts the parts of an object that answer one after the other, and reportPart is report of one of them: nil where it has nothing to
	// say. Where it has to speak again after another part, it says after which; otherwise -1. Both may be nil.
	parts      func(o object) int
	reportPart func(o object, a answer, part int) (report map[string]any, after int)
	// shown reads of a policy's status which clusters Failed, and of the owner whether its compliance is known. It may be nil.
	shown func(owner object) ownerStatus
	// edit is what a person changes of an object by hand, and strip makes it one that another controller wrote. They may be nil.
	edit  func(o object, rng *rand.Rand) map[string]any
	strip func(o object) map[string]any
	// adopts says whether a controller can take such objects over at once.
	adopts func(o object) bool
	// replicates is strip with the content of a version, as another controller writes it. It is nil where a controller could not take that over
	// at once.
	replicates func(t *trial, o object, version string) map[string]any
	// validates says that the success of a cluster counts once it was found good, verdict whether and when it was, as the controller noted it, and
	// approve is what a user writes that finds it good: nil where it cannot be said yet. They may be nil.
	validates func(t *trial) bool
	verdict   func(o object) (good bool, at time.Time)
	approve   func(o object) map[string]any
	// patient says that a cluster that does not do what it should is in flight until its deadline. It may be nil.
	patient func(t *trial) bool
	// unregisters says that a controller ignores deselected clusters once their ManagedCluster is gone, and deletes the objects of an owner that
	// is gone.
	unregisters bool
	// patch sends a patch for an object.
	patch func(ctx context.Context, c clients, k Kind, o object, body []byte, sub ...string) error
	// remove deletes an object.
	remove func(ctx context.Context, c clients, k Kind, o object) error
}

// Claim is what a controller says of a rollout.
type Claim struct {
	Version  string // that the claim is about; empty for the wanted one
	Complete bool   // all have the version and are done
	Message  string // what is waited for, or what stopped it

	good bool // it is known to work, and stays so
}

// ownerStatus is what the status of an owner shows.
type ownerStatus struct {
	failed    []string // the clusters that Failed
	known     bool     // the compliance of all is known
	succeeded bool
}

// answer is what an agent says of a version.
type answer int

const (
	awaited answer = iota
	does
	doesNot
)

// observed is what an object says of its cluster.
type observed struct {
	version   string
	started   bool // the version acts on the cluster
	answer    answer
	at        time.Time // of the answer, as the agent says
	dying     bool
	finalizer bool
	content   string // what a person may change by hand; empty where that is nothing

	success  time.Time // of a cluster that was not found good yet
	answered bool      // all parts have, whatever that means for the rollout
	unheard  bool      // nothing was ever heard of one of the parts
	unfit    bool      // one part does not do, whatever the others still say

	applied time.Time // when the write was sent that brought it
}

// ignoredClusters reads which clusters an operator ignores on an owner.
func ignoredClusters(owner object, annotation string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.SplitSeq(owner.GetAnnotations()[annotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			all[name] = true
		}
	}
	return all
}

// patchOf makes a merge patch. With the version of the object it is refused if that has changed.
func patchOf(o object, change map[string]any) []byte {
	if o != nil {
		meta, _ := change["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			change["metadata"] = meta
		}
		meta["resourceVersion"] = o.GetResourceVersion()
	}
	body, err := json.Marshal(change)
	if err != nil {
		panic(err)
	}
	return body
}

const mergePatch = types.MergePatchType

// second is a time as agents write it.
func second(now time.Time) metav1.Time { return metav1.NewTime(now.Truncate(time.Second)) }

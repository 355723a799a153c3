// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"iter"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Blocked yields the clusters that wait (ToApply), by name, each with the reason.
func (p *Propagation) Blocked() iter.Seq2[Cluster, BlockReason] {
	return func(yield func(Cluster, BlockReason) bool) {
		for _, cluster := range p.Clusters {
			if cluster.RolloutStatus == status.ToApply && !yield(cluster, p.blockReason(cluster)) {
				return
			}
		}
	}
}

func (p *Propagation) blockReason(cluster Cluster) BlockReason {
	if p.isFirstPass(cluster) {
		return BlockReason{FirstPass: true, SilentUntil: cluster.silentUntil}
	}
	_, reason, _ := p.result.Find(cluster.Name)
	return BlockReason{Rollout: reason}
}

// isFirstPass says whether the cluster waits because its replica does not have this version, or because there is no sign that the
// cluster got it. With one pass no cluster waits for that.
func (p *Propagation) isFirstPass(cluster Cluster) bool {
	return p.two && (cluster.isOther || !cluster.silentUntil.IsZero())
}

// BlockReason says why a cluster waits.
type BlockReason struct {
	// FirstPass says that the cluster gets this version with inform now, or that there is no sign yet that it got it. A later
	// call says what the cluster waits for after that.
	FirstPass bool
	// SilentUntil is when a cluster without such a sign may start all the same. It is zero where it gets the version now.
	SilentUntil time.Time
	// Rollout is the rollout's reason, if it is not the first pass.
	Rollout rollout.BlockReason
}

const firstPass = "its replicated policy first gets this version with remediationAction inform; the action follows once it is the cluster's turn"

// silent is the sentence of a cluster in its first pass that has given no sign of it.
func silent(until time.Time) string {
	return "waiting until the cluster reports on this version with remediationAction inform, at most until " + until.UTC().Format(time.RFC3339)
}

// String is a sentence without its full stop, fit for the message of a condition or an event.
func (r BlockReason) String() string {
	switch {
	case !r.SilentUntil.IsZero():
		return silent(r.SilentUntil)
	case r.FirstPass:
		return firstPass
	}
	return r.Rollout.String()
}

// Explain says why the named cluster waits (ToApply), down to the clusters that wait for no other, or what a cluster in flight
// (Progressing) still has to do. It is empty for any other cluster, and for one that the policy is not bound to. The
// first call on a Propagation takes time linear in the clusters, later calls logarithmic time.
func (p *Propagation) Explain(cluster string) Explanation {
	switch c, _ := p.Find(cluster); {
	case c.RolloutStatus == status.Progressing:
		return Explanation{InFlight: p.inFlight(&c)}
	case c.RolloutStatus != status.ToApply:
		return Explanation{}
	case p.isFirstPass(c):
		return Explanation{FirstPass: true, SilentUntil: c.silentUntil}
	default:
		return Explanation{Rollout: ofPolicy(p.result.Explain(cluster))}
	}
}

// ofPolicy leaves out the remedies that a policy does not have: its replicas keep no attempts, and the policy before is not
// stored.
func ofPolicy(links rollout.Explanation) rollout.Explanation {
	for i := range links {
		links[i].Remedies = slices.DeleteFunc(links[i].Remedies, func(remedy rollout.Remedy) bool {
			return remedy.Type == rollout.RemedyTryAgain || remedy.Type == rollout.RemedyRevert
		})
	}
	return links
}

// Explanation says why a cluster waits, down to the first cause, or what a cluster in flight still has to do. It is empty for a
// cluster without either.
type Explanation struct {
	// FirstPass says that the cluster gets this version with inform now, or that there is no sign yet that it got it. It waits for
	// no other cluster.
	FirstPass bool
	// SilentUntil is when a cluster without such a sign may start all the same. It is zero where it gets the version now.
	SilentUntil time.Time
	// Rollout has the rollout's links, if it is not the first pass. They show a cluster that is in its first pass, and
	// would start otherwise, as one that starts now.
	Rollout rollout.Explanation
	// InFlight is what is known of a cluster in flight; nil for any other.
	InFlight *InFlight
}

// String has a line for each link.
func (e Explanation) String() string {
	switch {
	case !e.SilentUntil.IsZero():
		return silent(e.SilentUntil)
	case e.FirstPass:
		return firstPass
	case e.InFlight != nil:
		return e.InFlight.String()
	}
	return e.Rollout.String()
}

// Blockers lists the clusters that block others, as [rollout.Result.Blockers] does. It takes time linear in the clusters.
func (p *Propagation) Blockers() []rollout.Blocker { return p.plan().Blockers() }

// Changes says what is new since a previous Propagation of the same policy, perhaps of another version, for events and
// counts. Nothing is new since nil, and everything since a zero Propagation. It takes time linear in the clusters of
// both.
func (p *Propagation) Changes(previous *Propagation) rollout.Changes {
	if previous == nil {
		return rollout.Changes{}
	}
	return p.plan().Changes(previous.plan())
}

// plan gives the rollout's result, a zero Result for a zero Propagation.
func (p *Propagation) plan() *rollout.Result {
	if p.result == nil {
		return new(rollout.Result)
	}
	return p.result
}

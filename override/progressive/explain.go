// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Explain says why the named cluster waits, down to the first cause, and what ends the wait. It has a line for each link, without a
// full stop, and is empty for a cluster that does not wait.
func (p *Propagation) Explain(cluster string) string {
	if p.Plan == nil {
		return ""
	}
	if wanted := p.explainApproval(cluster); wanted != "" {
		return wanted
	}
	links := p.Plan.Explain(cluster)
	if len(links) == 0 || p.next.RolloutStatus == status.Failed {
		return p.explainFailure(cluster)
	}
	for i := range links { // a rollout is retried as a whole, and a policy has no rollback
		links[i].Remedies = slices.DeleteFunc(links[i].Remedies, func(remedy rollout.Remedy) bool {
			return remedy.Type == rollout.RemedyTryAgain || remedy.Type == rollout.RemedyRevert
		})
	}
	return links.String()
}

// explainApproval says that a cluster waits for the approval of its group. The plan says so only once nothing else blocks the group.
func (p *Propagation) explainApproval(cluster string) string {
	key, _, bound := p.groups.Find(cluster)
	ended := p.next.RolloutStatus == status.Failed || p.next.RolloutStatus == status.Succeeded
	if !bound || ended || !p.waits(cluster) || !p.strategy.isManual() || p.approvals.ofGroup(key) {
		return ""
	}
	field := "spec.ungrouped.rolloutApproved"
	if key.Name != "" {
		field = "rolloutApproved of " + key.Name + " in spec.decisionGroups"
	}
	if !p.approvals.counts {
		field = "spec.approvalsForVersion, which is for another version of the policy, and " + field
	}
	return key.String() + " is not approved; to do: set " + field + " of the Rollout"
}

// waits says whether a bound cluster waits for the version.
func (p *Propagation) waits(cluster string) bool {
	return slices.ContainsFunc(p.Clusters, func(c Cluster) bool { return c.Name == cluster && c.RolloutStatus == status.ToApply })
}

// explainFailure says why a cluster waits in a rollout that has failed.
func (p *Propagation) explainFailure(cluster string) string {
	if !p.waits(cluster) || p.next.RolloutStatus != status.Failed {
		return ""
	}
	why := "the rollout has failed"
	if p.Plan.Breach != nil {
		breach, _, _ := strings.Cut(p.Plan.Breach.String(), ";")
		why += ": " + strings.TrimPrefix(breach, "the rollout is stopped: ")
	}
	return why + "; to do: set spec.retryRollout.rolloutUID of the Rollout to " + p.next.RolloutUID + ", or change the policy"
}

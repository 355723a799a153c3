package override

import (
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// settle turns the statuses that were reported, of each bound cluster, into what it has to have, given the
// plan. The positions of the groups are those of the bound clusters, as both are by name.
func (p *Propagation) settle(root *Root, at []*Replica, statuses []status.RolloutStatus, s passes) {
	for _, cluster := range p.Rollout.TimedOut {
		position, _ := root.Groups.Position(cluster.Name)
		statuses[position] = status.TimeOut
	}
	for _, cluster := range p.Rollout.Start {
		// In two passes, a cluster that is not yet of this version goes through the first before it starts.
		if position, _ := root.Groups.Position(cluster.Name); !s.two || at[position].is(root.Version) {
			statuses[position] = status.Progressing
		}
	}
	for i := range root.Bound.Clusters {
		bound := &root.Bound.Clusters[i]
		c := Propagated{Name: bound.Name, Action: bound.Action, RolloutStatus: statuses[i]}
		switch {
		case c.RolloutStatus != status.ToApply:
		case bound.Action == Inform:
			c.RolloutStatus = status.Progressing // there is nothing to hold back
		default:
			c.Action = Inform
		}
		c.Write = at[i].write(root.Version, c)
		p.Clusters[i] = c
	}
}

// write says how the replica, nil where there is none, becomes what it has to be.
func (r *Replica) write(version string, c Propagated) Write {
	switch {
	case r == nil:
		return WriteCreate
	case !r.carries(version, c.Action):
		return WriteUpdate
	case r.RolloutStatus != c.RolloutStatus:
		return WriteStatus
	default:
		return WriteNothing
	}
}

// summarize sets the root policy's status. Of a replica that is to be written anew, what the cluster has
// reported is about something else.
func (p *Propagation) summarize(root *Root, at []*Replica) {
	clusters := make([]status.PolicyClusterStatus, len(p.Clusters))
	for i, c := range p.Clusters {
		clusters[i] = status.PolicyClusterStatus{ClusterName: c.Name, RolloutStatus: c.RolloutStatus}
		if c.Write == WriteNothing || c.Write == WriteStatus {
			clusters[i].ComplianceState = policyv1.ComplianceState(at[i].compliance())
		}
	}
	p.Status = root.Status
	p.StatusChanged = status.SetPolicyStatus(&p.Status, root.Status.Placement, clusters, p.Rollout.Summary())
}

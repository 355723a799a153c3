// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/cohort-ocm/cohort/status"
)

// cluster is the real state of a cluster, and what the hub has of it.
type cluster struct {
	name    string
	in      bool   // in the cluster set
	stage   string // a label
	site    string // a label
	tainted bool

	has      bool // the version
	finished bool // it succeeded with the version and soaked
	dead     bool // its agent is dead, since died
	died     time.Time
	comes    status.RolloutStatus // the effect of the version after a time; ToApply: its agent dies at once
	takes    time.Duration

	work, deleting bool                 // the hub has its work; it is being deleted
	says           status.RolloutStatus // the agent's report, since a time
	since, got     time.Time
}

// managed is its ManagedCluster.
func (c *cluster) managed() *clusterv1.ManagedCluster {
	m := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: c.name, Labels: map[string]string{"stage": c.stage, "site": c.site}}}
	m.Spec.HubAcceptsClient = true
	if c.in {
		m.Labels[clusterv1beta2.ClusterSetLabel] = clusterSet
	}
	if c.tainted {
		m.Spec.Taints = []clusterv1.Taint{{Key: clusterv1.ManagedClusterTaintUnreachable, Effect: clusterv1.TaintEffectNoSelect}}
	}
	return m
}

// report is the hub's report on its work.
func (c *cluster) report() status.Report {
	r := status.Report{Cluster: c.name, Status: c.says, Applied: c.got, Deleting: c.deleting}
	if c.says != status.ToApply {
		r.LastTransitionTime, r.Answered = c.since, c.since
	}
	return r
}

// start gives it the version.
func (c *cluster) start(now time.Time) {
	c.work, c.deleting, c.has, c.finished = true, false, true, false
	c.says, c.since, c.got = status.ToApply, time.Time{}, now
	if c.comes == status.ToApply && !c.dead {
		c.dead, c.died = true, now
	}
}

// live lets time pass: agents answer, die and recover, and the hub taints a cluster whose agent is silent for five minutes.
func (c *cluster) live(rng *rand.Rand, now time.Time) {
	is := func(s status.RolloutStatus) { c.says, c.since = s, now }
	switch {
	case c.dead:
		c.tainted = c.tainted || now.Sub(c.died) >= 5*time.Minute
		if rng.IntN(60) == 0 {
			c.dead, c.tainted, c.comes = false, false, pick(rng, status.Succeeded, status.Failed)
		}
	case c.has && (!c.work || c.deleting): // the agent removes the version, and its finalizer from the work
		c.has, c.work, c.deleting = false, false, false
		c.comes = pick(rng, status.Succeeded, status.ToApply)
	case !c.has:
	case c.says == status.ToApply:
		is(status.Progressing)
	case c.says == status.Progressing && now.Sub(c.since) >= c.takes && c.comes != status.ToApply:
		is(c.comes)
	case c.says == status.Failed && rng.IntN(40) == 0:
		is(status.Progressing)
		c.comes = status.Succeeded
	}
	switch rng.IntN(250) {
	case 0:
		c.in = !c.in
	case 1:
		c.stage = pick(rng, "canary", "production", "production")
	case 2:
		c.site = pick(rng, "east", "west", "west")
	case 3:
		c.tainted = c.dead || !c.tainted
	case 4:
		if !c.dead && rng.IntN(3) == 0 {
			c.dead, c.died = true, now
		}
	}
}

func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

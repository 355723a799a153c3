package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// teller tells people, by events, and Prometheus what became of a rollout.
type teller struct {
	events   events.EventRecorder
	changes  *prometheus.CounterVec // by policy, and what became of clusters
	clusters *prometheus.GaugeVec   // by policy and status
}

// newTeller makes one, and registers its metrics.
func newTeller(recorder events.EventRecorder, registry prometheus.Registerer) teller {
	t := teller{
		events: recorder,
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "policy_cluster_changes_total",
			Help: "How many clusters of a policy have started, succeeded, failed, timed out, or recovered.",
		}, []string{"namespace", "name", "change"}),
		clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "policy_clusters",
			Help: "How many clusters of a policy have a rollout status now.",
		}, []string{"namespace", "name", "status"}),
	}
	registry.MustRegister(t.changes, t.clusters)
	return t
}

// tell tells what is new since the reconcile before. Of what happened before this process there is nothing to tell,
// unless nobody has looked at the policy yet.
func (c *controller) tell(root *policy, memory *memory, resolution *override.Resolution, p *passes.Propagation) {
	previous := memory.last
	if previous == nil && root.status.RolloutStatus == "" {
		previous = &passes.Propagation{}
	}
	memory.last = p
	changes := p.Changes(previous)
	for _, part := range []struct {
		reason, kind string
		clusters     []string
		changes      rollout.Changes // this part alone, for its sentence
	}{
		{"Started", normal, changes.Started, rollout.Changes{Started: changes.Started}},
		{"Succeeded", normal, changes.Succeeded, rollout.Changes{Succeeded: changes.Succeeded}},
		{"Failed", warning, changes.Failed, rollout.Changes{Failed: changes.Failed}},
		{"TimedOut", warning, changes.TimedOut, rollout.Changes{TimedOut: changes.TimedOut}},
		{"Recovered", normal, changes.Recovered, rollout.Changes{Recovered: changes.Recovered}},
	} {
		if n := len(part.clusters); n > 0 {
			c.teller.event(root, part.kind, part.reason, part.changes.String())
			c.teller.changes.WithLabelValues(root.Namespace, root.Name, part.reason).Add(float64(n))
		}
	}
	if changes.Breached != nil {
		c.teller.event(root, warning, "Stopped", changes.Breached.String())
	}
	if changes.Resumed {
		c.teller.event(root, normal, "Resumed", "no budget is breached any more")
	}
	for _, w := range changes.Warned {
		c.teller.event(root, warning, string(w.Type), w.String())
	}
	if resolution != memory.told {
		for _, ignored := range resolution.Ignored() {
			c.teller.event(root, warning, string(ignored.Type), ignored.Message)
		}
		memory.told = resolution
	}
	counts := p.Summary().Counts
	for status, n := range map[string]int{
		"ToApply": counts.ToApply, "Progressing": counts.Progressing, "Succeeded": counts.Succeeded,
		"Failed": counts.Failed, "TimeOut": counts.TimeOut,
	} {
		c.teller.clusters.WithLabelValues(root.Namespace, root.Name, status).Set(float64(n))
	}
}

// tellDropped says once of a policy what the API server drops without a word, since its definition of policies lacks the fields of
// the rollout. Without its strategy a policy is enforced on all clusters at once. The rollout status is shown only.
func (c *controller) tellDropped(ctx context.Context, root *policy, memory *memory) {
	if memory.dropped && !memory.warned {
		c.teller.event(root, warning, "RolloutStatusDropped", "the API server drops status.rolloutStatus: its definition of policies lacks it")
		memory.warned = true
	}
	spec := &root.root.Spec
	if action, _ := spec.RemediationAction.Known(); memory.asked || spec.Disabled || action == policyv1.Inform || spec.RolloutStrategy.Type != "" {
		return
	}
	patch := []byte(`{"spec": {"rolloutStrategy": {"type": "All"}}}`)
	answer, err := c.client.Resource(policies).Namespace(root.Namespace).Patch(ctx, root.Name, types.MergePatchType, patch,
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return // it is asked at the next look
	}
	memory.asked = true
	if _, kept, _ := unstructured.NestedString(answer.Object, "spec", "rolloutStrategy", "type"); !kept {
		c.teller.event(root, warning, "RolloutStrategyDropped", "the API server drops spec.rolloutStrategy, since its definition of policies lacks it: "+
			"the policy is enforced on all clusters at once")
	}
}

func (t *teller) event(root *policy, kind, reason, note string) {
	const most = 1000 // the API server refuses notes of more than 1024 bytes
	if len(note) > most {
		note = note[:most] + "…"
	}
	t.events.Eventf(root.raw, nil, kind, reason, "Rollout", "%s", note)
}

// forget drops the metrics of a policy.
func (t *teller) forget(root types.NamespacedName) {
	labels := prometheus.Labels{"namespace": root.Namespace, "name": root.Name}
	t.changes.DeletePartialMatch(labels)
	t.clusters.DeletePartialMatch(labels)
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// ofThePolicies are worlds of policies in two passes.
var ofThePolicies = foreignKind{
	definitions: func(dir string) ([]string, error) {
		return apiserver.PolicyDefinitions(dir, apiserver.RolloutStrategy, apiserver.RolloutStatus)
	},
	watches: policyKinds, removeAfter: 5 * time.Second, patience: 5*time.Second + 2*unshownFor,
	probe: func(ctx context.Context, hub *realHub) (object, func() (object, error), error) {
		api := hub.clients("user").any.Resource(policyResource(Policies)).Namespace("probe")
		probe := policyObject("probe", "Policy", "probe")
		probe.Object["spec"] = map[string]any{"disabled": false, "remediationAction": "inform", "policy-templates": templatesOf([]policyTemplate{{
			kind: configurationPolicy, name: "probe", own: "inform", content: "v1"}})}
		written, err := api.Create(ctx, probe, metav1.CreateOptions{})
		return written, func() (object, error) { return api.Get(ctx, "probe", metav1.GetOptions{}) }, err
	},
	idle: idle(ofForeignPolicies()),
	play: func(ctx context.Context, hub *realHub, subject *Subject, _ int, seed uint64) *foreignOutcome {
		return foreignPolicy(seed).record(ctx, hub.site, subject, worldName())
	},
}

// ofForeignPolicies has the root's status say what the controller claims.
func ofForeignPolicies() *Delivery {
	d := OfPolicies()
	d.claims = func(owner object) *Claim {
		s := shownOfPolicy(owner.(*unstructured.Unstructured))
		return &Claim{Complete: s.succeeded}
	}
	return d
}

// foreignPolicy is a trial of a program of which the harness plays no crashes and no switch. No cluster is validated, since no trace tells which were
// found good.
func foreignPolicy(seed uint64) *trial {
	for isValidated(&trial{world: &world{seed: seed}}) {
		seed += 1_000_000
	}
	t := drawTrial(seed, "")
	t.first = false
	t.acts = slices.DeleteFunc(t.acts, func(a act) bool { return slices.Contains([]string{restarts, stops, deletesOne}, a.what) })
	return t
}

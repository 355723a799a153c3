// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

const (
	policyGroup = "policy.open-cluster-management.io"
	policyName  = "web"
)

func policyResource(k Kind) schema.GroupVersionResource {
	switch k {
	case PolicySets:
		return schema.GroupVersionResource{Group: policyGroup, Version: "v1beta1", Resource: "policysets"}
	case Bindings:
		return schema.GroupVersionResource{Group: policyGroup, Version: "v1", Resource: "placementbindings"}
	default:
		return schema.GroupVersionResource{Group: policyGroup, Version: "v1", Resource: "policies"}
	}
}

// OfPolicies is the delivery of policies that are enforced in two passes. The owner is the root policy, in the namespace of the
// trial. The version stands in its template. A replicated policy acts on its cluster where it is enforced.
func OfPolicies() *Delivery {
	return &Delivery{
		owner: Policies, object: Policies, gates: true, unregisters: true,
		isOwner: func(o object) bool { return o.GetName() == policyName },
		put:     putPolicy,
		wanted: func(owner object) (string, clusterv1alpha1.RolloutStrategy) {
			u := owner.(*unstructured.Unstructured)
			return versionOfPolicy(u), strategyOfPolicy(u)
		},
		read: func(o object) observed { return readPolicy([]object{o}) }, reread: readPolicy, parts: partsOfPolicy, reportPart: reportOfTemplate, patient: isPatient,
		shown: shownOfPolicy, edit: editPolicy, strip: stripPolicy, adopts: adoptsPolicy, replicates: replicatesPolicy,
		validates: isValidated, verdict: verdictOnPolicy, approve: approvePolicy, traceless: tracelessOfPolicies,
		patch: func(ctx context.Context, c clients, k Kind, o object, body []byte, sub ...string) error {
			_, err := c.any.Resource(policyResource(k)).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), mergePatch, body, metav1.PatchOptions{}, sub...)
			return err
		},
		remove: func(ctx context.Context, c clients, k Kind, o object) error {
			return c.any.Resource(policyResource(k)).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{})
		},
	}
}

// tracelessOfPolicies are the duties that the judge of traces need not find, with the reasons.
var tracelessOfPolicies = map[Duty]string{
	DutyVerdict:   "which successes were found good",
	DutyAdopt:     "which controller wrote a policy",
	DutyEdited:    "what a user edited: it reads neither labels nor dependencies",
	DutyTemplates: "what the owner says of each cluster, which it does not read",
	DutyOwnerGone: "what happens after the owner was deleted: the trace ends before",
	DutyRecord:    "whether a cluster that timed out had failed, once its policy is gone: a policy goes at once",
	DutyReadBack:  "whether a cluster that timed out had failed, once its policy is gone: a policy goes at once",
}

func putPolicy(ctx context.Context, r *runner, version string, first bool) error {
	api := r.user.any.Resource(policyResource(Policies)).Namespace(r.name)
	drawn, _ := drawTemplates(r.seed, numberOf(version))
	templates, options := templatesOf(drawn), optionsOf(version)
	if !first {
		for {
			root, err := api.Get(ctx, policyName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			spec := root.Object["spec"].(map[string]any)
			spec["policy-templates"], spec["hubTemplateOptions"] = templates, options
			if _, err = api.Update(ctx, root, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				return err
			}
		}
	}
	strategy, err := plain(r.strategy)
	if err != nil {
		return err
	}
	root := policyObject(r.name, "Policy", policyName)
	root.SetAnnotations(map[string]string{
		"cohort.open-cluster-management.io/fail-at-once": fmt.Sprint(!isPatient(r.trial)), validateAnnotation: fmt.Sprint(isValidated(r.trial)),
	})
	root.Object["spec"] = map[string]any{"disabled": false, "remediationAction": "enforce", "rolloutStrategy": strategy,
		"policy-templates": templates, "hubTemplateOptions": options}
	if _, err := api.Create(ctx, root, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := policyObject(r.name, "PlacementBinding", placementName)
	binding.Object["placementRef"] = map[string]any{"apiGroup": clusterv1beta1.GroupName, "kind": "Placement", "name": placementName}
	binding.Object["subjects"] = []any{map[string]any{"apiGroup": policyGroup, "kind": "Policy", "name": policyName}}
	_, err = r.user.any.Resource(policyResource(Bindings)).Namespace(r.name).Create(ctx, binding, metav1.CreateOptions{})
	return err
}

func optionsOf(version string) map[string]any { return map[string]any{"serviceAccountName": version} }

func policyObject(namespace, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyGroup + "/v1", "kind": kind}}
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// plain turns a value into what an unstructured object has.
func plain(value any) (out any, _ error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(text, &out)
}

func strategyOfPolicy(u *unstructured.Unstructured) (s clusterv1alpha1.RolloutStrategy) {
	text, err := json.Marshal(u.Object["spec"].(map[string]any)["rolloutStrategy"])
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}

// readPolicy reads a replicated policy from its states, the newest last. It has answered once the newest message of each template is about what
// the template is now, as agents of a trial write it. A template that only informs has done what it should whatever it says.
func readPolicy(states []object) observed {
	u := states[len(states)-1].(*unstructured.Unstructured)
	templates := templatesIn(u)
	h := observed{
		version: versionOfPolicy(u), started: !strings.EqualFold(actionOfPolicy(u), "inform"),
		dying: u.GetDeletionTimestamp() != nil, finalizer: len(u.GetFinalizers()) > 0, content: contentOf(u),
	}
	details, waits, open := detailsOf(u), len(templates) == 0, false
	h.unheard = slices.ContainsFunc(templates, func(t policyTemplate) bool { return len(details[t.name].History) == 0 })
	for i := range templates {
		t := &templates[i]
		d := details[t.name]
		if !d.hasAnsweredIn(t, states) {
			open = true
			continue
		}
		if at := d.History[0].LastTimestamp.Time; at.After(h.at) {
			h.at = at
		}
		h.unfit = h.unfit || d.Compliant == nonCompliant && (!t.informs() || !h.started)
		waits = waits || d.Compliant == pending && (!t.informs() || !h.started)
	}
	if open {
		return h
	}
	h.answered = true
	switch {
	case h.unfit:
		h.answer = doesNot
	case !waits:
		h.answer = does
	}
	return h
}

func actionOfPolicy(u *unstructured.Unstructured) string {
	action, _, _ := unstructured.NestedString(u.Object, "spec", "remediationAction")
	return action
}

// shownOfPolicy reads the status of the root policy.
func shownOfPolicy(owner object) (s ownerStatus) {
	u := owner.(*unstructured.Unstructured)
	compliance, _, _ := unstructured.NestedString(u.Object, "status", "compliant")
	rollout, _, _ := unstructured.NestedString(u.Object, "status", "rolloutStatus")
	s.known, s.succeeded = compliance != "", rollout == "Succeeded"
	clusters, _, _ := unstructured.NestedSlice(u.Object, "status", "status")
	for _, c := range clusters {
		if of, ok := c.(map[string]any); ok && of["rolloutStatus"] == "Failed" {
			s.failed = append(s.failed, of["clustername"].(string))
		}
	}
	return s
}

// editPolicy is what a person changes of a replica: what a template waits for, or the labels. A trace does not tell what changed a template,
// and takes it for another version. Of a template that says only what is new nothing would be heard for five minutes after it is set back.
func editPolicy(o object, rng *rand.Rand) map[string]any {
	all := templatesIn(o.(*unstructured.Unstructured))
	at := slices.IndexFunc(all, policyTemplate.speaks)
	if rng.IntN(3) == 0 || at < 0 {
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{"example.com/by": "hand"}}}
	}
	templates := templatesOf(all)
	templates[at].(map[string]any)["extraDependencies"] = []any{map[string]any{
		"apiVersion": policyGroup + "/v1", "kind": "Policy", "name": "by.hand", "compliance": compliant,
	}}
	return map[string]any{"spec": map[string]any{"policy-templates": templates}}
}

// contentOf is what a person may have changed by hand in a replica.
func contentOf(u *unstructured.Unstructured) string {
	return fmt.Sprint(templatesIn(u), u.GetLabels()["example.com/by"])
}

// stripPolicy is a patch after which a replica is as OCM's propagator writes it.
func stripPolicy(o object) map[string]any {
	none := map[string]any{}
	for name := range o.GetAnnotations() {
		if strings.HasPrefix(name, "cohort.open-cluster-management.io/") {
			none[name] = nil
		}
	}
	return map[string]any{"metadata": map[string]any{"annotations": none}}
}

// adoptsPolicy says whether all templates have said something since the last write. What was said before counts later.
func adoptsPolicy(o object) bool {
	return !slices.ContainsFunc(templatesIn(o.(*unstructured.Unstructured)), func(t policyTemplate) bool { return t.isSame() })
}

// replicatesPolicy gives a version to a replica as OCM's propagator does: enforced at once, without a stamp.
func replicatesPolicy(t *trial, o object, version string) map[string]any {
	all, _ := drawTemplates(t.seed, numberOf(version))
	if slices.ContainsFunc(all, func(t policyTemplate) bool { return t.isSame() }) {
		return nil
	}
	patch := stripPolicy(o)
	patch["spec"] = map[string]any{"remediationAction": "enforce", "policy-templates": templatesOf(all), "hubTemplateOptions": optionsOf(version)}
	return patch
}

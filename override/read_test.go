// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// objects are those objects of a YAML text that this package knows.
type objects struct {
	policies []*policyv1.Policy
	sets     []*policyv1.PolicySet
	bindings []*policyv1.PlacementBinding
}

// noTemplates leaves out the templates, which this package does not read.
var noTemplates = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".PolicyTemplates" }, cmp.Ignore())

// fill makes a value of the text of one object.
type fill func(text []byte, into any) error

// throughYAML is for callers that read files.
func throughYAML(text []byte, into any) error {
	return yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096).Decode(into)
}

// throughUnstructured is for callers that watch unstructured objects.
func throughUnstructured(text []byte, into any) error {
	var object map[string]any
	if err := throughYAML(text, &object); err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object, into)
}

func read(t testing.TB, text []byte, fill fill) objects {
	t.Helper()
	var found objects
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		var meta metav1.TypeMeta
		if err = errors.Join(err, throughYAML(document, &meta)); err != nil {
			t.Fatal(err)
		}
		switch meta.Kind {
		case "Policy":
			policy := &policyv1.Policy{}
			err = fill(document, policy)
			found.policies = append(found.policies, policy)
		case "PolicySet":
			set := &policyv1.PolicySet{}
			err = fill(document, set)
			found.sets = append(found.sets, set)
		case "PlacementBinding":
			binding := &policyv1.PlacementBinding{}
			err = fill(document, binding)
			found.bindings = append(found.bindings, binding)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// O1: the objects that the propagator's own tests use fill the types, from YAML and from unstructured.
func TestReadFixtures(t *testing.T) {
	var text []byte
	for _, name := range []string{"selective-enforcement-policy.yaml", "selective-enforcement-binding.yaml"} {
		file, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, file...), "\n---\n"...)
	}
	typeMeta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: "policy.open-cluster-management.io/v1", Kind: kind}
	}
	rule := func(name string) policyv1.PlacementRef {
		return policyv1.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: name}
	}
	subjects := []policyv1.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "Policy", Name: "case16-test-policy"}}
	want := objects{
		policies: []*policyv1.Policy{{
			TypeMeta:   typeMeta("Policy"),
			ObjectMeta: metav1.ObjectMeta{Name: "case16-test-policy"},
			Spec:       policyv1.PolicySpec{RemediationAction: policyv1.Inform},
		}},
		bindings: []*policyv1.PlacementBinding{{
			TypeMeta:     typeMeta("PlacementBinding"),
			ObjectMeta:   metav1.ObjectMeta{Name: "case16-test-policy-pb"},
			PlacementRef: rule("case16-test-policy-plr"),
			Subjects:     subjects,
		}, {
			TypeMeta:         typeMeta("PlacementBinding"),
			ObjectMeta:       metav1.ObjectMeta{Name: "case16-test-policy-pb-enforce"},
			PlacementRef:     rule("case16-test-policy-plr-enforce"),
			Subjects:         subjects,
			BindingOverrides: policyv1.BindingOverrides{RemediationAction: policyv1.Enforce},
			SubFilter:        policyv1.Restricted,
		}},
	}
	selected := map[string][]string{
		"case16-test-policy-plr":         {"managed1", "managed2"},
		"case16-test-policy-plr-enforce": {"managed2", "managed3"},
	}
	for name, fill := range map[string]fill{"YAML": throughYAML, "unstructured": throughUnstructured} {
		t.Run(name, func(t *testing.T) {
			got := read(t, text, fill)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(objects{}), noTemplates); diff != "" {
				t.Fatalf("objects (-want +got):\n%s", diff)
			}
			if got, want := resolveObjects(t, got, selected).String(), "clusters with enforce: managed2; clusters with inform: managed1"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// O1: every field this package reads is filled, in both spellings of an override.
func TestReadEveryField(t *testing.T) {
	const text = `
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: hardening, namespace: policies, generation: 3}
spec:
  disabled: true
  remediationAction: Enforce
  rolloutStrategy:
    type: Progressive
    progressive: {maxConcurrency: 10%, minSuccessTime: 5m, progressDeadline: 10m}
---
apiVersion: policy.open-cluster-management.io/v1beta1
kind: PolicySet
metadata: {name: baseline, namespace: policies}
spec:
  policies: [hardening, audit]
  exclusions:
  - policyName: hardening
    clusterNames: [lab1, lab2]
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: design, namespace: policies}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: canary}
subjects:
- {apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: baseline}
remediationActionOverride: {remediationAction: enforce, subFilter: true}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: unset, namespace: policies}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: canary}
subjects: []
bindingOverrides: {remediationAction: null}
remediationActionOverride: {remediationAction: null}
`
	want := objects{
		policies: []*policyv1.Policy{{
			Spec: policyv1.PolicySpec{Disabled: true, RemediationAction: "Enforce", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
				Type: clusterv1alpha1.Progressive,
				Progressive: &clusterv1alpha1.RolloutProgressive{
					RolloutConfig:  clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: 5 * 60e9}, ProgressDeadline: "10m"},
					MaxConcurrency: intstr.FromString("10%"),
				},
			}},
		}},
		sets: []*policyv1.PolicySet{{
			Spec: policyv1.PolicySetSpec{
				Policies:   []string{"hardening", "audit"},
				Exclusions: []policyv1.Exclusion{{PolicyName: "hardening", ClusterNames: []string{"lab1", "lab2"}}},
			},
		}},
		bindings: []*policyv1.PlacementBinding{{
			PlacementRef:              placement("canary"),
			Subjects:                  []policyv1.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "PolicySet", Name: "baseline"}},
			RemediationActionOverride: policyv1.RemediationActionOverride{RemediationAction: "enforce", SubFilter: true},
		}, {
			PlacementRef: placement("canary"),
			Subjects:     []policyv1.Subject{},
		}},
	}
	meta := cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".TypeMeta" || p.Last().String() == ".ObjectMeta"
	}, cmp.Ignore())
	for name, fill := range map[string]fill{"YAML": throughYAML, "unstructured": throughUnstructured} {
		t.Run(name, func(t *testing.T) {
			got := read(t, []byte(text), fill)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(objects{}), meta); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if p := got.policies[0]; p.Name != "hardening" || p.Namespace != "policies" || p.Generation != 3 {
				t.Errorf("metadata of the policy: %+v", p.ObjectMeta)
			}
		})
	}
}

// resolveObjects does what a controller does with objects and the clusters that each placement selected.
func resolveObjects(t testing.TB, o objects, selected map[string][]string) *override.Resolution {
	t.Helper()
	bindings, err := override.Bindings(o.policies[0], o.bindings, o.sets)
	if err != nil {
		t.Fatal(err)
	}
	for i := range bindings {
		bindings[i].Groups = oneGroup(selected[bindings[i].PlacementRef.Name]...)
	}
	return resolve(t, o.policies[0], bindings...)
}

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
)

// objects are those objects of a YAML text that this package knows.
type objects struct {
	policies []*override.Policy
	sets     []*override.PolicySet
	bindings []*override.PlacementBinding
}

// fill makes a value of the text of one object.
type fill func(text []byte, into any) error

// throughYAML is for those who read files.
func throughYAML(text []byte, into any) error {
	return yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096).Decode(into)
}

// throughUnstructured is for those who watch unstructured objects.
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
			policy := &override.Policy{}
			err = fill(document, policy)
			found.policies = append(found.policies, policy)
		case "PolicySet":
			set := &override.PolicySet{}
			err = fill(document, set)
			found.sets = append(found.sets, set)
		case "PlacementBinding":
			binding := &override.PlacementBinding{}
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
	rule := func(name string) override.PlacementRef {
		return override.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: name}
	}
	subjects := []override.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "Policy", Name: "case16-test-policy"}}
	want := objects{
		policies: []*override.Policy{{
			TypeMeta:   typeMeta("Policy"),
			ObjectMeta: metav1.ObjectMeta{Name: "case16-test-policy"},
			Spec:       override.PolicySpec{RemediationAction: override.Inform},
		}},
		bindings: []*override.PlacementBinding{{
			TypeMeta:     typeMeta("PlacementBinding"),
			ObjectMeta:   metav1.ObjectMeta{Name: "case16-test-policy-pb"},
			PlacementRef: rule("case16-test-policy-plr"),
			Subjects:     subjects,
		}, {
			TypeMeta:         typeMeta("PlacementBinding"),
			ObjectMeta:       metav1.ObjectMeta{Name: "case16-test-policy-pb-enforce"},
			PlacementRef:     rule("case16-test-policy-plr-enforce"),
			Subjects:         subjects,
			BindingOverrides: override.BindingOverrides{RemediationAction: override.Enforce},
			SubFilter:        override.Restricted,
		}},
	}
	selected := map[string][]string{
		"case16-test-policy-plr":         {"managed1", "managed2"},
		"case16-test-policy-plr-enforce": {"managed2", "managed3"},
	}
	for name, fill := range map[string]fill{"YAML": throughYAML, "unstructured": throughUnstructured} {
		t.Run(name, func(t *testing.T) {
			got := read(t, text, fill)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(objects{})); diff != "" {
				t.Fatalf("objects (-want +got):\n%s", diff)
			}
			if got, want := resolve(t, got, selected).String(), "enforce: managed2; inform: managed1"; got != want {
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
		policies: []*override.Policy{{
			Spec: override.PolicySpec{Disabled: true, RemediationAction: "Enforce", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
				Type: clusterv1alpha1.Progressive,
				Progressive: &clusterv1alpha1.RolloutProgressive{
					RolloutConfig:  clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: 5 * 60e9}, ProgressDeadline: "10m"},
					MaxConcurrency: intstr.FromString("10%"),
				},
			}},
		}},
		sets: []*override.PolicySet{{
			Spec: override.PolicySetSpec{
				Policies:   []string{"hardening", "audit"},
				Exclusions: []override.Exclusion{{PolicyName: "hardening", ClusterNames: []string{"lab1", "lab2"}}},
			},
		}},
		bindings: []*override.PlacementBinding{{
			PlacementRef:              placement("canary"),
			Subjects:                  []override.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "PolicySet", Name: "baseline"}},
			RemediationActionOverride: override.RemediationActionOverride{RemediationAction: "enforce", SubFilter: true},
		}, {
			PlacementRef: placement("canary"),
			Subjects:     []override.Subject{},
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

// resolve does what a controller does with objects and the clusters that each placement selected.
func resolve(t testing.TB, o objects, selected map[string][]string) override.Result {
	t.Helper()
	bindings, err := override.Bindings(o.policies[0], o.bindings, o.sets)
	if err != nil {
		t.Fatal(err)
	}
	for i := range bindings {
		bindings[i].Clusters = selected[bindings[i].PlacementRef.Name]
	}
	result, err := override.Resolve(o.policies[0], bindings)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

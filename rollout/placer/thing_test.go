// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout"
)

// thing is an API that places ManifestWorks. other is a second one, whose objects may have the same names.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   thingSpec   `json:"spec,omitempty"`
	Status thingStatus `json:"status,omitempty"`
}

type thingSpec struct {
	Placement string                          `json:"placement,omitempty"`
	Strategy  clusterv1alpha1.RolloutStrategy `json:"rolloutStrategy,omitempty"`
	// Second is a second Placement, if not empty.
	Second         string                          `json:"second,omitempty"`
	SecondStrategy clusterv1alpha1.RolloutStrategy `json:"secondStrategy,omitempty"`
	// Text is what clusters get, and Texts what single clusters get instead. The text "error" makes For fail.
	Text    string            `json:"text,omitempty"`
	Texts   map[string]string `json:"texts,omitempty"`
	Options rollout.Options   `json:"options,omitempty"`
}

type thingStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Version            string             `json:"version,omitempty"`
	Done               int                `json:"done,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

func (t *thing) DeepCopyObject() runtime.Object {
	c := *t
	c.ObjectMeta = *t.ObjectMeta.DeepCopy()
	c.Spec.Strategy = *t.Spec.Strategy.DeepCopy()
	c.Spec.SecondStrategy = *t.Spec.SecondStrategy.DeepCopy()
	c.Spec.Texts = maps.Clone(t.Spec.Texts)
	c.Status.Conditions = slices.Clone(t.Status.Conditions)
	return &c
}

type thingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []thing `json:"items"`
}

func (l *thingList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*thing))
	}
	return &c
}

type other thing

func (o *other) DeepCopyObject() runtime.Object {
	return (*other)((*thing)(o).DeepCopyObject().(*thing))
}

type otherList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []other `json:"items"`
}

func (l *otherList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*other))
	}
	return &c
}

var example = schema.GroupVersion{Group: "example.com", Version: "v1"}

func addThings(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(example.WithKind("Thing"), &thing{})
	scheme.AddKnownTypeWithName(example.WithKind("ThingList"), &thingList{})
	scheme.AddKnownTypeWithName(example.WithKind("Other"), &other{})
	scheme.AddKnownTypeWithName(example.WithKind("OtherList"), &otherList{})
	metav1.AddToGroupVersion(scheme, example)
	return nil
}

var things = Kind[*thing]{
	Rollout:            rolloutOfThing,
	Conditions:         func(t *thing) *[]metav1.Condition { return &t.Status.Conditions },
	ObservedGeneration: func(t *thing) *int64 { return &t.Status.ObservedGeneration },
	Show: func(t *thing, p Progress) {
		t.Status.Version, t.Status.Done = p.Version, p.Summary().Done()
	},
}

var others = Kind[*other]{
	Rollout:    func(o *other) (Rollout, error) { return rolloutOfThing((*thing)(o)) },
	Conditions: func(o *other) *[]metav1.Condition { return &o.Status.Conditions },
}

func rolloutOfThing(t *thing) (Rollout, error) {
	wanted := Rollout{
		Placements:        []Placement{{Name: t.Spec.Placement, Strategy: t.Spec.Strategy, Options: t.Spec.Options}},
		Work:              workOf(t.Spec.Text),
		AvailableSucceeds: true,
	}
	if t.Spec.Second != "" {
		second := Placement{Name: t.Spec.Second, Strategy: t.Spec.SecondStrategy, Options: t.Spec.Options, Path: field.NewPath("spec", "secondStrategy")}
		wanted.Placements = append(wanted.Placements, second)
	}
	if len(t.Spec.Texts) > 0 {
		wanted.For = func(cluster string) (workv1.ManifestWorkSpec, error) {
			text, own := t.Spec.Texts[cluster]
			switch {
			case !own:
				return workOf(t.Spec.Text), nil
			case text == "error":
				return workOf(t.Spec.Text), errNoText
			default:
				return workOf(t.Spec.Text + text), nil
			}
		}
	}
	if t.Spec.Text == "error" {
		return Rollout{}, errNoText
	}
	return wanted, nil
}

func workOf(text string) workv1.ManifestWorkSpec {
	raw := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"text","namespace":"apps"},"data":{"text":"` + text + `"}}`)
	spec := workv1.ManifestWorkSpec{}
	spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
	return spec
}

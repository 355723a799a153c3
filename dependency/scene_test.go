// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// testdata/scenes/README.md says how to read and write scenes.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{t: t, evaluator: dependency.NewEvaluator(cluster, nil, sceneKinds()...)}
		return func(c scene.Command) string {
			defer func() {
				if fault := recover(); fault != nil {
					t.Fatalf("%s:%d: %v", c.File, c.Line, fault)
				}
			}()
			do, found := map[string]func(scene.Command) string{
				"cluster": s.cluster, "set": s.set, "ring": s.ring, "delete": s.delete, "observe": s.observe,
				"evaluate": s.evaluate, "unmet": s.unmet, "actions": s.actions, "compliance": s.compliance,
				"order": s.order, "replicate": s.replicate, "validate": s.validate, "read": s.read,
			}[c.Name]
			if !found {
				t.Fatalf("%s:%d: no command %s", c.File, c.Line, c.Name)
			}
			return do(c)
		}
	})
}

// stage is what the commands of a scene act on.
type stage struct {
	t         *testing.T
	evaluator *dependency.Evaluator
}

// cluster starts over, on a cluster with the scopes of the input: "Widget.example.com Namespaced".
func (s *stage) cluster(c scene.Command) string {
	scopes := map[string]meta.RESTScopeName{"": ""}
	for line := range strings.Lines(c.Input) {
		kind, scope, _ := strings.Cut(strings.TrimSpace(line), " ")
		scopes[kind] = map[string]meta.RESTScopeName{"Namespaced": meta.RESTScopeNameNamespace, "Cluster": meta.RESTScopeNameRoot}[scope]
	}
	s.evaluator = dependency.NewEvaluator(cluster, func(kind schema.GroupKind) meta.RESTScopeName {
		return scopes[kind.String()]
	}, sceneKinds()...)
	return ""
}

// sceneKinds are OCM's, and those of cut down templates.
func sceneKinds() []schema.GroupKind {
	return append(dependency.Kinds(), schema.GroupKind{Kind: "A"}, schema.GroupKind{Group: "example.com"})
}

// documents reads YAML.
func documents(text string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			panic(err)
		}
		all = append(all, u)
	}
}

// input reads policies, in the words of world or in YAML.
func input(text string) []*policyv1.Policy {
	if !strings.Contains(text, "apiVersion") {
		return world(strings.Split(strings.TrimSpace(text), "\n")...)
	}
	var policies []*policyv1.Policy
	for _, u := range documents(text) {
		if u.GetKind() != "Policy" {
			continue
		}
		p, err := dependency.PolicyOf(u)
		if err != nil {
			panic(err)
		}
		policies = append(policies, p)
	}
	return policies
}

func (s *stage) set(c scene.Command) string {
	watches, err := s.evaluator.Set(input(c.Input)...)
	if err != nil {
		return err.Error()
	}
	return sayWatches(watches)
}

func (s *stage) delete(c scene.Command) string { return sayWatches(s.evaluator.Delete(c.Args...)) }

// ring sets as many policies as its argument says. Each waits for the next, and the last for the first.
func (s *stage) ring(c scene.Command) string {
	n := 0
	if _, err := fmt.Sscan(c.Args[0], &n); err != nil {
		panic(err)
	}
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("default.policy-%04d(default.policy-%04d): template-%04d", i, (i+1)%n, i))
	}
	if _, err := s.evaluator.Set(world(all...)...); err != nil {
		panic(err)
	}
	return ""
}

func sayWatches(w dependency.Watches) string {
	var b strings.Builder
	line := func(verb string, words []string) {
		if len(words) > 0 {
			fmt.Fprintf(&b, "%s %s\n", verb, strings.Join(words, ", "))
		}
	}
	line("watch", where(w.Add))
	line("no longer watch", where(w.Remove))
	line("evaluate", refs(w.Templates))
	return b.String()
}

// where has objects with their namespaces.
func where(objects []dependency.Object) []string {
	texts := make([]string, len(objects))
	for i, o := range objects {
		texts[i] = o.String()
		if o.Namespace != cluster {
			texts[i] = fmt.Sprintf("%s in namespace %q", o, o.Namespace)
		}
	}
	return texts
}

func refs(templates []dependency.TemplateRef) []string {
	texts := make([]string, len(templates))
	for i, ref := range templates {
		texts[i] = ref.String()
	}
	return texts
}

// thing reads "y", "#b" or "apiVersion Kind namespace/name".
func thing(text string) dependency.Object {
	words := strings.Fields(text)
	if len(words) == 1 {
		return object(words[0])
	}
	o := dependency.Object{APIVersion: words[0], Kind: words[1], Name: words[2]}
	if namespace, name, found := strings.Cut(words[2], "/"); found {
		o.Namespace, o.Name = namespace, name
	}
	return o
}

// observations reads lines like "y is Compliant", "y is not found", "y was not read", and lines of problems.
func observations(text string) (objects []dependency.Object, all known) {
	all = known{}
	for line := range strings.Lines(text) {
		name, said, ok := strings.Cut(strings.TrimSpace(line), " is ")
		if !ok {
			panic("no \" is \" in " + line)
		}
		problem, detail, _ := strings.Cut(said, ": ")
		reason, isProblem := map[string]dependency.Reason{
			"not found": dependency.ReasonNotFound, "of no API": dependency.ReasonNoAPI, "without field": dependency.ReasonFieldMissing,
			"odd": dependency.ReasonUnknownValue, "unreadable": dependency.ReasonReadFailed,
		}[problem]
		o := dependency.Observation{Compliance: policyv1.ComplianceState(said)}
		switch {
		case isProblem:
			o = dependency.Observation{Problem: reason, Detail: detail}
		case said == "unread":
			o = dependency.Observation{}
		}
		objects = append(objects, thing(name))
		all[thing(name)] = o
	}
	return objects, all
}

func (s *stage) observe(c scene.Command) string {
	var evaluate []string
	objects, all := observations(c.Input)
	for _, o := range objects {
		for _, ref := range refs(s.evaluator.Observe(o, all[o])) {
			if !slices.Contains(evaluate, ref) {
				evaluate = append(evaluate, ref)
			}
		}
	}
	if len(evaluate) == 0 {
		return ""
	}
	return "evaluate " + strings.Join(evaluate, ", ")
}

// named gives the evaluations of the policies that the arguments name, or of all.
func (s *stage) named(c scene.Command) []dependency.Evaluation {
	if len(c.Args) == 0 {
		return s.evaluator.All()
	}
	var evaluations []dependency.Evaluation
	for _, name := range c.Args {
		e, _ := s.evaluator.Policy(name) // A deleted policy has no templates.
		evaluations = append(evaluations, e)
	}
	return evaluations
}

func (s *stage) evaluate(c scene.Command) string {
	text := lines(s.named(c))
	for line := range strings.Lines(text) {
		if len(line) > 1200 {
			s.t.Errorf("%s:%d: a message of %d bytes", c.File, c.Line, len(line))
		}
	}
	return text
}

// unmet prints what each template waits for, one a line.
func (s *stage) unmet(c scene.Command) string {
	var b strings.Builder
	for _, e := range s.named(c) {
		for i, template := range e.Templates {
			for _, unmet := range template.Unmet {
				fmt.Fprintf(&b, "%s[%d] %s: %s\n", e.Policy, i, unmet.Reason, unmet)
			}
		}
	}
	return b.String()
}

// actions prints what to do where the policy has the objects of the input. One "of q" is policy q's, and one "of none" is
// no policy's. One "is unreadable: why" could not be read.
func (s *stage) actions(c scene.Command) string {
	var texts []string
	for _, e := range s.named(c) {
		all := known{}
		for line := range strings.Lines(c.Input) {
			line = strings.TrimSpace(line)
			name, owner, isOf := strings.Cut(line, " of ")
			switch {
			case strings.Contains(line, " is "):
				_, said := observations(line)
				maps.Copy(all, said)
			case owner == "none":
				all[thing(name)] = dependency.Observation{Compliance: policyv1.Compliant}
			case isOf:
				all[thing(name)] = dependency.Observation{Policy: owner}
			default:
				all[thing(name)] = dependency.Observation{Policy: e.Policy}
			}
		}
		for _, a := range e.Actions(all) {
			texts = append(texts, a.String())
		}
	}
	return strings.Join(texts, "\n")
}

// compliance prints the compliance of policies where the objects of their templates are as the input says.
func (s *stage) compliance(c scene.Command) string {
	_, all := observations(c.Input)
	var texts []string
	for _, e := range s.named(c) {
		compliance := e.Compliance(of(e.Policy, all), "")
		text := fmt.Sprintf("%s is %s", e.Policy, compliance)
		if compliance == "" {
			text = e.Policy + " is unknown"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}

func (s *stage) order(scene.Command) string { return s.evaluator.Order().String() }

// replicate prints each policy of the input as it is on the cluster, with the sets of the input.
func (s *stage) replicate(c scene.Command) string {
	sets := map[types.NamespacedName]*policyv1.PolicySet{}
	objects := documents(c.Input)
	for _, u := range objects {
		if u.GetKind() == "PolicySet" {
			set := new(policyv1.PolicySet)
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, set); err != nil {
				panic(err)
			}
			sets[types.NamespacedName{Namespace: set.Namespace, Name: set.Name}] = set
		}
	}
	var b strings.Builder
	say := func(place string, dependencies []policyv1.PolicyDependency) {
		for _, d := range dependencies {
			fmt.Fprintf(&b, "  %s %s %s", place, d.Kind, d.Name)
			if d.Namespace != "" {
				fmt.Fprintf(&b, " in namespace %q", d.Namespace)
			}
			fmt.Fprintf(&b, " %s\n", d.Compliance)
		}
	}
	for _, u := range objects {
		if u.GetKind() != "Policy" {
			continue
		}
		u, err := dependency.Replicate(u, cluster, sets)
		if err != nil {
			panic(err)
		}
		p, err := dependency.PolicyOf(u)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s/%s\n", p.Namespace, p.Name)
		say("all:", p.Spec.Dependencies)
		for i, template := range p.Spec.PolicyTemplates {
			say(fmt.Sprintf("[%d]:", i), template.ExtraDependencies)
		}
	}
	return b.String()
}

// validate prints what is wrong with each policy of the input.
func (s *stage) validate(c scene.Command) string {
	var texts []string
	for _, p := range input(c.Input) {
		for _, err := range dependency.Validate(p, nil, sceneKinds()...) {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return "valid"
	}
	return strings.Join(texts, "\n")
}

// read prints what each object of the input says of its compliance.
func (s *stage) read(c scene.Command) string {
	var texts []string
	for _, u := range documents(c.Input) {
		texts = append(texts, objectOf(u).String()+": "+say(dependency.ObservationOf(u, nil)))
	}
	return strings.Join(texts, "\n")
}

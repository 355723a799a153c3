// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O7, O12, O13: the scenes. Their commands are in testdata/scenes/README.md.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{t: t, selected: map[string]*grouping.Groups{}}
		return s.do
	})
}

// stage is what a scene plays on.
type stage struct {
	t        *testing.T
	objects  objects
	direct   []override.Binding // not from objects
	selected map[string]*grouping.Groups
	last     *override.Resolution
}

func (s *stage) do(c scene.Command) string {
	switch c.Name {
	case "policy":
		s.objects.policies = []*policyv1.Policy{policyOf(c.Args)}
	case "objects":
		return s.read(c)
	case "place":
		for line := range strings.Lines(c.Input) {
			name, groups, _ := strings.Cut(line, "=")
			s.selected[strings.TrimSpace(name)] = groupsOf(groups)
		}
	case "bind":
		s.direct = nil
		for line := range strings.Lines(c.Input) {
			s.direct = append(s.direct, bindingOf(line))
		}
	case "bindings":
		bindings, err := s.bindings()
		return lines(err, bindings, bindingLine)
	case "resolve":
		return s.resolve()
	case "placements":
		return lines(nil, s.last.Placements(), func(p policyv1.PolicyPlacement) string {
			text, err := json.Marshal(p)
			if err != nil {
				s.t.Fatal(err)
			}
			return string(text)
		})
	case "groups":
		return strings.ReplaceAll(show(s.last.Groups()), " | ", "\n")
	case "find":
		return lines(nil, c.Args, func(name string) string {
			if cluster, bound := s.last.Find(name); bound {
				return cluster.String()
			}
			return name + " is not bound"
		})
	default:
		s.t.Fatalf("%s:%d: no command %s", c.File, c.Line, c.Name)
	}
	return ""
}

// lines is an error, or a line for each of the values.
func lines[T any](err error, values []T, line func(T) string) string {
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, value := range values {
		out = append(out, line(value))
	}
	return strings.Join(out, "\n")
}

func (s *stage) read(c scene.Command) string {
	text := []byte(c.Input)
	for _, name := range c.Args {
		file, err := os.ReadFile("testdata/" + name)
		if err != nil {
			s.t.Fatal(err)
		}
		text = append(append(text, file...), "\n---\n"...)
	}
	found := read(s.t, text, throughYAML)
	if len(found.policies) > 0 {
		s.objects.policies = found.policies
	}
	s.objects.sets, s.objects.bindings, s.direct = found.sets, found.bindings, nil
	return ""
}

func (s *stage) bindings() ([]override.Binding, error) {
	if s.direct != nil {
		return s.direct, nil
	}
	bindings, err := override.Bindings(s.objects.policies[0], s.objects.bindings, s.objects.sets)
	for i := range bindings {
		bindings[i].Groups = s.selected[bindings[i].PlacementRef.Name]
	}
	return bindings, err
}

func (s *stage) resolve() string {
	bindings, err := s.bindings()
	if err != nil {
		return err.Error()
	}
	if s.last, err = override.Resolve(s.objects.policies[0], bindings); err != nil {
		return err.Error()
	}
	out := []string{s.last.String()}
	if out[0] == "" {
		out[0] = "bound nowhere"
	}
	out = append(out, explain(s.last)...)
	for _, ignored := range s.last.Ignored() {
		out = append(out, ignored.Message)
	}
	return strings.Join(out, "\n")
}

func policyOf(words []string) *policyv1.Policy {
	p := policy("", "")
	for _, word := range words {
		switch word {
		case "unset":
		case "disabled":
			p.Spec.Disabled = true
		case "All", "Progressive", "ProgressivePerGroup":
			p.Spec.RolloutStrategy.Type = clusterv1alpha1.RolloutType(word)
		default:
			p.Spec.RemediationAction = policyv1.RemediationAction(word)
		}
	}
	return p
}

// groupsOf reads "canary: a b | : c d"; "?" is unknown groups, and a list of clusters is one group.
func groupsOf(text string) *grouping.Groups {
	if strings.TrimSpace(text) == "?" {
		return nil
	}
	names := map[grouping.Key][]string{}
	for i, group := range strings.Split(text, "|") {
		name, clusters, named := strings.Cut(group, ":")
		if !named {
			name, clusters = "", group
		}
		names[grouping.Key{Index: int32(i), Name: strings.TrimSpace(name)}] = strings.Fields(clusters)
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		panic(err)
	}
	return groups
}

// bindingOf reads "sub enforce restricted excluding a,b: c d"; "by KIND" is another kind of placementRef.
func bindingOf(line string) override.Binding {
	head, groups, _ := strings.Cut(line, ":")
	words := strings.Fields(head)
	b := override.Binding{Name: words[0], PlacementRef: placement(words[0]), Groups: groupsOf(groups)}
	for i, word := range words {
		switch word {
		case "enforce":
			b.Enforce = true
		case "restricted":
			b.SubFilter = true
		case "excluding":
			b.Excluded = strings.Split(words[i+1], ",")
		case "by":
			b.PlacementRef.Kind = words[i+1]
		}
	}
	return b
}

// bindingLine is what Bindings says of one: "sub enforce restricted, through set-1, excluding a b".
func bindingLine(b override.Binding) string {
	out := b.Name
	if b.Enforce {
		out += " enforce"
	}
	if b.SubFilter {
		out += " restricted"
	}
	out += fmt.Sprint(", by ", b.PlacementRef)
	if b.Direct {
		out += ", itself"
	}
	if len(b.PolicySets) > 0 {
		out += ", through " + strings.Join(b.PolicySets, " ")
	}
	if len(b.Excluded) > 0 {
		out += ", excluding " + strings.Join(slices.Clone(b.Excluded), " ")
	}
	return out
}

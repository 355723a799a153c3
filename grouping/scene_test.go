// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/scene"
)

// stage is where a scene is played. Its commands stand in testdata/scenes/README.md.
type stage struct {
	t         *testing.T
	placement clusterv1beta1.Placement
	clusters  []*clusterv1.ManagedCluster
	groups    *grouping.Groups
	wanted    map[string]*clusterv1beta1.PlacementDecision
	stored    map[string]*clusterv1beta1.PlacementDecision
}

// G1 to G14: every example of the design document, and every sentence that Incomplete has.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{t: t, stored: map[string]*clusterv1beta1.PlacementDecision{}}
		return func(c scene.Command) string {
			steadily := slices.Equal(c.Args, []string{"steadily"})
			switch c.Name {
			case "placement":
				return s.place(c.Input)
			case "clusters":
				return s.choose(c.Input)
			case "divide":
				return s.divide(steadily)
			case "decide":
				return s.decide(steadily)
			case "create", "write", "terminate", "delete":
				return s.write(c.Name, c.Args)
			case "label":
				d := s.stored[c.Args[0]].DeepCopy()
				d.Labels[clusterv1beta1.DecisionGroupIndexLabel] = c.Args[1]
				s.stored[d.Name] = d
				return ""
			case "older":
				d := older(c.Args[0], strings.Join(c.Args[1:], " "))
				d.Namespace, d.Labels[clusterv1beta1.PlacementLabel] = s.placement.Namespace, s.placement.Name
				s.stored[d.Name] = d
				return ""
			case "status":
				return s.writeStatus(c.Args)
			case "read":
				return s.read(slices.Equal(c.Args, []string{"alone"}))
			default:
				return "no such command"
			}
		}
	})
}

func (s *stage) place(text string) string {
	status := s.placement.Status
	s.placement = clusterv1beta1.Placement{}
	if err := yaml.UnmarshalStrict([]byte(text), &s.placement); err != nil {
		return err.Error()
	}
	s.placement.Status = status
	var lines []string
	for _, err := range grouping.Validate(&s.placement, nil) {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

func (s *stage) choose(text string) string {
	s.clusters = nil
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		name, span, many := strings.Cut(words[0], "[")
		first, last := 0, 0
		if many {
			if _, err := fmt.Sscanf(span, "%d..%d]", &first, &last); err != nil {
				return err.Error()
			}
		}
		for i := first; i <= last; i++ {
			c := newCluster(name)
			if many {
				c.Name += fmt.Sprintf("%0*d", len(strconv.Itoa(last)), i)
			}
			for _, label := range words[1:] {
				key, value, _ := strings.Cut(label, "=")
				c.Labels[key] = value
			}
			s.clusters = append(s.clusters, c)
		}
	}
	return fmt.Sprintf("%d clusters", len(s.clusters))
}

func (s *stage) divide(steadily bool) string {
	var opts grouping.Options
	if steadily {
		opts.Previous = mustRead(s.t, s.objects(s.stored)...)
	}
	groups, err := grouping.Divide(&s.placement, s.clusters, opts)
	if err != nil {
		return err.Error()
	}
	s.groups = groups
	return describe(groups)
}

func (s *stage) decide(steadily bool) string {
	var stored decisions
	if steadily {
		stored = s.objects(s.stored)
	}
	objects, err := s.groups.Decisions(&s.placement, stored...)
	if err != nil {
		return err.Error()
	}
	s.wanted = map[string]*clusterv1beta1.PlacementDecision{}
	var lines []string
	for _, d := range objects {
		s.wanted[d.Name] = d
		var names []string
		for _, c := range d.Status.Decisions {
			names = append(names, c.ClusterName)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", d.Name, few(names)))
	}
	return strings.Join(lines, "\n")
}

func (s *stage) write(how string, names []string) string {
	if how == "write" && len(names) == 0 {
		s.stored = maps.Clone(s.wanted)
	}
	for _, name := range names {
		switch how {
		case "create":
			s.stored[name] = s.wanted[name].DeepCopy()
			s.stored[name].Status.Decisions = nil
		case "write":
			s.stored[name] = s.wanted[name]
		case "terminate":
			s.stored[name] = s.stored[name].DeepCopy()
			s.stored[name].DeletionTimestamp = &metav1.Time{}
		case "delete":
			delete(s.stored, name)
		}
	}
	return ""
}

func (s *stage) writeStatus(args []string) string {
	s.placement.Status = clusterv1beta1.PlacementStatus{Conditions: []metav1.Condition{{Type: clusterv1beta1.PlacementConditionMisconfigured}}}
	if len(args) == 2 {
		n, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil {
			return err.Error()
		}
		s.placement.Status.NumberOfSelectedClusters = int32(n)
	}
	if len(args) > 0 {
		return ""
	}
	status, err := grouping.Status(s.objects(s.wanted))
	if err != nil {
		return err.Error()
	}
	s.placement.Status = status
	lines := []string{fmt.Sprintf("%d clusters", status.NumberOfSelectedClusters)}
	for _, g := range status.DecisionGroups {
		key := grouping.Key{Index: g.DecisionGroupIndex, Name: g.DecisionGroupName}
		lines = append(lines, fmt.Sprintf("%v: %d in %s", key, g.ClustersCount, strings.Join(g.Decisions, " ")))
	}
	return strings.Join(lines, "\n")
}

func (s *stage) read(alone bool) string {
	placement := &s.placement
	if alone {
		placement = nil
	}
	groups, err := grouping.Read(placement, s.objects(s.stored))
	if err != nil {
		return err.Error()
	}
	if why := groups.Incomplete(); why != "" {
		return describe(groups) + "\nincomplete: " + why
	}
	return describe(groups) + "\ncomplete"
}

func (s *stage) objects(of map[string]*clusterv1beta1.PlacementDecision) decisions {
	return slices.Collect(maps.Values(of))
}

// describe lists groups with their clusters, a group a line.
func describe(g *grouping.Groups) string {
	var lines []string
	for i := range g.Len() {
		var names []string
		for d := range g.Clusters(i) {
			names = append(names, d.ClusterName)
		}
		lines = append(lines, fmt.Sprintf("%v: %s", g.Key(i), few(names)))
	}
	if len(lines) == 0 {
		return "no groups"
	}
	return strings.Join(lines, "\n")
}

// few shows names, of many the first and the last.
func few(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "none"
	case n <= 6:
		return strings.Join(names, " ")
	default:
		return fmt.Sprintf("%d clusters, %s … %s", n, names[0], names[n-1])
	}
}

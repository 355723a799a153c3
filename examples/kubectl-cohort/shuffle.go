// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// shuffle says that clusters start in an order from a seed.
type shuffle struct {
	given bool
	seed  string // empty for the version
}

// byVersion is the value of the flag without a seed.
const byVersion = "the version"

func (x *shuffle) String() string { return "" }

func (x *shuffle) Set(s string) error {
	if s == "" {
		return errors.New("must have a seed behind the =, or stand without an = for the version that is wanted")
	}
	x.given = true
	if x.seed = s; s == byVersion {
		x.seed = ""
	}
	return nil
}

// of is the seed for a rollout; empty where that has to be its version, which nothing says.
func (x *shuffle) of(s *scenario.Scenario) string {
	if x.seed != "" {
		return x.seed
	}
	return s.Version
}

// check refuses a flag without a seed where a rollout does not say its version.
func (x *shuffle) check(scenarios []*scenario.Scenario) error {
	for _, s := range scenarios {
		if x.given && x.of(s) == "" {
			return fmt.Errorf("--shuffle: must have a seed, as in --shuffle=v2: nothing says which version %s wants", s.Rollout)
		}
	}
	return nil
}

// Of how many groups, and of how many clusters in each, a note says the order.
const mostShuffled = 10

// says is a note about the order in which the clusters that wait get their turn, group by group. Perhaps none waits.
func (x *shuffle) says(s *scenario.Scenario, reports []status.Report) string {
	first, has := make(map[string]bool), make(map[string]bool) // clusters with another version, and with the wanted one
	for i := range reports {
		waits := reports[i].Status == status.ToApply && reports[i].Applied.IsZero()
		first[reports[i].Cluster], has[reports[i].Cluster] = waits, !waits
	}
	clusters := make([][]string, s.Groups.Len())
	for i := range s.Groups.NumClusters() {
		if name, group := s.Groups.Cluster(i), s.Groups.GroupAt(i); !has[name] {
			clusters[group] = append(clusters[group], name)
		}
	}
	order := rollout.Shuffled(x.of(s))
	var said []string
	for group, names := range clusters {
		if len(names) == 0 {
			continue
		}
		slices.SortFunc(names, func(a, b string) int {
			if first[a] != first[b] {
				return map[bool]int{true: -1, false: 1}[first[a]]
			}
			return order(a, b)
		})
		said = append(said, fmt.Sprintf("%v: %s", s.Groups.Key(group), listed(names, " ")))
	}
	if len(said) == 0 {
		return fmt.Sprintf("--shuffle: no effect, no cluster waits for a turn that the seed %q could give", x.of(s))
	}
	return fmt.Sprintf("--shuffle: the seed %q gives each cluster its turn within its group: %s", x.of(s), listed(said, "; "))
}

func listed(words []string, between string) string {
	if more := len(words) - mostShuffled; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:mostShuffled], between), more)
	}
	return strings.Join(words, between)
}

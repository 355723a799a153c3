// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// some are clusters that a flag names: by name, by pattern or by label.
type some []which

// which are the clusters of one value: those with labels that the selector matches, or where it is nil with names like
// the pattern.
type which struct {
	pattern  string
	selector labels.Selector
}

func (s *some) String() string { return "" }

// Set takes what no name can be for a selector of labels.
func (s *some) Set(value string) error {
	w := which{pattern: value}
	if strings.ContainsAny(value, "=!(,/ ") {
		selector, err := labels.Parse(value)
		if err != nil {
			return errors.New("must be a name, a pattern like edge-*, or labels like power=off or 'power in (off,saving)'")
		}
		w.selector = selector
	} else if _, err := path.Match(value, ""); err != nil || value == "" {
		return errors.New("must be a name, a pattern like edge-*, or labels like power=off")
	}
	*s = append(*s, w)
	return nil
}

func (pick which) has(c behavior.Cluster) bool {
	if pick.selector != nil {
		return pick.selector.Matches(labels.Set(c.Labels))
	}
	found, _ := path.Match(pick.pattern, c.Name)
	return found
}

// of says of a name whether it is one of these clusters.
func (s some) of(scenario *scenario.Scenario) func(cluster string) bool {
	names := make(map[string]bool)
	for _, name := range s.names(scenario) {
		names[name] = true
	}
	return func(cluster string) bool { return names[cluster] }
}

// names gives the names of these clusters.
func (s some) names(scenario *scenario.Scenario) (names []string) {
	for _, c := range scenario.Known() {
		if slices.ContainsFunc(s, func(w which) bool { return w.has(c) }) {
			names = append(names, c.Name)
		}
	}
	return names
}

// check refuses a value that means no cluster of the rollouts.
func (s some) check(flag string, scenarios []*scenario.Scenario) error {
	for _, w := range s {
		if err := w.check(flag, scenarios); err != nil {
			return err
		}
	}
	return nil
}

func (pick which) check(flag string, scenarios []*scenario.Scenario) error {
	var names, keys []string
	for _, s := range scenarios {
		for _, c := range s.Known() {
			if pick.has(c) {
				return nil
			}
			names = append(names, c.Name)
			for key := range c.Labels {
				keys = append(keys, key)
			}
		}
	}
	switch {
	case pick.selector != nil && len(keys) == 0:
		return fmt.Errorf("%s %s: no cluster has labels, as no ManagedCluster that has some was read", flag, pick.pattern)
	case pick.selector != nil:
		return fmt.Errorf("%s %s: must be labels of a cluster that is selected%s", flag, pick.pattern, pick.hint(keys))
	}
	return fmt.Errorf("%s %s: must name a cluster that is selected, or be a pattern for some, or labels%s", flag, pick.pattern, spelling.Hint(pick.pattern, names))
}

// hint says which key may be meant in place of one that no cluster has.
func (pick which) hint(keys []string) string {
	requirements, _ := pick.selector.Requirements()
	for _, r := range requirements {
		if nearest, changes := spelling.Nearest(r.Key(), keys); changes > 0 {
			if hint := spelling.Hint(r.Key(), []string{nearest}); hint != "" {
				return hint
			}
		}
	}
	return ""
}

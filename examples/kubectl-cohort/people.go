// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/rollout"
)

// horizon is a time, or a duration from now on, as a flag has it.
type horizon struct {
	at time.Time
	in time.Duration
}

func (until *horizon) String() string { return "" }

func (until *horizon) Set(text string) error {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		*until = horizon{at: at.UTC().Truncate(time.Second)}
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("must be a time in RFC 3339 such as 2026-01-05T06:00:00Z, or for how long, such as 12h")
	}
	*until = horizon{in: d}
	return nil
}

// time is the time that is meant; zero if none was given. It is in whole seconds, as annotations have it.
func (until horizon) time(now time.Time) time.Time {
	if until.in > 0 {
		return now.Add(until.in).Truncate(time.Second)
	}
	return until.at
}

// knows is an error for a word that names no cluster of the rollout.
func (d decided) knows(words []string) error {
	for _, name := range words {
		if slices.ContainsFunc(d.parts, func(p part) bool { return p.rollout.Knows(name) }) {
			continue
		}
		return fmt.Errorf("%s: must be a cluster of the rollout%s", name, spelling.Hint(name, d.selected()))
	}
	return nil
}

// selected are the clusters of all placements, in the order of their names.
func (d decided) selected() (names []string) {
	for _, p := range d.parts {
		for i := range p.rollout.Groups.NumClusters() {
			names = append(names, p.rollout.Groups.Cluster(i))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// have are the clusters that have the version, in the order of their names.
func (d decided) have() (names []string) {
	for _, p := range d.parts {
		names = append(names, p.have()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// have are the clusters that have the version here.
func (piece part) have() (names []string) {
	for _, of := range [][]rollout.Cluster{piece.stands.Plan.InFlight, piece.stands.Plan.TimedOut, piece.stands.Plan.Deselected, slices.Collect(piece.stands.Plan.Settled())} {
		for _, c := range of {
			names = append(names, c.Name)
		}
	}
	return names
}

// without are those of the names that are not among the others, once each.
func without(names, others []string) (rest []string) {
	for _, name := range names {
		if !slices.Contains(others, name) && !slices.Contains(rest, name) {
			rest = append(rest, name)
		}
	}
	return rest
}

// those names them, with a verb for one or for several.
func those(names []string, one, several string) string {
	if len(names) == 1 {
		return names[0] + " " + one
	}
	return strings.Join(names, ", ") + " " + several
}

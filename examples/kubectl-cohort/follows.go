// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// part is how a rollout stands at one of its placements, and how far its version can get.
type part struct {
	rollout *scenario.Scenario
	stands  output.Standing
	here    here
}

// stands says how the rollout stands now by the objects of a hub.
func (answer *decision) stands(objects []manifest.Object) (all []part, err error) {
	scenarios, err := scenario.Load(objects, answer.wanted())
	if err != nil {
		return nil, err
	}
	for _, s := range scenarios {
		if all, err = answer.stand(all, s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (answer *decision) stand(all []part, s *scenario.Scenario) ([]part, error) {
	how, err := answer.course(s)
	if err != nil {
		return nil, err
	}
	plan, err := s.Now(how.Options, answer.start.Time)
	if err != nil {
		return nil, err
	}
	p := part{rollout: s, stands: output.NewStanding(s, plan, answer.clock(s))}
	if p.stands.Forecast, err = answer.forecast(s, how); err != nil {
		return nil, err
	}
	if p.here, err = answer.blastRadius(s); err != nil {
		return nil, err
	}
	return append(all, p), nil
}

// goesBack says what follows where a controller rolls back by itself: all clusters that have the version roll back at once, except frozen ones.
func (piece part) goesBack(named bool, now time.Time) string {
	var b strings.Builder
	if named {
		fmt.Fprintf(&b, "placement %s\n", piece.stands.Placement)
	}
	var frozen []string
	for _, h := range piece.rollout.Asked.Freezes {
		if h.Until.IsZero() || now.Before(h.Until) {
			frozen = append(frozen, h.Cluster)
		}
	}
	var deselected []string // they lose it
	for _, c := range piece.stands.Plan.Deselected {
		deselected = append(deselected, c.Name)
	}
	have := without(piece.have(), deselected)
	slices.Sort(have)
	at := without(have, frozen)
	frozen = without(have, at)
	fmt.Fprintf(&b, "  now:      %v\n", piece.stands.Summary.Counts)
	switch {
	case piece.rollout.Asked.Pause:
		fmt.Fprintf(&b, "  then:     no cluster rolls back while the rollout is paused; %s: %s\n", of(len(have), "1 cluster has the version", "%d clusters have the version"), output.Named(have))
	case len(at) == 0:
		fmt.Fprintf(&b, "  then:     no cluster rolls back at once\n")
	default:
		fmt.Fprintf(&b, "  then:     %s at once: %s\n", of(len(at), "1 cluster that has the version rolls back", "%d clusters that have the version roll back"), output.Named(at))
	}
	if len(frozen) > 0 && !piece.rollout.Asked.Pause {
		fmt.Fprintf(&b, "  but:      %s: %s\n", of(len(frozen), "1 is frozen, and rolls back when that ends", "%d are frozen, and roll back when that ends"), output.Named(frozen))
	}
	fmt.Fprintf(&b, "  exposed:  no other cluster gets it\n")
	return b.String()
}

// since says what will be now that was not before, and what else there is to say.
func (piece part) since(before part, named bool, besides ...string) string {
	var b strings.Builder
	if named {
		fmt.Fprintf(&b, "placement %s\n", piece.stands.Placement)
	}
	fmt.Fprintf(&b, "  now:      %v\n", before.stands.Summary.Counts)
	starts := slices.DeleteFunc(slices.Clone(piece.stands.MayStart), func(c string) bool { return slices.Contains(before.stands.MayStart, c) })
	stops := slices.DeleteFunc(slices.Clone(before.stands.MayStart), func(c string) bool { return slices.Contains(piece.stands.MayStart, c) })
	follow := func(format string, args ...any) { fmt.Fprintf(&b, "  then:     "+format+"\n", args...) }
	if len(starts) > 0 {
		follow("%s at once: %s", of(len(starts), "1 cluster starts", "%d clusters start"), output.Named(starts))
	} else {
		follow("no cluster starts at once")
	}
	if len(stops) > 0 {
		follow("%s not start now: %s", of(len(stops), "1 cluster does", "%d clusters do"), output.Named(stops))
	}
	for _, line := range besides {
		fmt.Fprintf(&b, "  but:      %s\n", line)
	}
	if n := piece.stands.Summary.Counts.InFlight(); n > 0 {
		follow("%s as before", of(n, "1 cluster in flight goes on", "%d clusters in flight go on"))
	}
	const most = 3
	rest := 0
	for i, r := range piece.stands.Waiting {
		if i >= most {
			rest += len(r.Clusters)
			continue
		}
		follow("%s: %s", of(len(r.Clusters), "1 cluster waits", "%d clusters wait"), piece.stands.Clock.Read(r.Message))
	}
	if rest > 0 {
		follow("%s", of(rest, "1 more waits for another reason", "%d more wait for other reasons"))
	}
	if piece.rollout.Options().Paused {
		fmt.Fprintf(&b, "  exposed:  a version that does not work stays on the %s it and are not done\n", of(piece.here.Exposed, "1 cluster that has", "%d clusters that have"))
	} else {
		fmt.Fprintf(&b, "  exposed:  a version that does not work can get to %d of %d clusters at most; %d of these have it and are not done\n", piece.here.AtMost, piece.here.Clusters, piece.here.Exposed)
	}
	fmt.Fprintf(&b, "  %s\n", piece.stands.Outlook())
	return b.String()
}

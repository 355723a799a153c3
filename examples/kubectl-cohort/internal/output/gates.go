// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// StandingGate is a gate that an annotation of the owner has, and that is closed.
type StandingGate struct {
	// Gate is what commands call it.
	Gate string `json:"gate"`
	// WouldStart are the clusters that start if a user opens it now. If it has none, Otherwise is what else blocks those behind it, and
	// Message says that; both are empty where no cluster waits behind it.
	WouldStart []string             `json:"wouldStart,omitempty"`
	Otherwise  *rollout.BlockReason `json:"otherwise,omitempty"`
	Message    string               `json:"message,omitempty"`
}

// gatesOf are the closed gates of a plan, and what it would do to open each.
func gatesOf(s *scenario.Scenario, plan *rollout.Result, now time.Time) (all []StandingGate) {
	for _, gate := range s.Options().Gates {
		if !gate.Opens.IsZero() && !now.Before(gate.Opens) {
			continue
		}
		one := StandingGate{Gate: s.GateWord(gate.Group)}
		clusters, otherwise := plan.WouldStart(gate.Group)
		for _, c := range clusters {
			one.WouldStart = append(one.WouldStart, c.Name)
		}
		if otherwise.Type != "" {
			one.Otherwise, one.Message = &otherwise, otherwise.String()
		}
		all = append(all, one)
	}
	return all
}

// Says is what it would do to open the gate; empty where no cluster waits behind it.
func (gate StandingGate) Says() string {
	switch n := len(gate.WouldStart); {
	case n > 0:
		return fmt.Sprintf("opening it starts %s now: %s", several(n, "cluster"), Named(gate.WouldStart))
	case gate.Otherwise != nil:
		return "opening it starts no cluster now: " + gate.Message
	}
	return ""
}

func (s Standing) gates(b *bytes.Buffer) {
	for _, g := range s.Gates {
		if says := g.Says(); says != "" {
			fmt.Fprintf(b, "  gate %s: %s\n", g.Gate, s.Clock.Read(says))
		}
	}
}

// gateOf is what commands call the gate before a group; the word for the group where no annotation has one.
func gateOf(s *scenario.Scenario, group grouping.Key) string {
	gates := s.Options().Gates
	for _, byName := range []bool{true, false} {
		at := slices.IndexFunc(gates, func(g rollout.ClosedGate) bool {
			if byName {
				return g.Group.Name != "" && g.Group.Name == group.Name
			}
			return g.Group.Name == "" && g.Group.Index == group.Index
		})
		if at >= 0 {
			return s.GateWord(gates[at].Group)
		}
	}
	return word(group)
}

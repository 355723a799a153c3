// SPDX-License-Identifier: Apache-2.0

// Package limits says which limits of a strategy a start breaks. The harness and the judge ask it; each says itself which cluster stands where, and how
// surely. It is written apart from the library, which it does not use.
package limits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Rollout is all that the limits of a strategy are about, at one time.
type Rollout struct {
	Stages   []Stage            // in their order
	PerGroup bool               // each stage has a budget of its own, and no limit
	Failures intstr.IntOrString // that are tolerated
	Size     int                // clusters of all stages, of which that may be a share
	Slots    int                // clusters that may be in flight in a stage that is not mandatory, unless it is per group
}

// Stage is what rolls out together.
type Stage struct {
	Name      string
	Mandatory bool
	Size      int // clusters, of which tolerated failures may be a share
	Seats     []Seat
}

// Seat is a cluster in a stage, read in favour of the start.
type Seat struct {
	Cluster string
	Done    bool // no stage waits for it
	Over    bool // only a mandatory stage is waited for because of it: it failed or timed out
	Failed  bool // beyond doubt
	Holds   bool // a slot, beyond doubt
	Away    bool // it counts there, and is selected elsewhere or nowhere
	Astray  bool // it may count in another stage: it stops none but by a failure that counts in all of them together
}

// Kind is a limit.
type Kind int

const (
	Budget Kind = iota
	Mandatory
	Order
	Concurrency
)

// Breach is a limit that a start breaks.
type Breach struct {
	Kind     Kind
	Stage    string   // that it limits; empty for that of all together
	Clusters []string // that are in flight, have failed, or are not done
	Of       int      // clusters that there are
	Allowed  int      // in flight or failed
}

// String says in a sentence which limit a start breaks, and by how many clusters.
func (b *Breach) String() string {
	names := strings.Join(b.Clusters[:min(5, len(b.Clusters))], ", ")
	if len(b.Clusters) > 5 {
		names += " …"
	}
	switch n := len(b.Clusters); {
	case b.Kind == Concurrency:
		return fmt.Sprintf("%d others are in flight (%s), allowed are %d", n, names, b.Allowed)
	case b.Kind != Budget:
		return fmt.Sprintf("%s of group %s isn't done", names, b.Stage)
	case b.Stage == "":
		return fmt.Sprintf("%d of %d clusters failed, tolerated are %d", n, b.Of, b.Allowed)
	default:
		return fmt.Sprintf("%d of %d clusters of group %s failed, tolerated are %d", n, b.Of, b.Stage, b.Allowed)
	}
}

// Forbids says which limits the start of a cluster breaks. It is selected in one of the stages, or nothing is broken.
func (r *Rollout) Forbids(cluster string) (breaches []Breach) {
	own := slices.IndexFunc(r.Stages, func(s Stage) bool {
		return slices.ContainsFunc(s.Seats, func(c Seat) bool { return c.Cluster == cluster && !c.Away })
	})
	if own < 0 {
		return nil
	}
	add := func(b *Breach) {
		if b != nil {
			breaches = append(breaches, *b)
		}
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		if r.PerGroup || s.Mandatory {
			add(s.budget(r.Failures))
		}
		if i < own {
			add(s.undone())
		}
		if i == own && !r.PerGroup && !s.Mandatory {
			add(s.slots(cluster, r.Slots))
		}
	}
	if !r.PerGroup {
		add(r.budget())
	}
	return breaches
}

// budget is the breach of a stage in which more failed than are tolerated, none in a mandatory one.
func (s *Stage) budget(failures intstr.IntOrString) *Breach {
	tolerated := Count(failures, s.Size)
	if s.Mandatory {
		tolerated = 0
	}
	failed := s.which(func(c *Seat) bool { return c.Failed && !c.Astray })
	if len(failed) <= tolerated {
		return nil
	}
	return &Breach{Kind: Budget, Stage: s.Name, Clusters: failed, Of: s.Size, Allowed: tolerated}
}

// undone is the breach of the order by a stage that is not complete.
func (s *Stage) undone() *Breach {
	undone := s.which(func(c *Seat) bool { return !c.Astray && !c.Done && (!c.Over || s.Mandatory) })
	switch {
	case len(undone) == 0:
		return nil
	case s.Mandatory:
		return &Breach{Kind: Mandatory, Stage: s.Name, Clusters: undone}
	default:
		return &Breach{Kind: Order, Stage: s.Name, Clusters: undone}
	}
}

// slots is the breach of a stage in which others hold all slots.
func (s *Stage) slots(cluster string, allowed int) *Breach {
	others := s.which(func(c *Seat) bool { return c.Holds && c.Cluster != cluster })
	if len(others) < allowed {
		return nil
	}
	return &Breach{Kind: Concurrency, Stage: s.Name, Clusters: others, Allowed: allowed}
}

// budget is the breach of all stages together.
func (r *Rollout) budget() *Breach {
	var failed []string
	for i := range r.Stages {
		failed = append(failed, r.Stages[i].which(func(c *Seat) bool { return c.Failed })...)
	}
	slices.Sort(failed)
	failed = slices.Compact(failed)
	if tolerated := Count(r.Failures, r.Size); len(failed) > tolerated {
		return &Breach{Kind: Budget, Clusters: failed, Of: r.Size, Allowed: tolerated}
	}
	return nil
}

func (s *Stage) which(is func(*Seat) bool) (clusters []string) {
	for i := range s.Seats {
		if is(&s.Seats[i]) {
			clusters = append(clusters, s.Seats[i].Cluster)
		}
	}
	return clusters
}

// Count resolves a count or a percentage of a total, rounded up.
func Count(n intstr.IntOrString, total int) int {
	if n.Type == intstr.Int {
		return n.IntValue()
	}
	percent, _ := strconv.Atoi(strings.TrimSuffix(n.StrVal, "%"))
	return (total*percent + 99) / 100
}

// Slots is MaxConcurrency of n clusters, where a group has size clusters at most, or any number if size is 0.
func Slots(limit intstr.IntOrString, n, size int) int {
	switch {
	case limit != intstr.FromInt32(0):
		return Count(limit, n)
	case size > 0:
		return size
	default:
		return n
	}
}

// IsMandatory says whether a strategy names a group.
func IsMandatory(named []clusterv1alpha1.MandatoryDecisionGroup, index int, name string) bool {
	return slices.ContainsFunc(named, func(m clusterv1alpha1.MandatoryDecisionGroup) bool {
		return m.GroupName != "" && m.GroupName == name || m.GroupName == "" && int(m.GroupIndex) == index
	})
}

// Divide makes stages of groups: each mandatory one, then each of the others or all of them together. First is how many are mandatory.
func Divide[G any](groups []G, perGroup bool, isMandatory func(G) bool) (stages [][]G, first int) {
	var rest [][]G
	for _, g := range groups {
		if isMandatory(g) {
			stages = append(stages, []G{g})
		} else if len(rest) == 0 || perGroup {
			rest = append(rest, []G{g})
		} else {
			rest[0] = append(rest[0], g)
		}
	}
	first = len(stages)
	if len(rest) == 0 && !perGroup {
		rest = [][]G{nil}
	}
	return append(stages, rest...), first
}

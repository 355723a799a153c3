// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"cmp"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/status"
)

// Cluster is what rules look at.
type Cluster struct {
	Name string
	// Labels are the ManagedCluster's.
	Labels map[string]string
	// Group is the name of the decision group.
	Group string
	// Validating says that it has succeeded in the first attempt, and is being validated.
	Validating bool
}

// Lives gives the life of each cluster by name; one that no rule matches succeeds after the usual time.
// unused are the rules that match no cluster which is left, as indexes. The same seed gives the same luck,
// whatever the order of the clusters. What befalls a cluster by a rate or a range depends on the seed and its name alone.
// uses says for how many clusters the usual times count. The spec must be valid.
//
// In a later attempt at the version than the first, which is 0, rates and ranges are drawn anew, and shares are not. Failures that are
// drawn, by a rate or a share, befall no cluster that is being validated, as it has succeeded.
func (s Spec) Lives(clusters []Cluster, usual Usual) (lives map[string]simulation.Life, unused []int, uses Uses) {
	attempt := s.Attempt
	luck := Spec{Seed: s.Seed ^ uint64(attempt)<<32}.luck
	sorted := slices.Clone(clusters)
	slices.SortFunc(sorted, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	left := make([]int32, len(sorted)) // of sorted, those that no rule has decided yet
	for i := range left {
		left[i] = int32(i)
	}
	decided := make([]bool, len(sorted))
	lives = make(map[string]simulation.Life, len(clusters))
	for i, rule := range s.Clusters {
		chosen, matching := rule.choose(sorted, left, s.Seed, uint64(i), attempt)
		for _, c := range chosen {
			decided[c] = true
			lives[sorted[c].Name] = rule.in(attempt).life(usual, s.lease(), luck(sorted[c].Name))
		}
		uses.add(rule, len(chosen))
		if matching == 0 || len(chosen) == 0 && rule.Rate == nil {
			unused = append(unused, i)
			continue
		}
		left = slices.DeleteFunc(left, func(c int32) bool { return decided[c] })
	}
	for _, c := range left {
		lives[sorted[c].Name] = Rule{}.life(usual, s.lease(), luck(sorted[c].Name))
	}
	uses.add(Rule{}, len(left))
	return lives, unused, uses
}

// add counts what some clusters with the rule use.
func (u *Uses) add(r Rule, clusters int) {
	if r.After == nil && r.Outcome != NeverAnswers && r.Outcome != CutOff {
		u.Takes += clusters
	}
	asked := r.Outcome == "" || r.Outcome == Succeeds || r.Outcome == NotGood || r.RecoversAfter != nil && r.Outcome != NeverValidated
	if r.ValidatedAfter == nil && asked {
		u.Validates += clusters
	}
}

func (s Spec) lease() time.Duration {
	if s.Lease == nil {
		return DefaultLease
	}
	return s.Lease.Duration
}

// luck is a cluster's own.
func (s Spec) luck(cluster string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(cluster))
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// choose gives the clusters of left that a rule applies to, as places in clusters, and how many it matches. With a share
// it takes that many of the matching ones, with a rate those that luck chooses. The number of the rule seeds the luck.
func (r Rule) choose(clusters []Cluster, left []int32, seed, rule uint64, attempt int) (chosen []int32, matching int) {
	selector := labels.Everything()
	if r.Selector != nil {
		selector, _ = metav1.LabelSelectorAsSelector(r.Selector) // Validate has seen it
	}
	patterns := r.patterns()
	all := make([]int32, 0, len(left))
	for _, i := range left {
		c := &clusters[i]
		hasName := len(patterns) == 0 || slices.ContainsFunc(patterns, func(p pattern) bool { return p.match(c.Name) })
		if hasName && (r.Selector == nil || selector.Matches(labels.Set(c.Labels))) && (len(r.Groups) == 0 || slices.Contains(r.Groups, c.Group)) {
			all = append(all, i)
		}
	}
	if matching = len(all); (r.Share != nil || r.Rate != nil) && (r.Outcome == Fails || r.Outcome == NeverAnswers) && attempt == 0 {
		all = slices.DeleteFunc(all, func(i int32) bool { return clusters[i].Validating })
	}
	switch {
	case r.Share != nil:
		random := rand.New(rand.NewPCG(seed, rule))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		n, _ := sizeOf(*r.Share, len(all))
		all = all[:n]
	case r.Rate != nil: // the numbers of one rule are independent of another rule's, and of how long it takes
		spec := Spec{Seed: seed ^ bits.Reverse64(rule+1) ^ uint64(attempt)<<32}
		all = slices.DeleteFunc(all, func(i int32) bool { return chance.Rate(spec.luck(clusters[i].Name).Float64()) >= *r.Rate })
	}
	return all, matching
}

// pattern is a pattern for names, with the beginning and the end of every name that matches, as path.Match takes long
// to say no.
type pattern struct{ whole, prefix, suffix string }

func (r Rule) patterns() (all []pattern) {
	for _, whole := range r.Names {
		p := pattern{whole: whole}
		if !strings.ContainsAny(whole, `[\`) {
			p.prefix, p.suffix = whole, whole
			if first := strings.IndexAny(whole, "*?"); first >= 0 {
				p.prefix, p.suffix = whole[:first], whole[strings.LastIndexAny(whole, "*?")+1:]
			}
		}
		all = append(all, p)
	}
	return all
}

func (p pattern) match(name string) bool {
	if !strings.HasSuffix(name, p.suffix) || !strings.HasPrefix(name, p.prefix) {
		return false
	}
	ok, _ := path.Match(p.whole, name)
	return ok
}

// in is the rule as it is in an attempt.
func (r Rule) in(attempt int) Rule {
	if r.Attempts > 0 && attempt >= r.Attempts {
		r.Outcome, r.RecoversAfter = Succeeds, nil
	}
	return r
}

// life gives the life of one of the rule's clusters, with its luck.
func (r Rule) life(usual Usual, lease time.Duration, luck *rand.Rand) (life simulation.Life) {
	at, asked := cmp.Or(r.After, &usual.Takes).Draw(luck), usual.Validates != nil
	var recovers, validated time.Duration
	ever := r.RecoversAfter != nil // it succeeds at some time
	if ever {
		recovers = r.RecoversAfter.Draw(luck)
	}
	if asked {
		validated = cmp.Or(r.ValidatedAfter, usual.Validates).Draw(luck)
	}
	is := func(s status.RolloutStatus) { life = append(life, simulation.Step{After: at, Status: s}) }
	switch {
	case r.Outcome == CutOff:
		return simulation.Life{{After: lease, Drops: true}}
	case r.Outcome == NeverAnswers:
		at = 0
	case r.Outcome == Fails:
		is(status.Failed)
	case r.Outcome == NotGood && asked:
		is(status.Validating)
		at += validated
		is(status.Failed)
		asked = false // a yes after all answers
	case r.Outcome == NeverValidated && asked:
		is(status.Validating)
		asked = false
	default:
		recovers, ever = 0, true
	}
	if !ever {
		return life
	}
	if at += recovers; asked {
		is(status.Validating)
		at += validated
	}
	is(status.Succeeded)
	return life
}

package behavior

import (
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
}

// Lives gives the life of each cluster by name; one that no rule matches succeeds after the fallback time.
// unused are the rules that match no cluster which is left, as indexes. The same seed gives the same luck,
// whatever the order of the clusters. What befalls a cluster by a rate or a range depends on the seed and its name alone.
// fallbacks is for how many clusters the fallback time counts. The spec must be valid.
//
// In a later attempt at the version than the first, which is 0, rates and ranges are drawn anew, and shares are not.
func (s Spec) Lives(clusters []Cluster, fallback chance.Range) (lives map[string]simulation.Life, unused []int, fallbacks int) {
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
			lives[sorted[c].Name] = rule.in(attempt).life(fallback, s.lease(), luck(sorted[c].Name))
		}
		if rule.After == nil && rule.Outcome != NeverAnswers && rule.Outcome != CutOff {
			fallbacks += len(chosen)
		}
		if matching == 0 || len(chosen) == 0 && rule.Rate == nil {
			unused = append(unused, i)
			continue
		}
		left = slices.DeleteFunc(left, func(c int32) bool { return decided[c] })
	}
	for _, c := range left {
		lives[sorted[c].Name] = Rule{}.life(fallback, s.lease(), luck(sorted[c].Name))
	}
	return lives, unused, fallbacks + len(left)
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
// it takes that many of the matching ones, with a rate those whose luck has it. The number of the rule seeds the luck.
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
	matching = len(all)
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
func (r Rule) life(fallback chance.Range, lease time.Duration, luck *rand.Rand) (life simulation.Life) {
	if r.After != nil {
		fallback = *r.After
	}
	after := fallback.Draw(luck)
	switch r.Outcome {
	case Fails:
		life = append(life, simulation.Step{After: after, Status: status.Failed})
	case NeverAnswers:
		after = 0
	case CutOff:
		life = append(life, simulation.Step{After: lease, Drops: true})
	default:
		life = append(life, simulation.Step{After: after, Status: status.Succeeded})
	}
	if r.RecoversAfter != nil {
		life = append(life, simulation.Step{After: after + r.RecoversAfter.Draw(luck), Status: status.Succeeded})
	}
	return life
}

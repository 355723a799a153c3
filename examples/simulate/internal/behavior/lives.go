package behavior

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/status"
)

// Cluster is what rules look at.
type Cluster struct {
	Name string
	// Labels are those of the ManagedCluster.
	Labels map[string]string
	// Group is the name of the decision group.
	Group string
}

// Lives gives the life of each cluster by name; one that no rule matches succeeds after the fallback time.
// unused are the rules that decide for no cluster, as indexes. The same seed gives the same shares,
// whatever the order of the clusters. fallbacks is for how many clusters the fallback time counts. The spec must be valid.
func (s Spec) Lives(clusters []Cluster, fallback time.Duration) (lives map[string]simulation.Life, unused []int, fallbacks int) {
	sorted := slices.Clone(clusters)
	slices.SortFunc(sorted, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	left := make([]int32, len(sorted)) // of sorted, those that no rule has decided yet
	for i := range left {
		left[i] = int32(i)
	}
	decided := make([]bool, len(sorted))
	lives = make(map[string]simulation.Life, len(clusters))
	for i, rule := range s.Clusters {
		chosen := rule.choose(sorted, left, rand.New(rand.NewPCG(s.Seed, uint64(i))))
		life := rule.life(fallback)
		for _, c := range chosen {
			decided[c] = true
			lives[sorted[c].Name] = life
		}
		if rule.After == nil && rule.Outcome != NeverAnswers {
			fallbacks += len(chosen)
		}
		if len(chosen) == 0 {
			unused = append(unused, i)
			continue
		}
		left = slices.DeleteFunc(left, func(c int32) bool { return decided[c] })
	}
	for _, c := range left {
		lives[sorted[c].Name] = Rule{}.life(fallback)
	}
	return lives, unused, fallbacks + len(left)
}

// choose gives those of left that a rule matches, or its share of them, as places in clusters.
func (r Rule) choose(clusters []Cluster, left []int32, random *rand.Rand) []int32 {
	selector := labels.Everything()
	if r.Selector != nil {
		selector, _ = metav1.LabelSelectorAsSelector(r.Selector) // Validate has seen it
	}
	patterns := r.patterns()
	matching := make([]int32, 0, len(left))
	for _, i := range left {
		c := &clusters[i]
		hasName := len(patterns) == 0 || slices.ContainsFunc(patterns, func(p pattern) bool { return p.match(c.Name) })
		if hasName && (r.Selector == nil || selector.Matches(labels.Set(c.Labels))) && (len(r.Groups) == 0 || slices.Contains(r.Groups, c.Group)) {
			matching = append(matching, i)
		}
	}
	if r.Share == nil {
		return matching
	}
	random.Shuffle(len(matching), func(i, j int) { matching[i], matching[j] = matching[j], matching[i] })
	n, _ := sizeOf(*r.Share, len(matching))
	return matching[:n]
}

// pattern is that of names, with what every name begins and ends with that matches, as path.Match takes long to say no.
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

// life is that of the rule's clusters.
func (r Rule) life(fallback time.Duration) (life simulation.Life) {
	after := fallback
	if r.After != nil {
		after = r.After.Duration
	}
	switch r.Outcome {
	case Fails:
		life = append(life, simulation.Step{After: after, Status: status.Failed})
	case NeverAnswers:
		after = 0
	default:
		life = append(life, simulation.Step{After: after, Status: status.Succeeded})
	}
	if r.RecoversAfter != nil {
		life = append(life, simulation.Step{After: after + r.RecoversAfter.Duration, Status: status.Succeeded})
	}
	return life
}

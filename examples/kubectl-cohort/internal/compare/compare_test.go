// SPDX-License-Identifier: Apache-2.0

package compare_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/compare"
	"github.com/cohort-ocm/cohort/grouping"
)

// fleet has groups of these sizes.
func fleet(t testing.TB, sizes ...int) *grouping.Groups {
	t.Helper()
	names := make(map[grouping.Key][]string)
	for i, size := range sizes {
		for c := range size {
			key := grouping.Key{Index: int32(i)}
			names[key] = append(names[key], fmt.Sprintf("g%dc%03d", i, c))
		}
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func all() compare.Candidate {
	return compare.Candidate{Name: "all", Strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}}
}

func progressive(concurrency string, failures int32) compare.Candidate {
	return compare.Candidate{Name: "progressive " + concurrency, Strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.Parse(concurrency),
			RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(failures), ProgressDeadline: "1h"}}}}
}

func perGroup() compare.Candidate {
	return compare.Candidate{Name: "per group", Strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup,
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "1h"}}}}
}

var tenMinutes = chance.Range{Least: 10 * time.Minute, Most: 10 * time.Minute}

// Computed by hand: 100 clusters that take 10 minutes each, 10 of them in flight at a time, take 10 rounds.
func TestWithoutChancesTheAnswersAreThoseOfTheHand(t *testing.T) {
	got, err := compare.Compare(compare.Question{
		Groups:     fleet(t, 10, 90),
		Candidates: []compare.Candidate{all(), progressive("10", 2), perGroup()},
		Good:       compare.Chances{Takes: tenMinutes},
		Bad:        compare.Chances{Takes: tenMinutes, Fails: 1},
		Runs:       3,
	})
	if err != nil {
		t.Fatal(err)
	}
	const m = time.Minute
	want := []compare.Answer{
		{Name: "all", P50: 10 * m, P95: 10 * m, Peak: 100, Had: 100, StoppedAfter: compare.Never}, // nothing stops it
		{Name: "progressive 10", P50: 100 * m, P95: 100 * m, Peak: 10, Had: 10, StoppedAfter: 10 * m},
		{Name: "per group", P50: 20 * m, P95: 20 * m, Peak: 90, Had: 10, StoppedAfter: 10 * m},
	}
	for i := range want {
		want[i].Runs, want[i].Clusters = 3, 100
		want[i].HadP95, want[i].HadMost, want[i].Broken, want[i].BrokenMost = want[i].Had, want[i].Had, want[i].Had, want[i].Had
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Computed by hand: a cluster that takes 10 minutes and is validated for 40 has slot and stage for 50, and a deadline of an hour for each part
// of it. Where the verdicts take 61, the first stops all.
func TestValidationTakesItsTime(t *testing.T) {
	const m = time.Minute
	for _, test := range []struct {
		validates time.Duration
		notGood   chance.Rate
		want      []time.Duration // half of all runs: all at once, ten at a time, and by group
		peak      int             // of ten at a time
	}{
		{0, 0, []time.Duration{10 * m, 100 * m, 20 * m}, 10},
		{40 * m, 0, []time.Duration{50 * m, 500 * m, 100 * m}, 10},
		{55 * m, 0, []time.Duration{65 * m, 650 * m, 130 * m}, 10},
		{61 * m, 0, []time.Duration{71 * m, compare.Never, compare.Never}, 10},
		{40 * m, 1, []time.Duration{compare.Never, compare.Never, compare.Never}, 10},
	} {
		validates := chance.Exactly(test.validates)
		got, err := compare.Compare(compare.Question{
			Groups: fleet(t, 10, 90), Candidates: []compare.Candidate{all(), progressive("10", 2), perGroup()}, Runs: 2,
			Good: compare.Chances{Takes: tenMinutes, Validates: &validates, NotGood: test.notGood}, Bad: compare.Chances{Takes: tenMinutes, Fails: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if a := got[i]; a.P50 != want || a.P95 != want || a.StoppedAfter != compare.Never && a.StoppedAfter != 10*m || i == 1 && a.Peak != test.peak {
				t.Errorf("validated for %v, %v not good, %s: %+v, want %v", test.validates, test.notGood, a.Name, a, want)
			}
		}
	}
}

// Of those that succeed each is not found good with that chance, and the luck of the rest is as it was.
func TestNotGoodIsTheChanceOfThoseThatSucceed(t *testing.T) {
	const runs, clusters = 1000, 100
	validates := chance.Exactly(time.Minute)
	got, err := compare.Compare(compare.Question{
		Groups: fleet(t, clusters), Candidates: []compare.Candidate{progressive("100%", 1)}, Runs: runs, Seed: 3,
		Good: compare.Chances{Takes: tenMinutes, Fails: 0.005, Validates: &validates, NotGood: 0.01},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := 1 - atMost(clusters, 1, 0.005+0.995*0.01)
	if within := 4 * math.Sqrt(p*(1-p)/runs); math.Abs(float64(got[0].Breach)-p) > within {
		t.Errorf("%v, want %.4f±%.4f", got[0].Breach, p, within)
	}
}

// atMost is the chance that at most k of n clusters fail, if each fails with chance p.
func atMost(n, k int, p float64) (sum float64) {
	term := math.Pow(1-p, float64(n))
	for i := 0; i <= k; i++ {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return sum
}

// Where all start at once, a breach is that more clusters fail than may, with a binomial probability. What 1000 runs
// say is within four standard errors of it.
func TestChanceOfABreachIsThatOfTheBinomial(t *testing.T) {
	const runs, clusters = 1000, 100
	for _, test := range []struct {
		rate     chance.Rate
		failures int32
	}{{0.003, 0}, {0.02, 2}, {0.0005, 0}} {
		for seed := range uint64(2) {
			got, err := compare.Compare(compare.Question{
				Groups:     fleet(t, clusters),
				Candidates: []compare.Candidate{progressive("100%", test.failures)},
				Good:       compare.Chances{Takes: chance.Range{Least: 5 * time.Minute, Most: 20 * time.Minute}, Fails: test.rate},
				Runs:       runs, Seed: seed,
			})
			if err != nil {
				t.Fatal(err)
			}
			p := 1 - atMost(clusters, int(test.failures), float64(test.rate))
			if within := 4 * math.Sqrt(p*(1-p)/runs); math.Abs(float64(got[0].Breach)-p) > within {
				t.Errorf("rate %v, maxFailures %d, seed %d: %v, want %.4f±%.4f", test.rate, test.failures, seed, got[0].Breach, p, within)
			}
		}
	}
}

// The slowest of n clusters decides when all are done at once. Its median is known.
func TestQuantilesAreThoseOfTheSlowestCluster(t *testing.T) {
	const runs, clusters = 1000, 20
	got, err := compare.Compare(compare.Question{
		Groups: fleet(t, clusters), Candidates: []compare.Candidate{all()},
		Good: compare.Chances{Takes: chance.Range{Most: time.Hour}}, Runs: runs, Seed: 7,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		share float64
		got   time.Duration
	}{{0.5, got[0].P50}, {0.95, got[0].P95}} {
		// The share of runs that took no longer is itself within an error that a binomial allows.
		share := math.Pow(test.got.Hours(), clusters)
		if within := 4 * math.Sqrt(test.share*(1-test.share)/runs); math.Abs(share-test.share) > within {
			t.Errorf("P%v is %v, which %.3f of all runs do not exceed, want %.2f±%.3f", test.share*100, test.got, share, test.share, within)
		}
	}
}

func TestSameSeedGivesTheSame(t *testing.T) {
	q := compare.Question{
		Groups: fleet(t, 5, 20, 20), Candidates: []compare.Candidate{progressive("5", 1), perGroup()},
		Good: compare.Chances{Takes: chance.Range{Least: time.Minute, Most: time.Hour}, Fails: 0.02, Never: 0.01},
		Bad:  compare.Chances{Takes: tenMinutes, Fails: 0.5}, Runs: 40, Seed: 1,
	}
	once, err := compare.Compare(q)
	if err != nil {
		t.Fatal(err)
	}
	again, err := compare.Compare(q)
	if diff := cmp.Diff(once, again); err != nil || diff != "" {
		t.Errorf("%v (-once +again):\n%s", err, diff)
	}
	q.Seed = 2
	if other, _ := compare.Compare(q); cmp.Equal(once, other) {
		t.Error("another seed gives the same")
	}
	// A candidate meets the same luck whatever is compared with it.
	q.Seed, q.Candidates = 1, q.Candidates[1:]
	if alone, _ := compare.Compare(q); !cmp.Equal(once[1:], alone) {
		t.Errorf("with another it is %+v, alone %+v", once[1], alone)
	}
}

// A run that gets stuck or is stopped never finishes, and the late quantile says so where it is more than one in twenty.
func TestNeverIsNever(t *testing.T) {
	got, err := compare.Compare(compare.Question{
		Groups: fleet(t, 10), Candidates: []compare.Candidate{all()},
		Good: compare.Chances{Takes: tenMinutes, Never: 0.02}, Runs: 200, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if a := got[0]; a.P50 != 10*time.Minute || a.P95 != compare.Never || a.Stuck < 20 || a.Stuck > 60 || a.Stopped != 0 || a.Wasted < 0.1 || a.Wasted > 0.3 {
		t.Errorf("%+v", a)
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			groups := fleet(b, n/10, n-n/10)
			for b.Loop() {
				if _, err := compare.Compare(compare.Question{Groups: groups, Candidates: []compare.Candidate{perGroup()},
					Good: compare.Chances{Takes: chance.Range{Least: time.Minute, Most: time.Hour}, Fails: 0.001}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Of 100 clusters 10 fail; another attempt draws other luck for them, so that in the end no run stops a good version. A bad
// one is not tried again.
func TestWhatFailedIsTriedAgain(t *testing.T) {
	q := compare.Question{
		Groups: fleet(t, 100), Candidates: []compare.Candidate{progressive("10", 2), all()},
		Good: compare.Chances{Takes: tenMinutes, Fails: 0.1}, Bad: compare.Chances{Takes: tenMinutes, Fails: 1},
		Runs: 20, Seed: 3,
	}
	once, err := compare.Compare(q)
	if err != nil {
		t.Fatal(err)
	}
	q.Retries, q.RetryAfter = 20, time.Hour
	again, err := compare.Compare(q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range once {
		if once[i].Stopped+once[i].Stuck == 0 || again[i].Stopped+again[i].Stuck > 0 || again[i].P50 <= time.Hour || again[i].P50 == compare.Never {
			t.Errorf("%s: %d stopped and %d stuck without retries, %d and %d with them, done in %v", once[i].Name, once[i].Stopped, once[i].Stuck,
				again[i].Stopped, again[i].Stuck, again[i].P50)
		}
		if once[i].Had != again[i].Had || once[i].StoppedAfter != again[i].StoppedAfter {
			t.Errorf("%s: a bad version reaches %d with retries, %d without", once[i].Name, again[i].Had, once[i].Had)
		}
	}
}

// The report of a cluster that was started again since is about another attempt: here no cluster succeeds in time.
func TestAnAnswerOfAnEarlierAttemptDoesNotCount(t *testing.T) {
	late := chance.Range{Least: 90 * time.Minute, Most: 90 * time.Minute}
	got, err := compare.Compare(compare.Question{Groups: fleet(t, 5), Candidates: []compare.Candidate{progressive("5", 2)},
		Good: compare.Chances{Takes: late}, Bad: compare.Chances{Takes: late}, Runs: 1, Retries: 1, RetryAfter: 10 * time.Minute})
	if err != nil || got[0].Stopped != 1 || got[0].Wasted != 10 {
		t.Errorf("%v: %+v, want a run that is stopped, with ten wasted starts", err, got)
	}
}

// What half of all runs keep to says little of the worst, and a version that half of the clusters survive breaks fewer than it
// reaches.
func TestTheWorstRunIsNotTheMedian(t *testing.T) {
	question := compare.Question{Groups: fleet(t, 100), Candidates: []compare.Candidate{progressive("1", 2)},
		Good: compare.Chances{Takes: tenMinutes}, Bad: compare.Chances{Takes: tenMinutes, Fails: 0.1}, Runs: 100, Seed: 1}
	got, err := compare.Compare(question)
	if err != nil {
		t.Fatal(err)
	}
	a := got[0]
	if a.Broken != 3 || a.BrokenMost != 3 || a.Had >= a.HadP95 || a.HadP95 >= a.HadMost || a.Had <= 2*a.Broken {
		t.Errorf("with maxFailures 2 and one at a time, it reaches %d, %d, %d and breaks %d, %d; want 3 broken, and a median below P95 below the worst",
			a.Had, a.HadP95, a.HadMost, a.Broken, a.BrokenMost)
	}
	question.Bad = compare.Chances{Takes: tenMinutes}
	if got, err = compare.Compare(question); err != nil || got[0].Had != 100 || got[0].Broken != 0 {
		t.Errorf("a version that works everywhere reaches %d and breaks %d, %v", got[0].Had, got[0].Broken, err)
	}
}

func TestTheVerdictIsALine(t *testing.T) {
	slow := compare.Answer{Name: "slow", HadMost: 3, Clusters: 9, P95: 2 * time.Hour}
	fast := compare.Answer{Name: "fast", HadMost: 8, Clusters: 9, P95: time.Hour}
	both := compare.Answer{Name: "both", HadMost: 2, Clusters: 9, P95: time.Minute}
	never := compare.Answer{Name: "never", HadMost: 1, Clusters: 9, P95: compare.Never}
	for _, test := range []struct {
		answers []compare.Answer
		want    string
	}{
		{[]compare.Answer{slow, fast}, "Verdict: slow is the gentlest: a bad version reaches 3 of 9 clusters at worst. fast is the fastest: a good one is done in 1h in 95 of 100 runs."},
		{[]compare.Answer{slow, both}, "Verdict: both is the gentlest and the fastest: a bad version reaches 2 of 9 clusters at worst; a good one is done in 1m in 95 of 100 runs."},
		{[]compare.Answer{fast}, "Verdict: a bad version reaches 8 of 9 clusters at worst; a good one is done in 1h in 95 of 100 runs."},
		{[]compare.Answer{never, never}, "Verdict: never is the gentlest: a bad version reaches 1 of 9 clusters at worst. With each strategy a good one is stopped or stuck in more than 5 of 100 runs."},
		{[]compare.Answer{never}, "Verdict: a bad version reaches 1 of 9 clusters at worst; a good one is stopped or stuck in more than 5 of 100 runs."},
	} {
		if got := compare.NewReport("", compare.Question{}, test.answers).Verdict; got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
}

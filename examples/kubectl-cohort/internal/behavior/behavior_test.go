// SPDX-License-Identifier: Apache-2.0

package behavior_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/status"
)

func spec(t interface{ Fatal(...any) }, text string) (s behavior.Spec) {
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is like "a: Failed 5m0s Succeeded 1h0m0s", a line for each cluster.
func shown(lives map[string]simulation.Life) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lives)) {
		b.WriteString(name + ":")
		for _, step := range lives[name] {
			what := string(step.Status)
			if step.Drops {
				what = "dropped"
			}
			fmt.Fprintf(&b, " %s %v", what, step.After)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// takes is that each cluster takes so long, and that it is not validated.
func takes(d time.Duration) behavior.Usual { return behavior.Usual{Takes: chance.Exactly(d)} }

func clusters() []behavior.Cluster {
	return []behavior.Cluster{
		{Name: "a", Group: "canary", Labels: map[string]string{"link": "slow"}},
		{Name: "b", Group: "canary"},
		{Name: "c"},
		{Name: "d1", Labels: map[string]string{"link": "slow"}},
	}
}

func TestLivesFollowTheFirstRuleThatMatches(t *testing.T) {
	for _, test := range []struct{ why, spec, want string }{
		{"without rules every cluster succeeds after the fallback", `{}`,
			"a: Succeeded 10m0s\nb: Succeeded 10m0s\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
		{"an empty rule is for every cluster", `clusters: [{after: 1m}]`,
			"a: Succeeded 1m0s\nb: Succeeded 1m0s\nc: Succeeded 1m0s\nd1: Succeeded 1m0s\n"},
		{"of two rules the first decides", `clusters: [{names: [a], after: 1m}, {names: [a, b], after: 2m}]`,
			"a: Succeeded 1m0s\nb: Succeeded 2m0s\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
		{"names are patterns", `clusters: [{names: ["d[0-9]", c], outcome: Fails}]`,
			"a: Succeeded 10m0s\nb: Succeeded 10m0s\nc: Failed 10m0s\nd1: Failed 10m0s\n"},
		{"selector and groups are ANDed", `clusters: [{selector: {matchLabels: {link: slow}}, groups: [canary], outcome: NeverAnswers}]`,
			"a:\nb: Succeeded 10m0s\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
		{"a cluster that is cut off is dropped after the lease", `clusters: [{names: [a, c], outcome: CutOff}, {names: [b], outcome: NeverAnswers}]`,
			"a: dropped 5m0s\nb:\nc: dropped 5m0s\nd1: Succeeded 10m0s\n"},
		{"the lease may be given", `{lease: 90s, clusters: [{outcome: CutOff}]}`,
			"a: dropped 1m30s\nb: dropped 1m30s\nc: dropped 1m30s\nd1: dropped 1m30s\n"},
		{"a failure recovers after it happened", `clusters: [{names: [a], outcome: Fails, after: 5m, recoversAfter: 1h}]`,
			"a: Failed 5m0s Succeeded 1h5m0s\nb: Succeeded 10m0s\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
		{"a cluster that never answers recovers after its start", `clusters: [{names: [a], outcome: NeverAnswers, recoversAfter: 1h}]`,
			"a: Succeeded 1h0m0s\nb: Succeeded 10m0s\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
		{"0s is a time, and not the fallback", `clusters: [{after: 0s}]`,
			"a: Succeeded 0s\nb: Succeeded 0s\nc: Succeeded 0s\nd1: Succeeded 0s\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			lives, unused, _ := spec(t, test.spec).Lives(clusters(), takes(10*time.Minute))
			if diff := cmp.Diff(test.want, shown(lives)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(unused) > 0 {
				t.Errorf("unused rules %v, want none", unused)
			}
		})
	}
}

// Where clusters are validated, a cluster that succeeds is Validating first, also where that is after a failure. A cluster that says no or nothing may say yes later.
func TestLivesWithValidation(t *testing.T) {
	for _, test := range []struct{ why, rule, asked, unasked string }{
		{"the usual time", `{}`, "Validating 10m0s Succeeded 12m0s", "Succeeded 10m0s"},
		{"a time of its own", `{after: 1m, validatedAfter: 5m}`, "Validating 1m0s Succeeded 6m0s", "Succeeded 1m0s"},
		{"a no", `{outcome: NotGood, after: 1m}`, "Validating 1m0s Failed 3m0s", "Succeeded 1m0s"},
		{"a no, and a yes an hour later", `{outcome: NotGood, validatedAfter: 5m, recoversAfter: 1h}`, "Validating 10m0s Failed 15m0s Succeeded 1h15m0s", "Succeeded 10m0s"},
		{"nothing", `{outcome: NeverValidated}`, "Validating 10m0s", "Succeeded 10m0s"},
		{"nothing for an hour", `{outcome: NeverValidated, recoversAfter: 1h}`, "Validating 10m0s Succeeded 1h10m0s", "Succeeded 10m0s"},
		{"it fails by itself", `{outcome: Fails, after: 1m}`, "Failed 1m0s", "Failed 1m0s"},
		{"it fails by itself, and is validated when it succeeds", `{outcome: Fails, after: 1m, recoversAfter: 1h}`, "Failed 1m0s Validating 1h1m0s Succeeded 1h3m0s", "Failed 1m0s Succeeded 1h1m0s"},
		{"it answers late", `{outcome: NeverAnswers, recoversAfter: 1h}`, "Validating 1h0m0s Succeeded 1h2m0s", "Succeeded 1h0m0s"},
		{"it is cut off", `{outcome: CutOff}`, "dropped 5m0s", "dropped 5m0s"},
	} {
		two := chance.Exactly(2 * time.Minute)
		s, usual := spec(t, `clusters: [`+test.rule+`]`), takes(10*time.Minute)
		for range 2 {
			lives, _, _ := s.Lives(clusters()[:1], usual)
			want := test.unasked
			if usual.Validates != nil {
				want = test.asked
			}
			if got := shown(lives); got != "a: "+want+"\n" {
				t.Errorf("%s: %q, want %q", test.why, got, want)
			}
			usual.Validates = &two
		}
	}
}

// A cluster that has succeeded and is being validated did not fail: what is drawn befalls others, and names decide all the same. In another attempt it
// starts anew.
func TestDrawnFailuresBefallNoClusterThatSucceeded(t *testing.T) {
	two := chance.Exactly(2 * time.Minute)
	all := many(4)
	all[1].Validating = true
	for _, test := range []struct {
		rule    string
		attempt int
		spared  bool
	}{
		{`{rate: 100%, outcome: Fails}`, 0, true}, {`{share: 100%, outcome: Fails}`, 0, true}, {`{share: 4, outcome: NeverAnswers}`, 0, true}, {`{rate: 100%, outcome: Fails}`, 1, false},
		{`{outcome: Fails}`, 0, false}, {`{rate: 100%, outcome: NotGood}`, 0, false}, {`{share: 4, outcome: CutOff}`, 0, false},
	} {
		s := spec(t, `clusters: [`+test.rule+`]`)
		s.Attempt = test.attempt
		lives, unused, _ := s.Lives(all, behavior.Usual{Takes: chance.Exactly(time.Minute), Validates: &two})
		good := strings.Count(shown(lives), "Validating 1m0s Succeeded 3m0s\n")
		if spared := good == 1 && len(lives["c00001"]) == 2; spared != test.spared || good > 1 || len(unused) > 0 {
			t.Errorf("%s in attempt %d: a validated cluster is spared: %v, want %v; unused %v\n%s", test.rule, test.attempt, spared, test.spared, unused, shown(lives))
		}
	}
}

// Without validation luck is as it was before there was any, and with it no cluster takes another time until the success.
func TestValidationChangesNoLuck(t *testing.T) {
	s := spec(t, `{seed: 5, clusters: [{rate: 20%, outcome: Fails, after: 1m-5m, recoversAfter: 1h-2h}]}`)
	usual := behavior.Usual{Takes: chance.Range{Least: time.Minute, Most: time.Hour}}
	before, _, _ := s.Lives(many(50), usual)
	usual.Validates = &chance.Range{Least: time.Minute, Most: time.Hour}
	later, _, uses := s.Lives(many(50), usual)
	different := make(map[time.Duration]bool)
	for name, life := range later {
		last, n := life[len(life)-1], len(before[name])
		different[last.After-life[len(life)-2].After] = true
		if life[n-1].After != before[name][n-1].After || life[n-1].Status != status.Validating || last.Status != status.Succeeded || n == 2 && life[0] != before[name][0] {
			t.Errorf("%s: %v, and with validation %v", name, before[name], life)
		}
	}
	if len(different) < 10 || uses.Validates != 50 {
		t.Errorf("%d different times of %d clusters that take the usual one, want many of 50", len(different), uses.Validates)
	}
}

func TestLivesNameTheRulesThatDecideNothing(t *testing.T) {
	_, unused, _ := spec(t, `clusters: [{names: [x]}, {names: [a]}, {names: [a]}, {share: 0%}, {}, {}]`).Lives(clusters(), behavior.Usual{})
	if diff := cmp.Diff([]int{0, 2, 3, 5}, unused); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShareIsOfTheClustersThatAreLeftRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, percent := rapid.IntRange(0, 50).Draw(t, "clusters"), rapid.IntRange(0, 100).Draw(t, "percent")
		s := spec(t, fmt.Sprintf(`{seed: %d, clusters: [{names: ["0*"]}, {share: %d%%, outcome: Fails}]}`, rapid.Uint16().Draw(t, "seed"), percent))
		var all []behavior.Cluster
		left := 0
		for i := range n {
			all = append(all, behavior.Cluster{Name: fmt.Sprintf("%d%d", i%3, i)})
			if i%3 != 0 {
				left++
			}
		}
		lives, _, _ := s.Lives(all, takes(time.Minute))
		failing := strings.Count(shown(lives), "Failed")
		want := 0
		for want*100 < left*percent {
			want++
		}
		if failing != want {
			t.Fatalf("%d of %d fail, want %d", failing, left, want)
		}
		backwards := slices.Clone(all)
		slices.Reverse(backwards)
		if again, _, _ := s.Lives(backwards, takes(time.Minute)); shown(again) != shown(lives) {
			t.Fatalf("the order of the clusters changed the share:\n%s", cmp.Diff(shown(lives), shown(again)))
		}
	})
}

func TestShareMayBeLessThanAPercent(t *testing.T) {
	for _, test := range []struct {
		clusters int
		share    string
		want     int
	}{{1000, "0.3%", 3}, {1001, "0.3%", 4}, {100, "7%", 7}, {10, "0.01%", 1}, {10, "0%", 0}, {3, "99.9%", 3}} {
		lives, _, _ := spec(t, fmt.Sprintf(`clusters: [{share: %s, outcome: Fails}]`, test.share)).Lives(many(test.clusters), takes(0))
		if got := strings.Count(shown(lives), "Failed"); got != test.want {
			t.Errorf("%s of %d: %d fail, want %d", test.share, test.clusters, got, test.want)
		}
	}
}

func many(n int) (all []behavior.Cluster) {
	for i := range n {
		all = append(all, behavior.Cluster{Name: fmt.Sprintf("c%05d", i)})
	}
	return all
}

// Of 20,000 clusters 0.5% are 100, and five standard deviations 50.
func TestRateIsTheChanceOfEachCluster(t *testing.T) {
	for seed := range 5 {
		lives, unused, fallbacks := spec(t, fmt.Sprintf(`{seed: %d, clusters: [{rate: 0.5%%, outcome: Fails}]}`, seed)).Lives(many(20_000), takes(0))
		if got := strings.Count(shown(lives), "Failed"); got < 50 || got > 150 || len(unused) > 0 || fallbacks.Takes != 20_000 {
			t.Errorf("seed %d: %d fail, %d take the usual time, unused %v", seed, got, fallbacks.Takes, unused)
		}
	}
	lives, unused, _ := spec(t, `clusters: [{rate: 0%, outcome: Fails}]`).Lives(many(10), takes(0))
	if strings.Contains(shown(lives), "Failed") || len(unused) > 0 {
		t.Errorf("unused %v of\n%s", unused, shown(lives))
	}
}

// Two rules with the same rate are two draws, not one.
func TestRatesOfTwoRulesAreDrawnApart(t *testing.T) {
	lives, _, _ := spec(t, `clusters: [{rate: 0.5, outcome: Fails, after: 1m}, {rate: 0.5, outcome: Fails, after: 2m}]`).Lives(many(1000), takes(0))
	if got := strings.Count(shown(lives), "Failed 2m0s"); got < 200 || got > 300 {
		t.Errorf("%d of about 500 have the second rule, want about 250", got)
	}
}

// What befalls a cluster depends neither on other clusters nor on the order.
func TestLuckIsAClustersOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := spec(t, fmt.Sprintf(`{seed: %d, clusters: [{rate: 20%%, outcome: Fails, after: 1m-5m, recoversAfter: 1h-2h}, {rate: 0.1, outcome: NeverAnswers}, {names: ["*1"], after: 0s-10s}]}`,
			rapid.Uint16().Draw(t, "seed")))
		all := many(60)
		some := rapid.Permutation(all).Draw(t, "order")[:rapid.IntRange(0, 60).Draw(t, "clusters")]
		fallback := behavior.Usual{Takes: chance.Range{Least: time.Minute, Most: time.Hour}}
		want, _, _ := s.Lives(all, fallback)
		got, _, _ := s.Lives(some, fallback)
		for name, life := range got {
			if diff := cmp.Diff(want[name], life); diff != "" {
				t.Fatalf("%s (-among all +among some):\n%s", name, diff)
			}
			for i, step := range life {
				if i == 0 && step.After > time.Hour || i > 0 && (step.After-life[0].After < time.Hour || step.After-life[0].After > 2*time.Hour) {
					t.Fatalf("%s: %v", name, life)
				}
			}
		}
	})
}

func TestSeedDecidesWhichAreInTheShare(t *testing.T) {
	var all []behavior.Cluster
	for i := range 100 {
		all = append(all, behavior.Cluster{Name: fmt.Sprint(i)})
	}
	seen := make(map[string]bool)
	for seed := range 5 {
		lives, _, _ := spec(t, fmt.Sprintf(`{seed: %d, clusters: [{share: 10, outcome: Fails}]}`, seed)).Lives(all, takes(time.Minute))
		seen[shown(lives)] = true
	}
	if len(seen) < 2 {
		t.Error("five seeds gave one share")
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{`clusters: [{names: ["["]}]`, `spec.clusters[0].names[0]: Invalid value: "["`},
		{`clusters: [{names: [""]}]`, `spec.clusters[0].names[0]: Invalid value: ""`},
		{`clusters: [{}, {selector: {matchLabels: {"a b": c}}}]`, `spec.clusters[1].selector.matchLabels`},
		{`clusters: [{share: 101%}]`, `spec.clusters[0].share: Invalid value: "101%"`},
		{`clusters: [{share: -1}]`, `spec.clusters[0].share: Invalid value: "-1"`},
		{`clusters: [{share: "5"}]`, `spec.clusters[0].share: Invalid value: "5"`},
		{`clusters: [{share: "+5%"}]`, `spec.clusters[0].share: Invalid value: "+5%"`},
		{`clusters: [{share: "0..5%"}]`, `spec.clusters[0].share: Invalid value: "0..5%"`},
		{`clusters: [{share: "%"}]`, `spec.clusters[0].share: Invalid value: "%"`},
		{`clusters: [{share: 1, rate: 5%}]`, `spec.clusters[0].rate: Forbidden: must not be given with a share`},
		{`clusters: [{after: 1h-8761h}]`, `spec.clusters[0].after: Invalid value: "1h-8761h"`},
		{`clusters: [{outcome: Fails, recoversAfter: 8761h}]`, `spec.clusters[0].recoversAfter: Invalid value`},
		{`clusters: [{recoversAfter: 1s}]`, `spec.clusters[0].recoversAfter: Forbidden: must be left out unless the outcome is Fails, NeverAnswers, NotGood or NeverValidated`},
		{`clusters: [{attempts: 1}]`, `spec.clusters[0].attempts: Forbidden: must be left out unless the outcome is Fails, NeverAnswers, NotGood or NeverValidated`},
		{`clusters: [{outcome: Fails, attempts: -1}]`, `spec.clusters[0].attempts: Invalid value: -1: must not be negative`},
		{`clusters: [{outcome: NeverAnswers, after: 1s}]`, `spec.clusters[0].after: Forbidden: must be left out where the outcome is NeverAnswers; recoversAfter may be given`},
		{`clusters: [{outcome: fails}]`, `spec.clusters[0].outcome: Unsupported value: "fails": supported values: "Succeeds", "Fails", "NeverAnswers", "CutOff", "NotGood", "NeverValidated"`},
		{`clusters: [{outcome: CutOff, after: 1s}]`, `spec.clusters[0].after: Forbidden: must be left out where the outcome is CutOff`},
		{`clusters: [{outcome: CutOff, recoversAfter: 1s}]`, `spec.clusters[0].recoversAfter: Forbidden: must be left out where the outcome is CutOff`},
		{`clusters: [{outcome: CutOff, attempts: 1}]`, `spec.clusters[0].attempts: Forbidden: must be left out where the outcome is CutOff`},
		{`clusters: [{outcome: CutOff, validatedAfter: 1s}]`, `spec.clusters[0].validatedAfter: Forbidden: must be left out where the outcome is CutOff`},
		{`clusters: [{outcome: NeverValidated, validatedAfter: 1s}]`, `spec.clusters[0].validatedAfter: Forbidden: must be left out where the outcome is NeverValidated; recoversAfter may be given`},
		{`clusters: [{validatedAfter: 8761h}]`, `spec.clusters[0].validatedAfter: Invalid value: "8761h": must be from 0s to 8760h`},
		{`lease: 0s`, `spec.lease: Invalid value: "0s": must be above 0s and not above 8760h`},
		{`lease: 8761h`, `spec.lease: Invalid value: "8761h0m0s": must be above 0s and not above 8760h`},
	} {
		errs := spec(t, test.spec).Validate(field.NewPath("spec"))
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), test.want) {
			t.Errorf("%s: %v, want one error with %q", test.spec, errs, test.want)
		}
	}
	fine := `clusters: [{names: [a, "b*"], selector: {matchLabels: {a: b}}, groups: [c], share: 100%, outcome: Fails, after: 8760h, recoversAfter: 0s}, {share: 3}, {outcome: NotGood, after: 1m, validatedAfter: 1m-2m, recoversAfter: 1h, attempts: 1},
		{outcome: NeverValidated, after: 1m, recoversAfter: 1h, attempts: 1}]`
	if errs := spec(t, fine).Validate(nil); len(errs) > 0 {
		t.Errorf("%s: %v, want no error", fine, errs)
	}
}

func ExampleSpec_Lives() {
	var s behavior.Spec
	err := yaml.UnmarshalStrict([]byte(`
clusters:
- names: [edge-*]
  outcome: Fails
  after: 5m
  recoversAfter: 2h
`), &s)
	if err != nil {
		fmt.Println(err)
		return
	}
	lives, _, _ := s.Lives([]behavior.Cluster{{Name: "edge-1"}, {Name: "office"}}, takes(10*time.Minute))
	fmt.Print(shown(lives))
	// Output:
	// edge-1: Failed 5m0s Succeeded 2h5m0s
	// office: Succeeded 10m0s
}

// In a later attempt a rule may be over, and luck is another; a cluster in a share stays in it.
func TestLaterAttempts(t *testing.T) {
	for _, test := range []struct {
		why, spec string
		attempt   int
		want      string
	}{
		{"the first", `clusters: [{names: [a], outcome: Fails, after: 5m, recoversAfter: 1h, attempts: 2}, {names: [b], outcome: NeverAnswers, attempts: 1}]`, 0,
			"a: Failed 5m0s Succeeded 1h5m0s\nb:\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
		{"over for one", `clusters: [{names: [a], outcome: Fails, after: 5m, attempts: 2}, {names: [b], outcome: NeverAnswers, attempts: 1}]`, 1,
			"a: Failed 5m0s\nb: Succeeded 10m0s\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
		{"over for both", `clusters: [{names: [a], outcome: Fails, after: 5m, attempts: 2}, {names: [b], outcome: NeverAnswers, attempts: 1}]`, 2,
			"a: Succeeded 5m0s\nb: Succeeded 10m0s\nc: Succeeded 10m0s\nd1: Succeeded 10m0s\n"},
	} {
		s := spec(t, test.spec)
		s.Attempt = test.attempt
		lives, _, _ := s.Lives(clusters(), takes(10*time.Minute))
		if diff := cmp.Diff(test.want, shown(lives)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
	}
	for share, same := range map[string]bool{"share: 50": true, "rate: 50%": false} {
		s := spec(t, "{seed: 3, clusters: [{"+share+", outcome: Fails}]}")
		first, _, _ := s.Lives(many(100), takes(0))
		s.Attempt = 1
		if second, _, _ := s.Lives(many(100), takes(0)); (shown(first) == shown(second)) != same {
			t.Errorf("%s: the same in the second attempt: %v, want %v", share, !same, same)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// pace is how long clusters take and, where they are validated, how long that takes and which are not found good.
type pace struct {
	takes, validates           times
	takesGiven, validatesGiven bool
	guessed                    bool     // no cluster says how long it took
	notGood, neverValidated    patterns // or shares
	notGoodRate                rate
}

func newPace() pace {
	return pace{takes: times{chance.Exactly(10 * time.Minute)}, validates: times{chance.Exactly(5 * time.Minute)}}
}

func (p *pace) declareValidates(s *pflag.FlagSet) {
	commandline.Var(s, &p.validates, "validates", "", "`time` from the success of a cluster until it is found good, or a range such as 1m-4m, where a plugin validates clusters, or with this flag; where clusters have verdicts already it is learned from them unless given")
}

func (p *pace) declareJudged(s *pflag.FlagSet) {
	commandline.Var(s, &p.notGood, "not-good", "", "`clusters` that succeed and are not found good then: a name, a pattern, or a share such as 3 or 5%; may be repeated")
	p.declareNotGoodRate(s)
	commandline.Var(s, &p.neverValidated, "never-validated", "", "`clusters` that succeed and never get a verdict: a name, a pattern, or a share; may be repeated")
}

func (p *pace) declareNotGoodRate(s *pflag.FlagSet) {
	commandline.Var(s, &p.notGoodRate, "not-good-rate", "", "`chance` of each of the other clusters that succeed not to be found good, such as 2%; where clusters have verdicts already it is learned from them unless given")
}

// note notes which times the user gave.
func (p *pace) note(s *pflag.FlagSet) {
	p.takesGiven, p.validatesGiven = s.Changed("takes"), s.Changed("validates")
}

// isValidated says whether the clusters of a rollout are validated: it names a plugin, or a flag or the Behavior says so. Those of a policy
// are not: a forecast finds each good at once.
func (p pace) isValidated(s *scenario.Scenario) bool {
	return s.Policy == nil && (s.Validator != "" || s.Behavior.Judges() || len(p.judging()) > 0)
}

// judging are the flags of validation that the user gave.
func (p pace) judging() (names []string) {
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--validates", p.validatesGiven}, {"--not-good", len(p.notGood) > 0}, {"--not-good-rate", p.notGoodRate.Rate > 0}, {"--never-validated", len(p.neverValidated) > 0}} {
		if flag.given {
			names = append(names, flag.name)
		}
	}
	return names
}

// learned is the pace by the clusters of a rollout that have succeeded, and those with a verdict, unless flags say it.
func (p pace) learned(s *scenario.Scenario) pace {
	if !s.Live {
		return p
	}
	learned, deadline := scenario.Learn(s.Reports(rollout.Options{}), s.Unjudged, s.Deadline()), s.Deadline()
	note := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	is, are := "is done", "are done"
	if s.Validator != "" {
		is, are = "succeeded", "succeeded"
	}
	switch {
	case p.takesGiven:
	case learned.Done > 0:
		p.takes.Range = learned.Takes
		note("--takes: %v, as %s took%s", p.takes, mostOf(learned.Done, "the cluster that "+is, "the %d clusters that "+are), again(learned.Again))
	default:
		before := s.LearnBefore()
		if before.Done > 0 {
			p.takes.Range = before.Takes
			note("--takes: %v, as %s took%s", p.takes, mostOf(before.Done, "the cluster that has the version before", "the %d clusters that have the version before"), again(before.Again))
			break
		}
		why := ""
		if p.guessed = true; deadline > 0 && p.takes.Most >= deadline {
			p.takes.Range, why = chance.Exactly(deadline/2), ", half of the progressDeadline"
		}
		note("--takes: a guess, %v%s, as no cluster that %s says how long it took", p.takes, why, is)
	}
	switch {
	case p.validatesGiven || !p.isValidated(s):
	case learned.Judged == 0:
		note("--validates: a guess, %v, as no cluster has a verdict that says how long that took", p.validates)
	default:
		p.validates.Range = learned.Validates
		note("--validates: %v, as long as it took to judge %s", p.validates, mostOf(learned.Judged, "the cluster that has a verdict", "the %d clusters that have a verdict"))
	}
	return p
}

// usual is what a cluster of a rollout does of which no rule says more.
func (p pace) usual(s *scenario.Scenario) (u behavior.Usual) {
	if u.Takes, u.Given = p.takes.Range, p.takesGiven; p.isValidated(s) {
		u.Validates = &p.validates.Range
	}
	return u
}

// span is how long a cluster of a rollout takes until it is found good, where that is asked for.
func (p pace) span(s *scenario.Scenario) exposure.Span {
	u := p.usual(s)
	span := exposure.Span{Shortest: u.Takes.Least, Longest: u.Takes.Most}
	if v := u.Validates; v != nil {
		span.Shortest, span.Longest = span.Shortest+v.Least, span.Longest+v.Most
	}
	return span
}

// enough is how many clusters have to have settled before the share of those that failed says anything of the others.
const enough = 10

// learnRates learns the chances to fail, and not to be found good, from the clusters that have settled, unless a flag or the Behavior says
// does.
func learnRates(s *scenario.Scenario, fails, notGood *rate, given bool) {
	if given || !s.Live || len(s.Behavior.Clusters) > 0 {
		return
	}
	learned := scenario.Learn(s.Reports(rollout.Options{}), s.Unjudged, s.Deadline())
	if learned.Failed > 0 && learned.Settled >= enough {
		fails.Rate = learned.FailRate()
		s.Notes = append(s.Notes, fmt.Sprintf("--fail-rate: %v, as %d of %d clusters failed that have settled; which others fail is drawn", fails, learned.Failed, learned.Settled))
	}
	if learned.NotGood > 0 && learned.Judged >= enough {
		notGood.Rate = learned.NotGoodRate()
		s.Notes = append(s.Notes, fmt.Sprintf("--not-good-rate: %v, as %d of %d clusters with a verdict were not found good; which others are not is drawn", notGood, learned.NotGood, learned.Judged))
	}
}

// again says how many clusters are not among those that took so long.
func again(clusters int) string {
	if clusters == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not counted, of which the last success came much later", of(clusters, "1 other is", "%d others are"))
}

// mostOf is a text about clusters; extremes are left out where they are many.
func mostOf(n int, one, several string) string {
	if n >= enough {
		return "most of " + of(n, one, several)
	}
	return of(n, one, several)
}

// of is a text about one or about several.
func of(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(several, n)
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/output"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/short"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/story"
	"github.com/cohort-ocm/cohort/rollout"
)

const (
	exitOutput = 1 // the report could not be written
	exitInput  = 2 // flags or files are wrong
	exitBounds = 3 // of exposure: no limits hold
)

// exitCode is the exit status of an outcome under -exit-code. The greatest of several rollouts counts.
func exitCode(outcome simulation.Outcome) int {
	return map[simulation.Outcome]int{
		simulation.Complete:             0,
		simulation.CompleteWithFailures: 3,
		simulation.AtGate:               4,
		simulation.Stuck:                5,
		simulation.Breached:             6,
		simulation.NothingSelected:      7,
		simulation.TakenBack:            8,
	}[outcome]
}

// run is the command. It returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "compare" {
		return runComparison(args[1:], stdin, stdout, stderr)
	}
	if len(args) > 0 && args[0] == "exposure" {
		return runExposure(args[1:], stdin, stdout, stderr)
	}
	f, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage(stdout)
		return 0
	}
	var r played
	if err == nil {
		f.progress, f.width = progressOn(stderr), widthOf(stdout)
		r, err = simulate(f, stdin)
	}
	if err != nil {
		fmt.Fprintf(stderr, "simulate: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitInput
	}
	if err := f.format.write(r.written, stdout); err != nil {
		fmt.Fprintf(stderr, "simulate: %v\n", err)
		return exitOutput
	}
	if err := f.draw(stdout); err != nil {
		fmt.Fprintf(stderr, "simulate: %v\n", err)
		return exitOutput
	}
	if f.exitCode {
		return r.exitCode()
	}
	return 0
}

// played is what to write of the simulations, and how they ended.
type played struct {
	written
	outcomes []simulation.Outcome
}

// exitCode is the greatest of the outcomes'.
func (p played) exitCode() (code int) {
	for _, outcome := range p.outcomes {
		code = max(code, exitCode(outcome))
	}
	return code
}

// simulate reads the input and plays it through.
func simulate(f *flags, stdin io.Reader) (all played, err error) {
	end := f.progress.begin("reading the files")
	objects, err := scenario.Reader().Read(stdin, f.files...)
	end()
	if err != nil {
		return all, err
	}
	scenarios, err := scenario.Load(objects, scenario.Wanted{Rollout: f.rollout, Placement: f.placement.Ref})
	if err != nil {
		return all, err
	}
	if err := f.pictures.of(len(scenarios)); err != nil {
		return all, err
	}
	f.from(scenarios)
	if err := f.checkNames(scenarios); err != nil {
		return all, err
	}
	var reports []listed
	for _, s := range scenarios {
		report, outcome, err := f.play(s)
		if err != nil {
			return all, err
		}
		reports, all.outcomes = append(reports, report), append(all.outcomes, outcome)
	}
	if all.written = several(reports); len(reports) == 1 {
		all.written = reports[0]
	}
	return all, nil
}

// play plays one rollout through.
func (f *flags) play(s *scenario.Scenario) (listed, simulation.Outcome, error) {
	options := f.options(s, f.start.Time)
	if len(f.uncounted)+len(s.GivenUp) > 0 {
		flagged := f.uncounted.of(s)
		s.Uncounted = func(cluster string) bool { return flagged(cluster) || slices.Contains(s.GivenUp, cluster) }
	}
	check, _ := s.Planner(options)
	first, err := check(nil, f.start.Time)
	if err != nil {
		return nil, "", f.fault(err) // all but the options was checked where it was read
	}
	if f.leaseGiven {
		s.Behavior.Lease = &metav1.Duration{Duration: f.lease}
	}
	takes, failRate := f.takes, f.failRate
	defer func() { f.takes, f.failRate = takes, failRate }() // of the next rollout
	if s.Live {
		s.Notes = append(s.Notes, "from here on: "+s.Stands)
	}
	learnTakes(s, &f.takes, f.takesGiven)
	learnFailRate(s, &f.failRate, f.failsGiven)
	var rules []behavior.Rule
	for _, rule := range f.rules() {
		rules = append(rules, rule.Rule)
	}
	lives, fallbacks, idle := s.Lives(rules, f.seed, f.takes.Range)
	how := scenario.Play{
		Options: options, Lives: lives, Start: f.start.Time,
		Retries: simulation.Retries{Times: f.retry.n, After: f.retry.per, Lives: s.Again(rules, f.seed, f.takes.Range)},
		Abort:   simulation.Abort{At: f.abortAt, OnBreach: f.abortOnBreach},
	}
	for _, i := range idle {
		s.Notes = append(s.Notes, f.rules()[i].flag+": no effect, other flags say how its clusters behave")
	}
	s.Notes = append(s.Notes, f.withoutEffect(s, first, fallbacks)...)
	if f.explain != "" {
		return f.explained(s, how)
	}
	end := f.progress.begin("playing the rollout through")
	trace, hub, err := s.Play(how)
	end()
	if err != nil {
		return nil, "", err
	}
	s.Notes = append(s.Notes, f.idle(s, trace)...)
	report, err := output.New(s, trace, hub, f.start.Time)
	if err != nil {
		return nil, "", err
	}
	report.Rows, report.Width, report.Clock = int(f.rows), f.width, f.clock(s)
	back, err := f.back(s, trace)
	if err != nil {
		return nil, "", err
	}
	if back != nil {
		report.Back(trace.Aborted, back, s.Uncounted)
	}
	f.pictures.keep(report, s, trace, back)
	return report, trace.Outcome, nil
}

// back plays the way back of a rollout that was aborted; nil if it was not.
func (f *flags) back(s *scenario.Scenario, trace *simulation.Trace, watch ...func(time.Duration, *rollout.Result)) (*simulation.Trace, error) {
	if trace.Aborted == nil {
		return nil, nil
	}
	defer f.progress.begin("playing the way back")()
	strategy, options := s.AtOnce(), f.backOptions(s, false)
	if f.backByStrategy {
		strategy, options = s.Strategy, f.backOptions(s, true)
	}
	return trace.Aborted.Back(strategy, options, watch...)
}

// explained plays the rollout through and tells what it is for one cluster.
func (f *flags) explained(s *scenario.Scenario, how scenario.Play) (listed, simulation.Outcome, error) {
	group, selected, why, err := s.Why(f.explain)
	if err != nil {
		return nil, "", err
	}
	teller := story.New(f.explain, f.start.Time, s.Reports(how.Options))
	trace, _, err := s.Play(how, teller.Watch)
	if err != nil {
		return nil, "", err
	}
	if aborted := trace.Aborted; aborted != nil && selected {
		var back *story.Teller
		if aborted.Has(f.explain) {
			back = story.New(f.explain, f.start.Time, nil)
			if _, err := f.back(s, trace, back.Watch); err != nil {
				return nil, "", err
			}
		}
		teller.Abort(aborted.After, back)
	}
	key := &group
	if !selected {
		key = nil
	}
	explained := output.Explain(f.explain, s.Rollout, s.Policy != nil, key, why, teller.Events(), trace.Outcome)
	explained.Start, explained.Clock, explained.Notes = f.start.Time, f.clock(s), s.Notes
	return explained, trace.Outcome, nil
}

// clock has times since the start where nobody says when that is.
func (f *flags) clock(s *scenario.Scenario) output.Clock {
	clock := output.Clock{Start: f.start.Time}
	switch {
	case s.Live:
		clock.Word = "now"
	case f.startGiven:
		clock.Word = "start"
	}
	return clock
}

// from has a rollout that is under way go on now, unless the user said when.
func (f *flags) from(scenarios []*scenario.Scenario) {
	live := slices.ContainsFunc(scenarios, func(s *scenario.Scenario) bool { return s.Live })
	if !live || f.startGiven {
		return
	}
	f.start = instant{time.Now().UTC().Truncate(time.Second)}
	for _, s := range scenarios {
		s.Notes = append(s.Notes, age(s, f.start.Time)...)
	}
}

// long is a long time in hours, or in days.
func long(d time.Duration) string {
	if days := int(d.Hours()) / 24; days > 1 {
		return fmt.Sprintf("%d days", days)
	}
	return short.Duration(d.Round(time.Hour))
}

// stale is from which age on the newest time in the files makes one ask whether they are of today.
const stale = time.Hour

// age notes how old the newest time is that the files have of a rollout, where that is long ago.
func age(s *scenario.Scenario, now time.Time) []string {
	var newest time.Time
	for _, report := range s.Reports(rollout.Options{}) {
		for _, at := range []time.Time{report.Applied, report.LastTransitionTime, report.Answered} {
			if at.After(newest) && !at.After(now) {
				newest = at
			}
		}
	}
	if old := now.Sub(newest); !newest.IsZero() && old > stale {
		return []string{fmt.Sprintf("the newest time in the files is %s, %s ago: where they are as old as that, -start says when it goes on",
			newest.UTC().Format(time.RFC3339), long(old))}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/clusterevents"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
)

// exitCode is the exit status of an outcome under --exit-code. The greatest of several rollouts counts.
func exitCode(outcome simulation.Outcome) int {
	return map[simulation.Outcome]int{
		simulation.Complete:             0,
		simulation.CompleteWithFailures: 3,
		simulation.AtGate:               4,
		simulation.Stuck:                5,
		simulation.Breached:             6,
		simulation.NothingSelected:      7,
		simulation.RolledBack:           8,
		simulation.Blocked:              9,
	}[outcome]
}

// planCommand plays rollouts through.
func planCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	f := newFlags(hub)
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Play the rollouts through from where they stand: what happens when, how it ends, and why",
		Example: `  kubectl cohort plan -f fleet.yaml -f placement.yaml               play the rollout through
  kubectl cohort plan -f fleet.yaml -f placement.yaml --fail edge-7  what if this cluster fails?
  kubectl cohort plan --rollout web --max-concurrency 20             what if more of a live rollout go at a time?
  kubectl cohort plan -f all.yaml --fail-share 3 --abort-on-breach   and if it is rolled back where it stops?`,
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, nil) },
	}
	f.declare(cmd.Flags())
	f.pictures.declare(cmd.Flags())
	commandline.Var(cmd.Flags(), &f.rows, "rows", "", "`number` of rows that a table has at most, and of waves in JSON that say why the rest waits; or all")
	return cmd
}

// explainCommand tells how rollouts go for single clusters.
func explainCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	f := newFlags(hub)
	var form statusFormat
	cmd := &cobra.Command{
		Use:   "explain [CLUSTER...]",
		Short: "Tell how the rollouts go for clusters: what each waits for, what blocks it, when it starts; without a name, which clusters wait and why",
		Example: `  kubectl cohort explain edge-8                      why does this cluster wait, and for which?
  kubectl cohort explain                             which clusters wait, by reason, and what can be done?
  kubectl cohort explain edge-8 -f all.yaml --fail edge-7`,
		RunE: func(cmd *cobra.Command, clusters []string) error {
			if len(clusters) == 0 {
				return f.explainAll(cmd, form)
			}
			if form == "wide" || form == "name" {
				return fmt.Errorf("-o %s: must be given without a cluster", form)
			}
			f.format = format(form)
			return f.run(cmd, clusters)
		},
	}
	cmd.ValidArgsFunction = f.offer(f.clusterNames)
	f.declare(cmd.Flags())
	form.replace(cmd.Flags().Lookup("output"), "`format` of the output: json or yaml; without a cluster also wide, with all names, or name; text unless given")
	return cmd
}

// run plays what the flags say and writes what becomes of it, or what it is for these clusters.
func (f *flags) run(cmd *cobra.Command, clusters []string) error {
	if err := f.complete(cmd.Flags()); err != nil {
		return err
	}
	stdout := cmd.OutOrStdout()
	f.progress, f.width = progressOn(cmd.ErrOrStderr()), widthOf(stdout)
	r, err := f.played(cmd, clusters)
	if err != nil {
		return err
	}
	if err := f.format.write(r.written, stdout); err != nil {
		return err
	}
	if err := f.draw(stdout); err != nil {
		return unwritten{err}
	}
	if code := r.exitCode(); f.exitCode && code != 0 {
		return exit(code)
	}
	return nil
}

// played is what to write of the simulations, and how they ended.
type played struct {
	written
	outcomes []simulation.Outcome
}

// exitCode is the greatest of the outcomes'.
func (done played) exitCode() (code int) {
	for _, outcome := range done.outcomes {
		code = max(code, exitCode(outcome))
	}
	return code
}

// read finds the rollouts, from now on where they are under way.
func (f *flags) read(cmd *cobra.Command) ([]*scenario.Scenario, error) {
	scenarios, err := f.scenarios(cmd)
	if err != nil {
		return nil, err
	}
	if err := f.pictures.of(len(scenarios)); err != nil {
		return nil, err
	}
	f.from(scenarios)
	for _, s := range scenarios {
		s.At(f.start.Time)
	}
	return scenarios, f.checkNames(scenarios)
}

// played reads the input and plays it through, to the end or for each of some clusters.
func (f *flags) played(cmd *cobra.Command, clusters []string) (all played, err error) {
	scenarios, err := f.read(cmd)
	if err != nil {
		return all, err
	}
	var reports []written
	add := func(report written, outcome simulation.Outcome, err error) error {
		reports, all.outcomes = append(reports, report), append(all.outcomes, outcome)
		return err
	}
	for _, s := range scenarios {
		if len(clusters) > 0 {
			break
		}
		if err := add(f.play(s, "")); err != nil {
			return all, err
		}
	}
	for _, cluster := range clusters {
		for _, s := range with(scenarios, cluster) {
			notes := slices.Clip(s.Notes)
			if err := add(f.play(s, cluster)); err != nil {
				return all, err
			}
			s.Notes = notes // each cluster's have what was learned
		}
	}
	if all.written = several(reports); len(reports) == 1 {
		all.written = reports[0]
	}
	return all, nil
}

// with are the rollouts that go to a cluster, or else those that went there, or all where none did, so that each says why. An object of an
// owner with several placements is one of each.
func with(scenarios []*scenario.Scenario, cluster string) []*scenario.Scenario {
	for _, has := range []func(*scenario.Scenario) bool{
		func(s *scenario.Scenario) bool { _, selects := s.Groups.Position(cluster); return selects },
		func(s *scenario.Scenario) bool { return s.Knows(cluster) },
	} {
		if some := slices.DeleteFunc(slices.Clone(scenarios), func(s *scenario.Scenario) bool { return !has(s) }); len(some) > 0 {
			return some
		}
	}
	return scenarios
}

// course is how a rollout is to be played. It notes what was learned, and which flags have no effect.
func (f *flags) course(s *scenario.Scenario) (how scenario.Play, err error) {
	options := f.standing(s, f.start.Time)
	if len(f.ignored)+len(s.Asked.Ignored) > 0 {
		flagged := f.ignored.of(s)
		s.Ignored = func(cluster string) bool { return flagged(cluster) || slices.Contains(s.Asked.Ignored, cluster) }
	}
	check, _ := s.Planner(options)
	first, err := check(nil, f.start.Time)
	if err != nil {
		return how, f.fault(err) // all but the options was checked where it was read
	}
	if f.leaseGiven {
		s.Behavior.Lease = &metav1.Duration{Duration: f.lease}
	}
	pace, failRate := f.pace, f.failRate
	defer func() { f.pace, f.failRate = pace, failRate }() // of the next rollout
	if s.Live {
		s.Notes = append(s.Notes, "from here on: "+s.Stands)
	}
	f.pace = f.pace.learned(s)
	learnRates(s, &f.failRate, &f.notGoodRate, f.failsGiven)
	var rules []behavior.Rule
	for _, rule := range f.rules() {
		rules = append(rules, rule.Rule)
	}
	usual := f.pace.usual(s)
	lives, uses, idle := s.Lives(rules, f.seed, usual)
	how = scenario.Play{
		Options: options, Lives: lives, Start: f.start.Time, Guessed: f.pace.guessed && uses.Takes > 0,
		Retries: simulation.Retries{Times: f.retry.n, After: f.retry.per, Lives: s.Again(rules, f.seed, usual)},
		Abort:   simulation.Abort{At: f.abortAt, OnBreach: f.abortOnBreach},
		Luck: func(seed uint64) func(string) simulation.Life {
			notes := len(s.Notes)
			defer func() { s.Notes = s.Notes[:notes] }() // said already
			lives, _, _ := s.Lives(rules, seed, usual)
			return lives
		},
	}
	for _, i := range idle {
		s.Notes = append(s.Notes, f.rules()[i].flag+": no effect, other flags say how its clusters behave")
	}
	s.Notes = append(s.Notes, f.withoutEffect(s, first, usual, uses)...)
	return how, nil
}

// play plays one rollout through. Where a cluster is named, it says what the rollout is for that one.
func (f *flags) play(s *scenario.Scenario, cluster string) (written, simulation.Outcome, error) {
	how, err := f.course(s)
	if err != nil {
		return nil, "", err
	}
	if cluster != "" {
		return f.explained(s, how, cluster)
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
		report.Back(trace.Aborted, back, s.Ignored)
	}
	return report, trace.Outcome, f.pictures.keep(report, s, how, trace, back)
}

// back plays the rollback of a rollout that was aborted; nil if it was not.
func (f *flags) back(s *scenario.Scenario, trace *simulation.Trace, watch ...func(time.Duration, *rollout.Result)) (*simulation.Trace, error) {
	if trace.Aborted == nil {
		return nil, nil
	}
	defer f.progress.begin("playing the rollback")()
	strategy, options := s.AtOnce(), f.backOptions(s, false)
	if f.backByStrategy {
		strategy, options = s.Strategy, f.backOptions(s, true)
	}
	return trace.Aborted.Back(strategy, options, watch...)
}

// explained plays the rollout through and tells what it is for one cluster.
func (f *flags) explained(s *scenario.Scenario, how scenario.Play, cluster string) (written, simulation.Outcome, error) {
	group, selected, why, err := s.Why(cluster)
	if err != nil {
		return nil, "", fmt.Errorf("explain %w", err)
	}
	recorder := clusterevents.New(cluster, f.start.Time, s.Recorded(how.Options))
	recorder.Gone = s.OnlyRecorded(cluster)
	trace, _, err := s.Play(how, recorder.Watch)
	if err != nil {
		return nil, "", err
	}
	if aborted := trace.Aborted; aborted != nil && selected {
		var back *clusterevents.Recorder
		if aborted.Has(cluster) {
			back = clusterevents.New(cluster, f.start.Time, nil)
			if _, err := f.back(s, trace, back.Watch); err != nil {
				return nil, "", err
			}
		}
		recorder.Abort(aborted.After, back)
	}
	key := &group
	if !selected {
		key = nil
	}
	events := recorder.Events()
	if s.Aborted || s.Ends { // they are of a rollout that does not go on, and the notes say so
		events = nil
	}
	explained := output.Explain(cluster, s.Rollout, s.Policy != nil, key, why, events, trace.Outcome)
	explained.Start, explained.Clock, explained.Notes = f.start.Time, f.clock(s), s.Notes
	return explained, trace.Outcome, nil
}

// clock has times since the start where that time is unknown.
func (f *flags) clock(s *scenario.Scenario) output.Clock {
	clock := output.Clock{Start: f.start.Time}
	switch {
	case s.Live || len(f.files) == 0:
		clock.Word = "now"
	case f.startGiven:
		clock.Word = "start"
	}
	return clock
}

// from has a rollout that is under way go on now, unless the user said when.
func (f *flags) from(scenarios []*scenario.Scenario) {
	live := slices.ContainsFunc(scenarios, func(s *scenario.Scenario) bool { return s.Live })
	if !live && len(f.files) > 0 || f.startGiven {
		return
	}
	if !f.now.IsZero() {
		f.start = instant{f.now}
		return
	}
	f.start = instant{time.Now().UTC().Truncate(time.Second)}
	for _, s := range scenarios {
		if len(f.files) > 0 { // a hub is of now
			s.Notes = append(s.Notes, age(s, f.start.Time)...)
		}
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
	newest := newest(s, now)
	if old := now.Sub(newest); !newest.IsZero() && old > stale {
		return []string{fmt.Sprintf("the newest time in the files is %s, %s ago: where they are as old as that, --start says when it goes on",
			newest.UTC().Format(time.RFC3339), long(old))}
	}
	return nil
}

// newest is the newest time, not after now, that is written down of a rollout; zero if there is none.
func newest(s *scenario.Scenario, now time.Time) (newest time.Time) {
	for _, report := range append(s.Before(), s.Reports(rollout.Options{})...) {
		for _, at := range []time.Time{report.Applied, report.LastTransitionTime, report.Answered} {
			if at.After(newest) && !at.After(now) {
				newest = at
			}
		}
	}
	return newest
}

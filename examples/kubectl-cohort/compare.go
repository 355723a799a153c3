// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/compare"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// comparison is the command line of kubectl cohort compare.
type comparison struct {
	input
	strategies manifest.Files
	format     format
	pace
	fails, never, bad rate
	retry             starts
	runs              int
	seed              uint64
	pictures          pictures
	extras
	failsGiven bool
}

const compareUsage = `Play several strategies over one fleet, with chances, and with the same luck for each.

Each rollout is compared with the RolloutStrategies in the files of --strategy, such as

	apiVersion: cluster.open-cluster-management.io/v1alpha1
	kind: RolloutStrategy
	metadata: {name: careful}
	type: Progressive
	progressive: {maxConcurrency: 5%, maxFailures: 2}`

// compareCommand compares strategies.
func compareCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	c := &comparison{input: input{hub: hub}, pace: newPace(), bad: rate{1}, runs: 1, retry: starts{such: "2/30m"}}
	cmd := &cobra.Command{
		Use:     "compare",
		Short:   "Play several strategies over one fleet: which is gentler, and which is faster?",
		Long:    compareUsage,
		Example: "  kubectl cohort compare -f all.yaml --strategy others.yaml --takes 5m-20m --fail-rate 0.3% --runs 100",
		Args:    noWords,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.declare(cmd.Flags())
	return cmd
}

func (c *comparison) declare(s *pflag.FlagSet) {
	c.input.declare(s)
	c.whatIf.declare(s)
	commandline.Var(s, &c.strategies, "strategy", "", "`file` of RolloutStrategies to compare; may be repeated")
	commandline.Var(s, &c.format, "output", "o", "`format` of the output: text, json or yaml")
	commandline.Var(s, &c.takes, "takes", "", "`time` that a cluster takes, or a range such as 5m-20m")
	c.declareValidates(s)
	commandline.Var(s, &c.fails, "fail-rate", "", "`chance` that a cluster fails with a good version, such as 0.3%")
	commandline.Var(s, &c.never, "never-rate", "", "`chance` that a cluster never answers")
	c.declareNotGoodRate(s)
	commandline.Var(s, &c.bad, "bad-rate", "", "`chance` that a cluster fails with a bad version")
	commandline.Var(s, &c.retry, "retry", "", "`number/time`: how often to retry clusters on which a good version failed or timed out, and how long after a stop, or else after the end, as in 2/30m")
	s.IntVar(&c.runs, "runs", c.runs, "`number` of times that each strategy is played, with other luck each time")
	s.Uint64Var(&c.seed, "seed", c.seed, "`seed` of the luck; the same gives the same")
	c.extras.declare(s)
	s.StringVar(&c.pictures.svg, "svg", "", "write a picture of the comparison to this `file`")
	s.StringVar(&c.pictures.png, "png", "", "the same picture as PNG, to this `file`")
}

// mostRuns keep a typing error from running all night.
const mostRuns = 1_000_000

// complete checks what can be checked without the objects.
func (c *comparison) complete(s *pflag.FlagSet) error {
	c.pace.note(s)
	c.failsGiven = s.Changed("fail-rate") || s.Changed("never-rate") || s.Changed("not-good-rate")
	switch {
	case c.runs < 1 || c.runs > mostRuns:
		return fmt.Errorf("--runs %d: must be from 1 to %d", c.runs, mostRuns)
	case c.fails.Rate+c.never.Rate > 1 || c.bad.Rate+c.never.Rate > 1:
		return errors.New("--never-rate: must not be more than 100% together with --fail-rate or --bad-rate")
	}
	return c.pictures.check(c.format)
}

// run compares what the flags say.
func (c *comparison) run(cmd *cobra.Command) error {
	if err := c.complete(cmd.Flags()); err != nil {
		return err
	}
	c.progress = progressOn(cmd.ErrOrStderr())
	all, err := c.compared(cmd)
	if err != nil {
		return err
	}
	return c.write(all, cmd.OutOrStdout())
}

// write writes the reports, and the picture of a single one.
func (c *comparison) write(all []compare.Report, stdout io.Writer) error {
	if len(all) > 1 {
		var reports several
		for _, r := range all {
			reports = append(reports, r)
		}
		return c.format.write(reports, stdout)
	}
	drawn := all[0].Picture()
	if err := c.format.write(all[0], stdout); err != nil {
		return err
	}
	if err := errors.Join(drawFile(c.pictures.svg, drawn.SVG), drawFile(c.pictures.png, drawn.PNG)); err != nil {
		return unwritten{err}
	}
	return nil
}

// compared reads the input and plays all of it: a report for each rollout.
func (c *comparison) compared(cmd *cobra.Command) (all []compare.Report, err error) {
	scenarios, err := c.read(cmd)
	if err != nil {
		return nil, err
	}
	var strategies []scenario.NamedStrategy
	if len(c.strategies) > 0 {
		objects, err := manifest.Read(cmd.InOrStdin(), c.strategies...)
		if err != nil {
			return nil, err
		}
		if strategies, err = scenario.Strategies(objects); err != nil {
			return nil, err
		}
	}
	defer c.progress.begin(fmt.Sprintf("playing %d strategies %d times", len(scenarios)*(1+len(strategies)), c.runs))()
	for _, s := range scenarios {
		r, err := c.compare(s, strategies)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// compare plays one rollout by its own strategy and by the others.
func (c *comparison) compare(s *scenario.Scenario, others []scenario.NamedStrategy) (r compare.Report, err error) {
	name := s.Rollout
	if _, object, found := strings.Cut(name, " "); found {
		name = object // without its kind, which takes the place of a table
	}
	fails, notGood := c.fails, c.notGoodRate
	usual := c.pace.learned(s).usual(s)
	learnRates(s, &fails, &notGood, c.failsGiven)
	q := compare.Question{
		Groups: s.Groups,
		Good:   compare.Chances{Takes: usual.Takes, Fails: fails.Rate, Never: c.never.Rate, Validates: usual.Validates, NotGood: notGood.Rate},
		Bad:    compare.Chances{Takes: usual.Takes, Fails: c.bad.Rate, Never: c.never.Rate, Validates: usual.Validates, NotGood: notGood.Rate},
		Runs:   c.runs, Seed: c.seed, Unreached: s.Unreached,
		Retries: c.retry.n, RetryAfter: c.retry.per,
	}
	options := c.options(s, compare.Start())
	var strategies []string
	for _, named := range slices.Concat([]scenario.NamedStrategy{{Name: name, Strategy: s.Strategy}}, others) {
		course, err := s.Course(named.Strategy)
		if err != nil {
			return r, fmt.Errorf("%s: %w", named.Name, err)
		}
		planner, err := rollout.NewPlanner(course, s.Groups, options)
		if err != nil {
			return r, c.fault(err)
		}
		first := planner.Result(compare.Start())
		strategies = append(strategies, output.Strategy(first.Schedule))
		for _, note := range withoutEffect(first.Warnings, cmp.Or(course.Type, clusterv1alpha1.All)) {
			s.Notes = append(s.Notes, named.Name+": "+note)
		}
		q.Candidates = append(q.Candidates, compare.Candidate{Name: named.Name, Strategy: course, Options: options})
	}
	answers, err := compare.Compare(q)
	if err != nil {
		return r, err
	}
	r = compare.NewReport(fmt.Sprintf("%s: %d clusters", s.Placements(), s.Groups.NumClusters()), q, answers)
	for i := range r.Answers {
		r.Answers[i].Strategy = strategies[i]
	}
	r.Notes = append(s.Notes, c.withoutPart(s)...)
	return r, nil
}

// withoutPart says what of the files has no part in a comparison.
func (c *comparison) withoutPart(s *scenario.Scenario) (notes []string) {
	if s.Live {
		notes = append(notes, "compare: begins anew, though "+s.Stands)
	}
	if len(s.Behavior.Clusters) > 0 {
		notes = append(notes, "compare: the Behavior has no part in it, the chances are those of the flags")
	}
	return notes
}

// read finds the rollouts.
func (c *comparison) read(cmd *cobra.Command) ([]*scenario.Scenario, error) {
	all, err := c.scenarios(cmd)
	if err != nil {
		return nil, err
	}
	if err := c.pictures.of(len(all)); err != nil {
		return nil, err
	}
	if err := c.check(all); err != nil {
		return nil, err
	}
	for _, s := range all {
		switch {
		case s.Groups.NumClusters() == 0:
			return nil, fmt.Errorf("compare: %s selects no cluster: must be a rollout that selects some", s.Rollout)
		case s.Policy != nil && s.Policy.AtOnce && s.Policy.Resolution.Action() == policyv1.Inform:
			return nil, fmt.Errorf("compare: %s informs, which it does everywhere at once by any strategy: must be a policy that enforces", s.Rollout)
		}
	}
	return all, nil
}

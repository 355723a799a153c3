package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/chance"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/compare"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/output"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// comparison is the command line of simulate compare.
type comparison struct {
	files, strategies manifest.Files
	format            format
	placement         placement
	rollout           string
	takes             times
	fails, never, bad rate
	retry             starts
	runs              int
	seed              uint64
	pictures          pictures
	extras
	takesGiven, failsGiven bool
}

const compareUsage = `simulate compare plays several strategies over one fleet, with chances, and with the same luck for each.

usage: simulate compare -f FILE [-f FILE…] -strategy FILE [flags]

Each rollout in the files of -f is compared with the RolloutStrategies in the files of -strategy, such as

	apiVersion: cluster.open-cluster-management.io/v1alpha1
	kind: RolloutStrategy
	metadata: {name: careful}
	type: Progressive
	progressive: {maxConcurrency: 5%, maxFailures: 2}
`

func newComparison() *comparison {
	return &comparison{takes: times{chance.Exactly(10 * time.Minute)}, bad: rate{1}, runs: 1, retry: starts{such: "2/30m"}}
}

func (c *comparison) set() *flag.FlagSet {
	s := flag.NewFlagSet("simulate compare", flag.ContinueOnError)
	s.SetOutput(io.Discard)
	s.Var(&c.files, "f", "`file` of objects: the fleet, the placements, and what rolls out; may be repeated")
	s.Var(&c.strategies, "strategy", "`file` of RolloutStrategies to compare; may be repeated")
	s.Var(&c.format, "o", "`format` of the output, text or json")
	s.Var(&c.placement, "placement", "`[namespace/]name` of the placement, where there are several")
	s.StringVar(&c.rollout, "rollout", "", "`name` of the one object to roll out, where the files hold several")
	s.Var(&c.takes, "takes", "`time` that a cluster takes, or a range such as 5m-20m")
	s.Var(&c.fails, "fail-rate", "`chance` that a cluster fails with a good version, such as 0.3%")
	s.Var(&c.never, "never-rate", "`chance` that a cluster never answers")
	s.Var(&c.bad, "bad-rate", "`chance` that a cluster fails with a bad version")
	s.Var(&c.retry, "retry", "`number/time`: try a good version again where it failed or timed out, so many times, each so long after a breach or else after the end, as in 2/30m")
	s.IntVar(&c.runs, "runs", c.runs, "`number` of times that each strategy is played, with other luck each time")
	s.Uint64Var(&c.seed, "seed", c.seed, "`seed` of the luck; the same gives the same")
	c.extras.declare(s)
	s.StringVar(&c.pictures.svg, "svg", "", "write a picture of the comparison to this `file`")
	s.StringVar(&c.pictures.png, "png", "", "the same picture as PNG, to this `file`")
	return s
}

// mostRuns keep a typing error from running all night.
const mostRuns = 1_000_000

func parseComparison(args []string) (*comparison, error) {
	c := newComparison()
	set := c.set()
	if err := commandline.Parse(set, args); err != nil {
		return nil, err
	}
	set.Visit(func(given *flag.Flag) {
		c.takesGiven = c.takesGiven || given.Name == "takes"
		c.failsGiven = c.failsGiven || given.Name == "fail-rate" || given.Name == "never-rate"
	})
	switch {
	case set.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q: files must be given as -f FILE or -strategy FILE", set.Arg(0))
	case c.runs < 1 || c.runs > mostRuns:
		return nil, fmt.Errorf("-runs %d: must be from 1 to %d", c.runs, mostRuns)
	case c.fails.Rate+c.never.Rate > 1 || c.bad.Rate+c.never.Rate > 1:
		return nil, errors.New("-never-rate: must not be more than 100% together with -fail-rate or -bad-rate")
	}
	return c, c.pictures.check(false, c.format)
}

// runComparison is the command simulate compare.
func runComparison(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := parseComparison(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, compareUsage)
		printSections(stdout, newComparison().set(), []section{
			{"what is compared", []string{"f", "strategy", "rollout", "placement"}},
			{"chances", []string{"takes", "fail-rate", "never-rate", "bad-rate", "retry", "runs", "seed"}},
			{"beyond the strategies", extraNames()},
			{"output", []string{"o", "svg", "png"}},
		})
		return 0
	}
	var all []compare.Report
	if err == nil {
		all, err = c.compared(stdin, progressOn(stderr))
	}
	if err != nil {
		fmt.Fprintf(stderr, "simulate: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitInput
	}
	if err := c.write(all, stdout); err != nil {
		fmt.Fprintf(stderr, "simulate: %v\n", err)
		return exitOutput
	}
	return 0
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
	return errors.Join(c.format.write(all[0], stdout), drawFile(c.pictures.svg, drawn.SVG), drawFile(c.pictures.png, drawn.PNG))
}

// compared reads the input and plays all of it: a report for each rollout.
func (c *comparison) compared(stdin io.Reader, p progress) (all []compare.Report, err error) {
	end := p.begin("reading the files")
	defer func() { end() }()
	scenarios, err := c.read(stdin)
	if err != nil {
		return nil, err
	}
	var strategies []scenario.NamedStrategy
	if len(c.strategies) > 0 {
		objects, err := manifest.Read(stdin, c.strategies...)
		if err != nil {
			return nil, err
		}
		if strategies, err = scenario.Strategies(objects); err != nil {
			return nil, err
		}
	}
	end()
	end = p.begin(fmt.Sprintf("playing %d strategies %d times", len(scenarios)*(1+len(strategies)), c.runs))
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
	takes, fails := c.takes, c.fails
	learnTakes(s, &takes, c.takesGiven)
	learnFailRate(s, &fails, c.failsGiven)
	q := compare.Question{
		Groups: s.Groups,
		Good:   compare.Chances{Takes: takes.Range, Fails: fails.Rate, Never: c.never.Rate},
		Bad:    compare.Chances{Takes: takes.Range, Fails: c.bad.Rate, Never: c.never.Rate},
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
		for _, note := range ignored(first.Warnings, cmp.Or(course.Type, clusterv1alpha1.All)) {
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
func (c *comparison) read(stdin io.Reader) ([]*scenario.Scenario, error) {
	objects, err := scenario.Reader().Read(stdin, c.files...)
	if err != nil {
		return nil, err
	}
	all, err := scenario.Load(objects, scenario.Wanted{Rollout: c.rollout, Placement: c.placement.Ref})
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

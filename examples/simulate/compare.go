package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/chance"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/compare"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/scenario"
)

// comparison is the command line of simulate compare.
type comparison struct {
	files, strategies manifest.Files
	format            format
	placement         placement
	takes             times
	fails, never, bad rate
	runs              int
	seed              uint64
	pictures          pictures
}

const compareUsage = `simulate compare plays several strategies over one fleet, with chances, and with the same luck for each.

usage: simulate compare -f FILE [-f FILE…] -strategy FILE [flags]

The rollout in the files of -f is compared with the RolloutStrategies in the files of -strategy, such as

	apiVersion: cluster.open-cluster-management.io/v1alpha1
	kind: RolloutStrategy
	metadata: {name: careful}
	type: Progressive
	progressive: {maxConcurrency: 5%, maxFailures: 2}

`

func newComparison() *comparison {
	return &comparison{takes: times{chance.Exactly(10 * time.Minute)}, bad: rate{1}, runs: 1}
}

func (c *comparison) set() *flag.FlagSet {
	s := flag.NewFlagSet("simulate compare", flag.ContinueOnError)
	s.SetOutput(io.Discard)
	s.Var(&c.files, "f", "`file` of objects: the fleet, the placement, and one rollout; may be repeated")
	s.Var(&c.strategies, "strategy", "`file` of RolloutStrategies to compare; may be repeated")
	s.Var(&c.format, "o", "`format` of the output, text or json")
	s.Var(&c.placement, "placement", "`[namespace/]name` of the placement, where there are several")
	s.Var(&c.takes, "takes", "how `long` a cluster takes: a time, or a range such as 5m-20m")
	s.Var(&c.fails, "fail-rate", "`chance` that a cluster fails with a good version, such as 0.3%")
	s.Var(&c.never, "never-rate", "`chance` that a cluster never answers")
	s.Var(&c.bad, "bad-rate", "`chance` that a cluster fails with a bad version")
	s.IntVar(&c.runs, "runs", c.runs, "how `often` each strategy is played, with other luck each time")
	s.Uint64Var(&c.seed, "seed", c.seed, "`seed` of the luck; the same gives the same")
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
	switch {
	case set.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q: files must be given as -f FILE or -strategy FILE", set.Arg(0))
	case c.runs < 1 || c.runs > mostRuns:
		return nil, fmt.Errorf("-runs %d: must be from 1 to %d", c.runs, mostRuns)
	case c.fails.Rate+c.never.Rate > 1 || c.bad.Rate+c.never.Rate > 1:
		return nil, errors.New("-never-rate: must not be more than 100% together with -fail-rate or -bad-rate")
	}
	return c, c.pictures.check(false)
}

// runComparison is the command simulate compare.
func runComparison(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := parseComparison(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, compareUsage)
		set := newComparison().set()
		set.SetOutput(stdout)
		set.PrintDefaults()
		return 0
	}
	var r compare.Report
	if err == nil {
		r, err = c.compared(stdin, progressOn(stderr))
	}
	if err != nil {
		fmt.Fprintf(stderr, "simulate: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitInput
	}
	drawn := r.Picture()
	if err := errors.Join(c.format.write(r, stdout), drawFile(c.pictures.svg, drawn.SVG), drawFile(c.pictures.png, drawn.PNG)); err != nil {
		fmt.Fprintf(stderr, "simulate: %v\n", err)
		return exitOutput
	}
	return 0
}

// compared reads the input and plays all of it.
func (c *comparison) compared(stdin io.Reader, p progress) (r compare.Report, err error) {
	end := p.begin("reading the files")
	defer func() { end() }()
	s, err := c.read(stdin)
	if err != nil {
		return r, err
	}
	name := s.Rollout
	if _, object, found := strings.Cut(name, " "); found {
		name = object // without its kind, which takes the place of a table
	}
	q := compare.Question{
		Groups:     s.Groups,
		Candidates: []compare.Candidate{{Name: name, Strategy: s.Strategy}},
		Good:       compare.Chances{Takes: c.takes.Range, Fails: c.fails.Rate, Never: c.never.Rate},
		Bad:        compare.Chances{Takes: c.takes.Range, Fails: c.bad.Rate, Never: c.never.Rate},
		Runs:       c.runs, Seed: c.seed,
	}
	if len(c.strategies) > 0 {
		objects, err := manifest.Read(stdin, c.strategies...)
		if err != nil {
			return r, err
		}
		strategies, err := scenario.Strategies(objects)
		if err != nil {
			return r, err
		}
		for _, named := range strategies {
			q.Candidates = append(q.Candidates, compare.Candidate{Name: named.Name, Strategy: named.Strategy})
		}
	}
	end()
	end = p.begin(fmt.Sprintf("playing %d strategies %d times", len(q.Candidates), c.runs))
	answers, err := compare.Compare(q)
	if err != nil {
		return r, err
	}
	r = compare.NewReport(fmt.Sprintf("%v: %d clusters", s.Placement, s.Groups.NumClusters()), q, answers)
	r.Notes = s.Notes
	return r, nil
}

// read finds the one rollout.
func (c *comparison) read(stdin io.Reader) (*scenario.Scenario, error) {
	objects, err := scenario.Reader().Read(stdin, c.files...)
	if err != nil {
		return nil, err
	}
	all, err := scenario.Load(objects, scenario.Wanted{Placement: c.placement.Ref})
	switch {
	case err != nil:
		return nil, err
	case len(all) != 1:
		return nil, fmt.Errorf("compare: %d rollouts in the files: must be one", len(all))
	case all[0].Policy != nil:
		return nil, errors.New("compare: a Policy has no strategies to compare: must be another rollout")
	case all[0].Groups.NumClusters() == 0:
		return nil, fmt.Errorf("compare: %v selects no cluster", all[0].Placement)
	}
	return all[0], nil
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/output"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
)

const (
	exitOutput = 1 // the report could not be written
	exitInput  = 2 // flags or files are wrong
)

// run is the command. It returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	r, write, err := simulate(args, stdin)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "simulate: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitInput
	}
	if err := write(r, stdout); err != nil {
		fmt.Fprintf(stderr, "simulate: %v\n", err)
		return exitOutput
	}
	return 0
}

// simulate reads the input, plays it through, and says how to write the report.
func simulate(args []string, stdin io.Reader) (output.Report, func(output.Report, io.Writer) error, error) {
	fail := func(err error) (output.Report, func(output.Report, io.Writer) error, error) {
		return output.Report{}, nil, err
	}
	f, err := parse(args)
	if err != nil {
		return fail(err)
	}
	objects, err := manifest.Read(stdin, f.files...)
	if err != nil {
		return fail(err)
	}
	s, err := scenario.Load(objects, f.placement.Ref)
	if err != nil {
		return fail(err)
	}
	options, err := f.options(s.Groups)
	if err != nil {
		return fail(err)
	}
	if s.Policy != nil && s.Policy.AtOnce && len(options) > 0 {
		s.Notes = append(s.Notes, "the policy goes to all clusters at once: flags that order a rollout have no effect")
	}
	check, _ := s.Planner(options...)
	if _, err := check(nil, f.start.Time); err != nil {
		return fail(err) // of the options: all else was checked where it was read
	}
	plan, hub := s.Planner(options...)
	trace, err := simulation.Run(plan, s.Lives(f.rules(), f.seed, f.takes), f.start.Time)
	if err != nil {
		return fail(err)
	}
	report, err := output.New(s, trace, hub.Passes(), f.start.Time)
	return report, f.format.write, err
}

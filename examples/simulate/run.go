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

// exitCode is the exit status of an outcome under -exit-code. The greatest of several rollouts counts.
func exitCode(outcome simulation.Outcome) int {
	return map[simulation.Outcome]int{
		simulation.Complete:             0,
		simulation.CompleteWithFailures: 3,
		simulation.AtGate:               4,
		simulation.Stuck:                5,
		simulation.Breached:             6,
		simulation.NothingSelected:      7,
	}[outcome]
}

// run is the command. It returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage(stdout)
		return 0
	}
	var r output.Report
	if err == nil {
		r, err = simulate(f, stdin)
	}
	if err != nil {
		fmt.Fprintf(stderr, "simulate: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitInput
	}
	if err := f.format.write(r, stdout); err != nil {
		fmt.Fprintf(stderr, "simulate: %v\n", err)
		return exitOutput
	}
	if f.exitCode {
		return exitCode(r.End.Outcome)
	}
	return 0
}

// simulate reads the input and plays it through.
func simulate(f *flags, stdin io.Reader) (r output.Report, err error) {
	objects, err := manifest.Read(stdin, f.files...)
	if err != nil {
		return r, err
	}
	s, err := scenario.Load(objects, f.placement.Ref)
	if err != nil {
		return r, err
	}
	options, err := f.options(s.Groups)
	if err != nil {
		return r, err
	}
	if s.Policy != nil && s.Policy.AtOnce && len(options) > 0 {
		s.Notes = append(s.Notes, "the policy goes to all clusters at once: flags that order a rollout have no effect")
	}
	check, _ := s.Planner(options...)
	if _, err := check(nil, f.start.Time); err != nil {
		return r, err // of the options: all else was checked where it was read
	}
	plan, hub := s.Planner(options...)
	trace, err := simulation.Run(plan, s.Lives(f.rules(), f.seed, f.takes), f.start.Time)
	if err != nil {
		return r, err
	}
	return output.New(s, trace, hub.Passes(), f.start.Time)
}

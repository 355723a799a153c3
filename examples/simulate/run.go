package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/output"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/story"
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
	var r played
	if err == nil {
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
	if f.exitCode {
		return exitCode(r.outcome)
	}
	return 0
}

// played is what to write of a simulation, and how it ended.
type played struct {
	written
	outcome simulation.Outcome
}

// simulate reads the input and plays it through.
func simulate(f *flags, stdin io.Reader) (r played, err error) {
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
	if err := f.checkNames(s.Groups); err != nil {
		return r, err
	}
	check, _ := s.Planner(options...)
	first, err := check(nil, f.start.Time)
	if err != nil {
		return r, f.fault(err) // all but the options was checked where it was read
	}
	var rules []behavior.Rule
	for _, rule := range f.rules() {
		rules = append(rules, rule.Rule)
	}
	lives, fallbacks := s.Lives(rules, f.seed, time.Duration(f.takes))
	s.Notes = append(s.Notes, f.withoutEffect(s, first.Schedule, fallbacks)...)
	plan, hub := s.Planner(options...)
	if f.explain != "" {
		return f.explained(s, plan, lives)
	}
	trace, err := simulation.Run(plan, lives, f.start.Time)
	if err != nil {
		return r, err
	}
	report, err := output.New(s, trace, hub.Passes(), f.start.Time)
	return played{report, trace.Outcome}, err
}

// fault names the flag whose option package rollout refuses.
func (f *flags) fault(err error) error {
	if wrong := (*field.Error)(nil); errors.As(err, &wrong) && wrong.Field == "maxConcurrencyPerGroup" {
		return fmt.Errorf("-max-concurrency-per-group %s: %s", f.perGroup, wrong.Detail)
	}
	return err
}

// explained plays the rollout through and tells what it is for one cluster.
func (f *flags) explained(s *scenario.Scenario, plan simulation.Planner, lives func(string) simulation.Life) (r played, err error) {
	group, selected, why, err := s.Why(f.explain)
	if err != nil {
		return r, err
	}
	teller := story.New(f.explain)
	trace, err := simulation.Run(plan, lives, f.start.Time, teller.Watch)
	if err != nil {
		return r, err
	}
	key := &group
	if !selected {
		key = nil
	}
	return played{output.Explain(f.explain, s.Rollout, key, why, teller.Events(), trace.Outcome), trace.Outcome}, nil
}

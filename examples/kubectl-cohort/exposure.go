// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// question is the command line of kubectl cohort exposure.
type question struct {
	flags
	atMost int
	within time.Duration
}

const exposureUsage = `Say how many clusters can get a version that does not work on them, how many are in flight at a time, how long it
takes, and where the strategy protects nothing. With --at-most say how many at a time keep within bounds, whatever the strategy
says of that.

exit status: 3 where no limits keep a rollout within --at-most and --within, else 0, 1 and 2`

// exposureCommand says how far a bad version can get.
func exposureCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	q := &question{flags: *newFlags(hub)}
	cmd := &cobra.Command{
		Use:   "exposure",
		Short: "Say how many clusters can get a version that does not work on them",
		Long:  exposureUsage,
		Example: `  kubectl cohort exposure -f fleet.yaml -f placement.yaml --takes 5m-20m
  kubectl cohort exposure -f fleet.yaml -f placement.yaml --takes 5m-20m --at-most 12 --within 8h`,
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return q.run(cmd) },
	}
	q.declare(cmd.Flags())
	return cmd
}

func (q *question) declare(s *pflag.FlagSet) {
	q.input.declare(s)
	q.whatIf.declare(s)
	q.whatIf.declareStrategy(s)
	commandline.Var(s, &q.format, "output", "o", "`format` of the output: text, json or yaml")
	commandline.Var(s, &q.takes, "takes", "", "`time` that a cluster takes to succeed, or a range such as 5m-20m")
	q.declareValidates(s)
	s.IntVar(&q.atMost, "at-most", 0, "`number` of clusters that may get a version that does not work on them")
	s.DurationVar(&q.within, "within", 0, "`time` that the rollout may take; with --at-most")
	commandline.Var(s, &q.start, "start", "", "`time` at which it begins, in RFC 3339")
	q.extras.declare(s)
}

// run says how far a bad version of each rollout can get.
func (q *question) run(cmd *cobra.Command) error {
	s := cmd.Flags()
	q.pace.note(s)
	q.startGiven = s.Changed("start")
	switch {
	case s.Changed("at-most") && q.atMost < 1:
		return fmt.Errorf("--at-most %d: must be at least 1", q.atMost)
	case s.Changed("within") && (q.atMost == 0 || q.within <= 0):
		return fmt.Errorf("--within %v: must be above 0 and be given with --at-most", q.within)
	}
	q.progress = progressOn(cmd.ErrOrStderr())
	all, err := q.answers(cmd)
	if err != nil {
		return err
	}
	var report written = all
	if len(all) == 1 {
		report = all[0]
	}
	if err := q.format.write(report, cmd.OutOrStdout()); err != nil {
		return err
	}
	for _, one := range all {
		if e, ok := one.(*exposed); ok && e.None != "" {
			return exit(exitBounds)
		}
	}
	return nil
}

// answers has one for each rollout in the files.
func (q *question) answers(cmd *cobra.Command) (all several, err error) {
	scenarios, err := q.scenarios(cmd)
	if err != nil {
		return nil, err
	}
	q.from(scenarios)
	if err := q.check(scenarios); err != nil {
		return nil, err
	}
	for _, s := range scenarios {
		e, err := q.answer(s)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func (q *question) answer(s *scenario.Scenario) (*exposed, error) {
	course, err := s.Exposed()
	if err != nil {
		return nil, err
	}
	answer := &exposed{Rollout: s.Owner, Placement: s.Placements(), Passes: course.Passes}
	defer func() { answer.Notes = append(s.Notes, answer.Notes...) }()
	if course.Groups == nil {
		return answer, nil
	}
	life := q.pace.learned(s).span(s)
	e, err := exposure.Of(course.Strategy, course.Groups, life, q.start.Time, q.options(s, q.start.Time))
	if err != nil {
		return nil, q.fault(err)
	}
	answer.Exposure = &e
	if s.Live {
		now, err := q.here(s, course, e)
		if err != nil {
			return nil, err
		}
		answer.Now = &now
	}
	answer.Notes = append(answer.Notes, withoutEffect(e.Warnings, cmp.Or(course.Strategy.Type, clusterv1alpha1.All))...)
	if q.shuffle.given {
		answer.Notes = append(answer.Notes, "--shuffle: no effect, the numbers are of any order")
	}
	if q.atMost == 0 {
		return answer, nil
	}
	strategy, open := *course.Strategy.DeepCopy(), *q
	if open.perGroup = ""; strategy.Progressive != nil {
		strategy.Progressive.MaxConcurrency = intstr.IntOrString{}
	}
	bounds := exposure.Bounds{Exposed: q.atMost, Finish: q.within}
	if limits, err := exposure.Limit(strategy, course.Groups, life, q.start.Time, bounds, open.options(s, q.start.Time)); err != nil {
		answer.None = q.unbounded(err)
	} else {
		answer.Limits = &limits
	}
	return answer, nil
}

// unbounded says which flag is too narrow.
func (q *question) unbounded(err error) string {
	var fault *field.Error
	switch {
	case errors.As(err, &fault) && fault.Field == "bounds.exposed":
		return fmt.Sprintf("--at-most %d %s", q.atMost, shortened(fault.Detail))
	case errors.As(err, &fault) && fault.Field == "bounds.finish":
		return fmt.Sprintf("--within %s %s", short.Duration(q.within), shortened(strings.NewReplacer("bounds.exposed", "--at-most", "bounds.finish", "--within").Replace(fault.Detail)))
	case errors.As(err, &fault) && fault.Field == "type":
		return "a strategy of type All has none"
	default:
		return err.Error()
	}
}

// shortened is a text without the parts of durations that are 0.
func shortened(text string) string {
	for _, zero := range [][2]string{{`(\d)m0s\b`, "${1}m"}, {`(\d)h0m\b`, "${1}h"}} {
		text = regexp.MustCompile(zero[0]).ReplaceAllString(text, zero[1])
	}
	return text
}

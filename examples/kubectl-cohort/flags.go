// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
)

// flags is the command line.
type flags struct {
	input
	format format
	start  instant

	pace
	fails     timed
	failShare string
	failRate  rate
	never     patterns
	cutOff    patterns // or shares
	lease     time.Duration
	recovers  times
	retry     starts
	attempts  int // in which clusters fail
	seed      uint64

	extras
	exitCode bool

	abortAt        time.Duration
	abortOnBreach  bool
	backByStrategy bool

	failsGiven bool // any flag that says which clusters fail, never answers, or is not found good
	startGiven bool
	leaseGiven bool

	pictures pictures
	rows     rows
	interval time.Duration // of a watch
	width    int           // of the terminal; 0 if there is none
}

func newFlags(hub *genericclioptions.ConfigFlags) *flags {
	return &flags{
		input: input{hub: hub},
		pace:  newPace(),
		retry: starts{such: "2/30m"},
		start: instant{time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
}

// declare declares the flags. The values that they have now are the defaults.
func (f *flags) declare(s *pflag.FlagSet) {
	f.input.declare(s)
	f.whatIf.declare(s)
	f.whatIf.declareStrategy(s)
	commandline.Var(s, &f.format, "output", "o", "`format` of the output: text, json or yaml")
	s.BoolVar(&f.exitCode, "exit-code", f.exitCode, "exit with a status other than 0 unless the outcome is Complete")
	commandline.Var(s, &f.start, "start", "", "`time` of the first wave, in RFC 3339; where the objects say how a rollout stands it is now unless given")

	commandline.Var(s, &f.takes, "takes", "", "`time` that a cluster takes to succeed, or to fail, of which nothing else is said, or a range such as 5m-20m; where clusters are done already it is learned from them unless given")
	f.declareValidates(s)
	commandline.Var(s, &f.fails, "fail", "", "`cluster[=after]` that fails: a name or a pattern like edge-*, and after how long; may be repeated")
	s.StringVar(&f.failShare, "fail-share", f.failShare, "`share` of the other clusters that fails, a count or a percentage such as 5% or 0.3%, drawn at random")
	commandline.Var(s, &f.failRate, "fail-rate", "", "`chance` of each of the other clusters to fail, such as 0.3%; where clusters have settled already it is learned from them unless given")
	commandline.Var(s, &f.never, "never", "", "`cluster` that never answers, a name or a pattern; may be repeated")
	commandline.Var(s, &f.cutOff, "cut-off", "", "`clusters` that the version cuts off from the hub, so that the scheduler drops them: a name, a pattern, or a share such as 3 or 5%; may be repeated")
	s.DurationVar(&f.lease, "lease", f.lease, "`time` without a sign of the agent after which the hub taints a cluster as unreachable and the scheduler drops it; that of the Behavior or 5m unless given")
	f.declareJudged(s)
	commandline.Var(s, &f.recovers, "recover", "", "`time` after its failure at which a cluster of --fail and --fail-share succeeds, after its start one of --never, after the no one of --not-good, and after its success one of --never-validated; 0 is never")
	commandline.Var(s, &f.retry, "retry", "", "`number/time`: how often to retry clusters that failed or timed out, and how long after a stop, or else after the end, as in 2/30m")
	s.IntVar(&f.attempts, "fail-attempts", f.attempts, "`number` of attempts in which a cluster of --fail, --fail-share, --fail-rate, --never and of the flags of validation does so; from the next on it succeeds; 0 is all")
	s.Uint64Var(&f.seed, "seed", f.seed, "seed of all that is drawn at random; 0 is that of the Behavior document")

	f.extras.declare(s)
	s.DurationVar(&f.abortAt, "abort-at", f.abortAt, "`time` after the start at which the rollout is aborted: each cluster that has the version rolls back to the previous one")
	s.BoolVar(&f.abortOnBreach, "abort-on-breach", f.abortOnBreach, "abort the rollout, and roll back, as soon as more than maxFailures clusters failed")
	s.BoolVar(&f.backByStrategy, "back-by-strategy", f.backByStrategy, "roll back within the limits of the strategy and in the reverse order, with --abort-at or --abort-on-breach; without it all roll back at once")
}

// complete checks what can be checked without the objects.
func (f *flags) complete(s *pflag.FlagSet) error {
	f.pace.note(s)
	f.startGiven, f.leaseGiven = s.Changed("start"), s.Changed("lease")
	f.failsGiven = slices.ContainsFunc([]string{"fail", "fail-share", "fail-rate", "never", "cut-off", "not-good", "not-good-rate", "never-validated"}, s.Changed)
	if err := f.pictures.check(f.format); err != nil {
		return err
	}
	if err := f.contradiction(); err != nil {
		return err
	}
	rules := f.rules()
	mend := slices.ContainsFunc(rules, func(r flagRule) bool { return r.Outcome != behavior.CutOff })
	if f.recovers.Most != 0 && !mend {
		return errors.New("--recover: no cluster to recover: must be given with --fail, --fail-share, --fail-rate, --never, --not-good, --not-good-rate or --never-validated")
	}
	if f.attempts != 0 && (f.retry.n == 0 || !mend) {
		return fmt.Errorf("--fail-attempts %d: must be given with --retry, and with --fail, --fail-share, --fail-rate, --never, --not-good, --not-good-rate or --never-validated", f.attempts)
	}
	if f.abortAt < 0 {
		return fmt.Errorf("--abort-at %v: must be above 0", f.abortAt)
	}
	if f.backByStrategy && f.abortAt == 0 && !f.abortOnBreach {
		return errors.New("--back-by-strategy: must be given with --abort-at or --abort-on-breach")
	}
	if f.attempts < 0 {
		return fmt.Errorf("--fail-attempts %d: must not be negative", f.attempts)
	}
	var errs []error
	fault := func(name string, all field.ErrorList) {
		for _, err := range all {
			errs = append(errs, fmt.Errorf("%s: %s", name, err.Detail))
		}
	}
	fault("--takes "+f.takes.String(), behavior.ValidateTime(nil, &f.takes.Range))
	fault("--validates "+f.validates.String(), behavior.ValidateTime(nil, &f.validates.Range))
	if f.leaseGiven {
		fault(fmt.Sprintf("--lease %v", f.lease), behavior.Spec{Lease: &metav1.Duration{Duration: f.lease}}.Validate(nil))
	}
	fault("--recover "+f.recovers.String(), behavior.ValidateTime(nil, &f.recovers.Range))
	for _, rule := range rules {
		rule.Rule.RecoversAfter = nil // as --recover says
		fault(rule.flag, rule.Validate(nil))
	}
	return errors.Join(errs...)
}

// contradiction finds a cluster, or a pattern, of which two flags say different things.
func (f *flags) contradiction() error {
	said := make(map[string]string)
	say := func(flag, name string) error {
		if other, found := said[name]; found && other != flag {
			return fmt.Errorf("%s %s: must not be given with %s %s, which says something else of the same clusters", flag, name, other, name)
		}
		said[name] = flag
		return nil
	}
	var errs []error
	for _, fails := range f.fails {
		errs = append(errs, say("--fail", fails.name))
	}
	for _, flag := range []struct {
		name     string
		clusters patterns
	}{{"--never", f.never}, {"--cut-off", f.cutOff}, {"--not-good", f.notGood}, {"--never-validated", f.neverValidated}} {
		for _, name := range flag.clusters {
			errs = append(errs, say(flag.name, name))
		}
	}
	return errors.Join(errs...)
}

// flagRule is a rule of behavior and the flag that asks for it, as it was given.
type flagRule struct {
	behavior.Rule
	flag string
}

// rules are the behavior that the flags ask for.
func (f *flags) rules() (rules []flagRule) {
	var recovers *chance.Range
	if f.recovers.Most != 0 {
		recovers = &f.recovers.Range
	}
	for _, fails := range f.fails {
		rules = append(rules, flagRule{behavior.Rule{Names: []string{fails.name}, Outcome: behavior.Fails, After: fails.after, RecoversAfter: recovers}, "--fail " + fails.name})
	}
	for _, name := range f.never {
		rules = append(rules, flagRule{behavior.Rule{Names: []string{name}, Outcome: behavior.NeverAnswers, RecoversAfter: recovers}, "--never " + name})
	}
	for _, rule := range slices.Concat(f.notGood.rules("--not-good", behavior.NotGood), f.neverValidated.rules("--never-validated", behavior.NeverValidated)) {
		rule.RecoversAfter = recovers
		rules = append(rules, rule)
	}
	if f.failShare != "" {
		share := intstr.Parse(f.failShare)
		rules = append(rules, flagRule{behavior.Rule{Share: &share, Outcome: behavior.Fails, RecoversAfter: recovers}, "--fail-share " + f.failShare})
	}
	if f.failRate.Rate > 0 {
		rules = append(rules, flagRule{behavior.Rule{Rate: &f.failRate.Rate, Outcome: behavior.Fails, RecoversAfter: recovers}, "--fail-rate " + f.failRate.String()})
	}
	if f.notGoodRate.Rate > 0 { // of those that succeed
		rules = append(rules, flagRule{behavior.Rule{Rate: &f.notGoodRate.Rate, Outcome: behavior.NotGood, RecoversAfter: recovers}, "--not-good-rate " + f.notGoodRate.String()})
	}
	for i := range rules {
		rules[i].Attempts = f.attempts
	}
	return append(f.cutOff.rules("--cut-off", behavior.CutOff), rules...) // a cluster without an agent does nothing else
}

// rules are those for clusters of a flag: some by a name or a pattern, some by a share.
func (globs patterns) rules(flag string, outcome behavior.Outcome) (rules []flagRule) {
	for _, text := range globs {
		rule := behavior.Rule{Outcome: outcome}
		if share := intstr.Parse(text); share.Type == intstr.Int || strings.HasSuffix(text, "%") {
			rule.Share = &share
		} else {
			rule.Names = []string{text}
		}
		rules = append(rules, flagRule{rule, flag + " " + text})
	}
	return rules
}

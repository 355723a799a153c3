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
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/examples/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/chance"
)

// flags is the command line.
type flags struct {
	files     manifest.Files
	format    format
	placement placement
	rollout   string
	start     instant

	takes     times
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

	takesGiven bool
	failsGiven bool // any flag that says who fails, or never answers
	startGiven bool
	leaseGiven bool
	explain    string // the cluster to explain

	pictures pictures
	rows     rows
	width    int // of the terminal; 0 if there is none
	progress progress
}

// help stands before the flags. Its exit statuses are the same as in exitCode.
const help = `simulate shows what a rollout strategy will do to a fleet, and why a cluster waits.

usage: simulate -f FILE [-f FILE…] [flags] [explain CLUSTER]

examples:
  simulate -f fleet.yaml -f placement.yaml               play the rollout through
  simulate -f fleet.yaml -f placement.yaml -fail edge-7  what if this cluster fails?
  simulate -f all.yaml explain edge-8                    why does this cluster wait, and for whom?
  simulate -f all.yaml -fail-share 3 -abort-on-breach    and if it is taken back where it stops?
  simulate compare -f all.yaml -strategy others.yaml     which strategy is gentler, and which one is faster?
  simulate exposure -f fleet.yaml -f placement.yaml      how many clusters can get a version that fails, before it begins?
  kubectl get placements,placementdecisions,manifestworkreplicasets,manifestworks -A -o yaml | simulate -f -
                                                         what will happen next, and why does nothing move?

kinds that roll out, all that the files hold or the one of -rollout:
  ManifestWorkReplicaSet, ClusterManagementAddOn, Policy, and RolloutStrategy by itself
kinds that say where to:
  Placement, PlacementDecision, ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding;
  for a Policy also PlacementBinding, PolicySet, PlacementRule
kinds that say where it stands, from where it goes on:
  ManifestWork, ManagedClusterAddOn, replicated Policy
and Behavior (examples.cohort-ocm.io/v1), which says how clusters behave

exit status:
  0  the rollout was played through, whatever became of it
  1  the output could not be written
  2  flags or files are wrong: one line says which and where
  and with -exit-code the outcome: 0 Complete, 3 CompleteWithFailures, 4 AtGate, 5 Stuck, 6 Breached,
  7 NothingSelected, 8 TakenBack; of several rollouts the greatest
  go run turns every status but 0 into 1: build the program to use them.

Paths are those from the current directory, which go run -C changes.
`

// usage is the help text.
func usage(w io.Writer) {
	fmt.Fprint(w, help)
	printSections(w, newFlags().set(), []section{
		{"what rolls out", []string{"f", "rollout", "placement", "start"}},
		{"how clusters behave, before what a Behavior says", []string{"takes", "fail", "fail-share", "fail-rate", "never", "cut-off", "lease", "recover", "retry", "fail-attempts", "seed"}},
		{"beyond the strategy", extraNames()},
		{"the way back", []string{"abort-at", "abort-on-breach", "back-by-strategy"}},
		{"output", []string{"o", "rows", "chart", "svg", "png", "exit-code"}},
	})
}

// newFlags has the defaults.
func newFlags() *flags {
	return &flags{
		takes: times{chance.Exactly(10 * time.Minute)},
		retry: starts{such: "2/30m"},
		start: instant{time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
}

// set declares the flags. The values that they have now are the defaults.
func (f *flags) set() *flag.FlagSet {
	s := flag.NewFlagSet("simulate", flag.ContinueOnError)
	s.SetOutput(io.Discard)
	s.Var(&f.files, "f", "`file` of objects in YAML or JSON, - for standard input; may be repeated")
	s.Var(&f.format, "o", "`format` of the output, text or json")
	s.BoolVar(&f.exitCode, "exit-code", f.exitCode, "exit with a status other than 0 unless the outcome is Complete")
	s.Var(&f.placement, "placement", "`[namespace/]name` of the placement, where the rollout or the files have several; not for a Policy")
	s.StringVar(&f.rollout, "rollout", f.rollout, "`name` of the one object to roll out, where the files hold several: name, namespace/name or kind/name")
	s.Var(&f.start, "start", "`time` of the first wave, in RFC 3339; where the files say how a rollout stands it is now unless given")

	s.Var(&f.takes, "takes", "`time` that a cluster takes to succeed, or to fail, of which nothing else is said, or a range such as 5m-20m; where clusters are done already it is learned from them unless given")
	s.Var(&f.fails, "fail", "`cluster[=after]` that fails: a name or a pattern like edge-*, and after how long; may be repeated")
	s.StringVar(&f.failShare, "fail-share", f.failShare, "`share` of the other clusters that fails, a count or a percentage such as 5% or 0.3%, drawn at random")
	s.Var(&f.failRate, "fail-rate", "`chance` of each of the other clusters to fail, such as 0.3%; where clusters have settled already it is learned from them unless given")
	s.Var(&f.never, "never", "`cluster` that never answers, a name or a pattern; may be repeated")
	s.Var(&f.cutOff, "cut-off", "`clusters` that the version cuts off from the hub, so that the scheduler drops them: a name, a pattern, or a share such as 3 or 5%; may be repeated")
	s.DurationVar(&f.lease, "lease", f.lease, "`time` without a sign of the agent after which the hub taints a cluster as unreachable and the scheduler drops it; that of the Behavior or 5m unless given")
	s.Var(&f.recovers, "recover", "`time` after its failure at which a cluster of -fail and -fail-share succeeds, and after its start one of -never; 0 is never")
	s.Var(&f.retry, "retry", "`number/time`: try again what failed or timed out, so many times, each so long after a breach or else after the end, as in 2/30m")
	s.IntVar(&f.attempts, "fail-attempts", f.attempts, "`number` of attempts in which a cluster of -fail, -fail-share, -fail-rate and -never does so; from the next on it succeeds; 0 is all")
	s.Uint64Var(&f.seed, "seed", f.seed, "seed of all that is drawn at random; 0 is that of the Behavior document")

	f.extras.declare(s)
	s.DurationVar(&f.abortAt, "abort-at", f.abortAt, "`time` after the start at which the rollout is taken back: whoever has the version gets the one before again")
	s.BoolVar(&f.abortOnBreach, "abort-on-breach", f.abortOnBreach, "take the rollout back as soon as more clusters failed than the strategy tolerates")
	s.BoolVar(&f.backByStrategy, "back-by-strategy", f.backByStrategy, "go back within the limits of the strategy and in the reverse order, with -abort-at or -abort-on-breach; without it all go back at once")
	f.pictures.declare(s)
	s.Var(&f.rows, "rows", "`number` of rows that a table has at most, and of waves in JSON that say why the rest waits; or all")
	return s
}

// parse reads the command line and checks what can be checked without the files.
func parse(args []string) (*flags, error) {
	f := newFlags()
	set := f.set()
	if err := commandline.Parse(set, args); err != nil {
		return nil, err
	}
	if rest := set.Args(); len(rest) > 0 && rest[0] == "explain" {
		if len(rest) < 2 || strings.HasPrefix(rest[1], "-") {
			return nil, errors.New("explain: must be followed by the name of a cluster")
		}
		f.explain = rest[1]
		if err := commandline.Parse(set, rest[2:]); err != nil {
			return nil, err
		}
	}
	set.Visit(func(given *flag.Flag) {
		f.takesGiven = f.takesGiven || given.Name == "takes"
		f.failsGiven = f.failsGiven || slices.Contains([]string{"fail", "fail-share", "fail-rate", "never", "cut-off"}, given.Name)
		f.startGiven = f.startGiven || given.Name == "start"
		f.leaseGiven = f.leaseGiven || given.Name == "lease"
	})
	if set.NArg() > 0 {
		return nil, unexpected(set.Arg(0))
	}
	if err := f.pictures.check(f.explain != "", f.format); err != nil {
		return nil, err
	}
	if err := f.contradiction(); err != nil {
		return nil, err
	}
	rules := f.rules()
	mend := slices.ContainsFunc(rules, func(r flagRule) bool { return r.Outcome != behavior.CutOff })
	if f.recovers.Most != 0 && !mend {
		return nil, errors.New("-recover: no cluster to recover: must be given with -fail, -fail-share, -fail-rate or -never")
	}
	if f.attempts != 0 && (f.retry.n == 0 || !mend) {
		return nil, fmt.Errorf("-fail-attempts %d: must be given with -retry, and with -fail, -fail-share, -fail-rate or -never", f.attempts)
	}
	if f.abortAt < 0 {
		return nil, fmt.Errorf("-abort-at %v: must be above 0", f.abortAt)
	}
	if f.backByStrategy && f.abortAt == 0 && !f.abortOnBreach {
		return nil, errors.New("-back-by-strategy: must be given with -abort-at or -abort-on-breach")
	}
	if f.attempts < 0 {
		return nil, fmt.Errorf("-fail-attempts %d: must not be negative", f.attempts)
	}
	var errs []error
	fault := func(name string, all field.ErrorList) {
		for _, err := range all {
			errs = append(errs, fmt.Errorf("%s: %s", name, err.Detail))
		}
	}
	fault("-takes "+f.takes.String(), behavior.ValidateTime(nil, &f.takes.Range))
	if f.leaseGiven {
		fault(fmt.Sprintf("-lease %v", f.lease), behavior.Spec{Lease: &metav1.Duration{Duration: f.lease}}.Validate(nil))
	}
	fault("-recover "+f.recovers.String(), behavior.ValidateTime(nil, &f.recovers.Range))
	for _, rule := range rules {
		rule.Rule.RecoversAfter = nil // as -recover says
		fault(rule.flag, rule.Validate(nil))
	}
	return f, errors.Join(errs...)
}

// contradiction finds a cluster, or a pattern, of which two flags say different things.
func (f *flags) contradiction() error {
	said := make(map[string]string)
	say := func(flag, name string) error {
		if other, found := said[name]; found && other != flag {
			return fmt.Errorf("%s %s: must not be given beside %s %s, which says something else of the same clusters", flag, name, other, name)
		}
		said[name] = flag
		return nil
	}
	var errs []error
	for _, fails := range f.fails {
		errs = append(errs, say("-fail", fails.name))
	}
	for _, name := range f.never {
		errs = append(errs, say("-never", name))
	}
	for _, name := range f.cutOff {
		errs = append(errs, say("-cut-off", name))
	}
	return errors.Join(errs...)
}

// unexpected refuses a word that is no flag.
func unexpected(word string) error {
	switch word {
	case "help":
		return errors.New("help: is shown by -h, and that of compare by compare -h")
	case "compare", "exposure":
		return errors.New(word + ": must be the first word")
	case "explain":
		return errors.New("explain: must be given once, and without compare and exposure")
	}
	return fmt.Errorf("unexpected argument %q: files must be given as -f FILE%s", word, spelling.Hint(word, []string{"explain", "compare", "exposure"}))
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
		rules = append(rules, flagRule{behavior.Rule{Names: []string{fails.name}, Outcome: behavior.Fails, After: fails.after, RecoversAfter: recovers}, "-fail " + fails.name})
	}
	for _, name := range f.never {
		rules = append(rules, flagRule{behavior.Rule{Names: []string{name}, Outcome: behavior.NeverAnswers, RecoversAfter: recovers}, "-never " + name})
	}
	if f.failShare != "" {
		share := intstr.Parse(f.failShare)
		rules = append(rules, flagRule{behavior.Rule{Share: &share, Outcome: behavior.Fails, RecoversAfter: recovers}, "-fail-share " + f.failShare})
	}
	if f.failRate.Rate > 0 {
		rules = append(rules, flagRule{behavior.Rule{Rate: &f.failRate.Rate, Outcome: behavior.Fails, RecoversAfter: recovers}, "-fail-rate " + f.failRate.String()})
	}
	for i := range rules {
		rules[i].Attempts = f.attempts
	}
	return append(f.cutOffRules(), rules...)
}

// cutOffRules are those of -cut-off. They come first: a cluster without an agent does nothing else.
func (f *flags) cutOffRules() (rules []flagRule) {
	for _, text := range f.cutOff {
		rule := behavior.Rule{Outcome: behavior.CutOff}
		if share := intstr.Parse(text); share.Type == intstr.Int || strings.HasSuffix(text, "%") {
			rule.Share = &share
		} else {
			rule.Names = []string{text}
		}
		rules = append(rules, flagRule{rule, "-cut-off " + text})
	}
	return rules
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// extras are the flags for the options of package rollout that the API's strategy lacks. Every command has them.
type extras struct {
	order     order
	shuffle   shuffle
	perGroup  string
	freesSlot bool
	ramp      int
	maxStarts starts
	between   time.Duration // the groups
	gates     gates
	ignored   some
	baseline  some
}

func (e *extras) declare(s *pflag.FlagSet) {
	e.declareGroupOrder(s)
	commandline.Var(s, &e.shuffle, "shuffle", "", "within a group clusters get their turn in an order from a `seed`, and not in that of their names: --shuffle=v2, or --shuffle for the version that is wanted as the seed; not in a rollback")
	s.Lookup("shuffle").NoOptDefVal = byVersion
	s.StringVar(&e.perGroup, "max-concurrency-per-group", e.perGroup, "`count or percentage` of a group's clusters in flight at a time, under ProgressivePerGroup")
	s.BoolVar(&e.freesSlot, "failed-frees-slot", e.freesSlot, "a tolerated failed cluster makes room for the next at once")
	s.IntVar(&e.ramp, "ramp", e.ramp, "`number` to start gently with: no more clusters in flight at a time than this, or than are done; 0 is no such limit")
	s.DurationVar(&e.between, "wait-between-groups", e.between, "`time` to wait after the last success of a group before the next one starts")
	commandline.Var(s, &e.maxStarts, "max-starts", "", "`number/time`: start at most that number within any such time, as in 10/1h")
	commandline.Var(s, &e.gates, "gate", "", "`group[=after]`: a gate before the group with this index or name, closed for ever or until some time after the start; may be repeated")
	e.declareIgnored(s)
	commandline.Var(s, &e.baseline, "failed-before", "", "`clusters` that failed before the rollout, so that their failure is in no budget: as --ignore; may be repeated")
}

func (e *extras) declareGroupOrder(s *pflag.FlagSet) {
	commandline.Var(s, &e.order, "group-order", "", "which `groups` come after which, by name, under ProgressivePerGroup: as in 'prod after staging,canary', or any for no order; may be repeated")
}

func (e *extras) declareIgnored(s *pflag.FlagSet) {
	commandline.Var(s, &e.ignored, "ignore", "", "`clusters` that no cluster waits for, and that stop nothing when they fail: a name, a pattern like edge-*, or labels like power=off; may be repeated")
}

// extraNames are the flags that declare declares.
func extraNames() (names []string) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	new(extras).declare(set)
	set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// options are those that the flags ask for, in a rollout that begins at a time.
func (e *extras) options(s *scenario.Scenario, start time.Time) (options rollout.Options) {
	options.FailedFreesSlot, options.WaitBetweenGroups.Duration = e.freesSlot, e.between
	if e.order.given {
		options.GroupOrder = rollout.GroupOrder{}
		maps.Copy(options.GroupOrder, e.order.after)
	}
	if e.shuffle.given {
		options.Order = rollout.Shuffled(e.shuffle.of(s))
	}
	if e.perGroup != "" {
		options.MaxConcurrencyPerGroup = intstr.Parse(e.perGroup)
	}
	if e.ramp != 0 {
		options.Ramp = &e.ramp
	}
	if e.maxStarts.n > 0 {
		options.MaxStarts = &rollout.StartLimit{Count: e.maxStarts.n, Per: metav1.Duration{Duration: e.maxStarts.per}}
	}
	for _, gate := range e.gates {
		options.Gates = append(options.Gates, gate.close(s.Groups, start)...)
	}
	options.Ignored, options.FailedBefore = append(e.ignored.names(s), s.Asked.Ignored...), e.baseline.names(s)
	return options
}

// standing are the options of a rollout under way: those that the flags ask for, and those that people asked for in annotations.
func (e *extras) standing(s *scenario.Scenario, now time.Time) rollout.Options {
	options, asked := e.options(s, now), s.Options()
	options.Paused, options.Attempt, options.Gates = asked.Paused, asked.Attempt, append(asked.Gates, options.Gates...)
	options.Freezes, options.Allowlist = asked.Freezes, asked.Allowlist
	return options
}

// backOptions are those of a rollback, all at once or within the limits of the strategy. Those that slow a
// rollout down are left out, and so are gates: a user that rolls a rollout back is in a hurry.
func (e *extras) backOptions(s *scenario.Scenario, limited bool) rollout.Options {
	back := extras{ignored: e.ignored, baseline: e.baseline}
	if limited {
		back.order, back.perGroup, back.freesSlot = e.order, e.perGroup, e.freesSlot
	}
	return back.options(s, time.Time{})
}

// fault names the flag for the option that package rollout refuses.
func (e *extras) fault(err error) error {
	wrong := (*field.Error)(nil)
	if !errors.As(err, &wrong) {
		return err
	}
	option, _, _ := strings.Cut(wrong.Field, "[")
	switch option {
	case "maxConcurrencyPerGroup":
		return fmt.Errorf("--max-concurrency-per-group %s: %s", e.perGroup, wrong.Detail)
	case "waitBetweenGroups":
		return fmt.Errorf("--wait-between-groups %v: %s", e.between, wrong.Detail)
	case "ramp":
		return fmt.Errorf("--ramp %d: %s", e.ramp, wrong.Detail)
	case "groupOrder":
		return fmt.Errorf("--group-order: %s", wrong.Detail)
	}
	return err
}

// check refuses flags that name no cluster or no group of the rollouts. Where nothing is selected, that is what there is
// to say.
func (e *extras) check(scenarios []*scenario.Scenario) error {
	keys, names := keysOf(scenarios)
	if len(keys) == 0 {
		return nil
	}
	for _, gate := range e.gates {
		if err := checkGroup("--gate", gate, scenarios); err != nil {
			return err
		}
	}
	if err := e.shuffle.check(scenarios); err != nil {
		return err
	}
	if err := e.order.check(names); err != nil {
		return err
	}
	return errors.Join(e.ignored.check("--ignore", scenarios), e.baseline.check("--failed-before", scenarios))
}

// keysOf are the groups of the rollouts, and their names in order; none where nothing is selected.
func keysOf(scenarios []*scenario.Scenario) (keys []grouping.Key, names []string) {
	clusters := 0
	for _, s := range scenarios {
		clusters += s.Groups.NumClusters()
		for i := range s.Groups.Len() {
			keys, names = append(keys, s.Groups.Key(i)), append(names, s.Groups.Key(i).Name)
		}
	}
	if clusters == 0 {
		return nil, nil
	}
	slices.Sort(names)
	return keys, slices.Compact(names)
}

// checkGroup refuses a word of a flag that is no group of the rollouts.
func checkGroup(flag string, group gate, scenarios []*scenario.Scenario) error {
	keys, names := keysOf(scenarios)
	if slices.ContainsFunc(keys, group.before) {
		return nil
	}
	return fmt.Errorf("%s %s: must be the index or the name of a group: %s%s", flag, group.group, inWords(keys), spelling.Hint(group.group, names))
}

// inWords is like `group 0 "canary", group 1`, the first ten of many.
func inWords(keys []grouping.Key) string {
	const most = 10
	var all []string
	for i, key := range keys {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(all, ", "), len(keys)-most)
		}
		all = append(all, key.String())
	}
	return strings.Join(all, ", ")
}

// flagOf is the flag of each option, by the name that package rollout has for it.
func flagOf(option string) string {
	return map[string]string{"groupOrder": "--group-order", "maxConcurrencyPerGroup": "--max-concurrency-per-group", "waitBetweenGroups": "--wait-between-groups"}[option]
}

// withoutEffect says which flags have no effect under a strategy of this type; a plan warns of them.
func withoutEffect(warnings []rollout.Warning, strategy clusterv1alpha1.RolloutType) (notes []string) {
	for _, w := range warnings {
		if flag := flagOf(w.Field); flag != "" && w.Type == rollout.WarningFieldIgnored {
			notes = append(notes, fmt.Sprintf("%s: no effect, %s", flag, whyIgnored(flag, strategy)))
		}
	}
	return notes
}

func whyIgnored(flag string, strategy clusterv1alpha1.RolloutType) string {
	if flag == "--wait-between-groups" {
		return "no group comes after another"
	}
	return fmt.Sprintf("the strategy's type is %s and not ProgressivePerGroup", strategy)
}

// given names the flags that the user gave.
func (e *extras) given() (names []string) {
	for _, flag := range []struct {
		name  string
		given bool
	}{{"group-order", e.order.given}, {"shuffle", e.shuffle.given}, {"max-concurrency-per-group", e.perGroup != ""}, {"failed-frees-slot", e.freesSlot}, {"ramp", e.ramp != 0},
		{"wait-between-groups", e.between != 0}, {"max-starts", e.maxStarts.n > 0}, {"gate", len(e.gates) > 0},
		{"ignore", len(e.ignored) > 0}, {"failed-before", len(e.baseline) > 0}} {
		if flag.given {
			names = append(names, flag.name)
		}
	}
	return names
}

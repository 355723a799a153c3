// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
)

// statusCommand says how rollouts stand now.
func statusCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	f := newFlags(hub)
	var form statusFormat
	var watch bool
	cmd := &cobra.Command{
		Use:   "status [ROLLOUT]",
		Short: "Say how rollouts stand, what blocks everything and until when, what to do, and when they end",
		Example: `  kubectl cohort status                       all rollouts of the hub, a line each
  kubectl cohort status web                   one rollout, with its groups and what blocks it
  kubectl cohort status -n shops -o wide      those of a namespace, with what blocks them
  kubectl cohort status web --max-concurrency 20   when would it end if more went at a time?`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) > 0 {
				f.rollout = names[0]
			}
			switch {
			case !watch:
				return f.status(cmd, form)
			case len(f.files) > 0 || f.past.file != "" || cmd.Flags().Changed("start"):
				return errors.New("--watch: must be given without -f and --start, --recording and --at, as it watches a hub")
			case form != "" && form != "text" && form != "wide":
				return fmt.Errorf("--watch: must be given without -o %s", form)
			case f.interval < time.Second:
				return fmt.Errorf("--interval %v: must be at least 1s", f.interval)
			}
			if err := f.complete(cmd.Flags()); err != nil {
				return err
			}
			return f.watch(cmd, form)
		},
	}
	cmd.ValidArgsFunction = f.offer(f.rolloutNames)
	f.input.declare(cmd.Flags())
	f.whatIf.declare(cmd.Flags())
	f.whatIf.declareStrategy(cmd.Flags())
	f.extras.declare(cmd.Flags())
	commandline.Var(cmd.Flags(), &f.start, "start", "", "`time` that counts as now, in RFC 3339")
	commandline.Var(cmd.Flags(), &f.takes, "takes", "", "`time` that a cluster takes, or a range such as 5m-20m; it is learned from the clusters that are done unless given")
	f.declareValidates(cmd.Flags())
	commandline.Var(cmd.Flags(), &f.failRate, "fail-rate", "", "`chance` of a cluster to fail, such as 0.3%; it is learned from the clusters that have settled unless given")
	f.declareNotGoodRate(cmd.Flags())
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "`seed` of the luck in the forecast")
	commandline.Var(cmd.Flags(), &form, "output", "o", "`format` of the output: wide, json, yaml or name; text unless given, a line for each of several rollouts")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it anew until interrupted: in a terminal in place, elsewhere a line for what changed")
	cmd.Flags().DurationVar(&f.interval, "interval", 5*time.Second, "`time` between two readings of the hub, with --watch")
	return cmd
}

// statusFormat is a format, or wide or name.
type statusFormat string

func (show *statusFormat) String() string { return string(*show) }

func (show *statusFormat) Set(s string) error {
	if !slices.Contains([]string{"text", "wide", "json", "yaml", "name"}, s) {
		return errors.New("must be text, wide, json, yaml or name")
	}
	*show = statusFormat(s)
	return nil
}

// replace has a flag take this form.
func (show *statusFormat) replace(flag *pflag.Flag, usage string) {
	var set pflag.FlagSet
	commandline.Var(&set, show, flag.Name, flag.Shorthand, usage)
	flag.Value, flag.Usage = set.Lookup(flag.Name).Value, usage
}

// status writes how the rollouts stand.
func (f *flags) status(cmd *cobra.Command, form statusFormat) error {
	if err := f.complete(cmd.Flags()); err != nil {
		return err
	}
	f.progress = progressOn(cmd.ErrOrStderr())
	all, err := f.standings(cmd, form != "name")
	if err != nil {
		return err
	}
	return write(cmd.OutOrStdout(), all, form)
}

// write writes them in a form.
func write(w io.Writer, all []output.Standing, form statusFormat) error {
	switch {
	case form == "name":
		return print(w, names(all))
	case form == "wide" || (form == "" || form == "text") && len(all) > 1:
		return printBy(w, output.Standings{All: all, Wide: form == "wide"}.Text)
	case len(all) == 1:
		return format(form).write(all[0], w)
	}
	var list several
	for _, one := range all {
		list = append(list, one)
	}
	return format(form).write(list, w)
}

// printBy writes what a function does.
func printBy(w io.Writer, text func(io.Writer) error) error {
	if err := text(w); err != nil {
		return unwritten{err}
	}
	return nil
}

// standings says of each rollout how it stands now and, if that is wanted, how it goes on.
func (f *flags) standings(cmd *cobra.Command, forecast bool) (all []output.Standing, err error) {
	scenarios, err := f.read(cmd)
	if err != nil {
		return nil, err
	}
	for _, s := range scenarios {
		how, err := f.course(s)
		if err != nil {
			return nil, err
		}
		plan, err := s.Now(how.Options, f.start.Time)
		if err != nil {
			return nil, err
		}
		one := output.NewStanding(s, plan, f.clock(s))
		if forecast {
			if one.Forecast, err = f.forecast(s, how); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}

const (
	// mostPlays is how often a forecast plays a rollout, and mostPlayed how many clusters in all.
	mostPlays  = 20
	mostPlayed = 20_000
)

// forecast plays the rollout with other luck each time.
func (f *flags) forecast(s *scenario.Scenario, how scenario.Play) (*output.Forecast, error) {
	plays := max(1, min(mostPlays, mostPlayed/max(1, s.Groups.NumClusters())))
	var played atomic.Int64
	defer f.progress.beginShare("playing the rollout through", func() float64 { return float64(played.Load()) / float64(plays) })()
	ends := make(map[simulation.Outcome][]time.Time)
	for i := range plays {
		played.Store(int64(i))
		if i > 0 {
			how.Lives = how.Luck(f.seed + uint64(i))
		}
		trace, _, err := s.Play(how)
		if err != nil {
			return nil, err
		}
		ends[trace.Outcome] = append(ends[trace.Outcome], how.Start.Add(trace.Waves[trace.Stopped].After))
	}
	return output.NewForecast(ends, how.Guessed), nil
}

// groupsOf are the API groups of what rolls out, by kind.
var groupsOf = map[string]string{
	"ManifestWorkReplicaSet": "work.open-cluster-management.io", "ClusterManagementAddOn": "addon.open-cluster-management.io", "Policy": "policy.open-cluster-management.io",
	"RolloutStrategy": "cluster.open-cluster-management.io",
}

// names are those of the objects that roll out, once each, as kubectl -o name has them.
func names(all []output.Standing) string {
	var b strings.Builder
	last := ""
	for _, one := range all {
		object, _, _ := strings.Cut(one.Rollout, " to placement ")
		kind, name, _ := strings.Cut(object, " ")
		if name = name[strings.Index(name, "/")+1:]; object != last {
			fmt.Fprintf(&b, "%s.%s/%s\n", strings.ToLower(kind), groupsOf[kind], name)
		}
		last = object
	}
	return b.String()
}

// waiting are rollouts with those that wait.
type waiting []output.Standing

// Text has each rollout after the other.
func (all waiting) Text(w io.Writer) error {
	for i, one := range all {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := one.Waits(w); err != nil {
			return err
		}
	}
	return nil
}

// names are those of the clusters that wait, once each, as kubectl -o name has them.
func (all waiting) names() string {
	var names []string
	for _, one := range all {
		for _, reason := range one.Waiting {
			names = append(names, reason.Clusters...)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range slices.Compact(names) {
		fmt.Fprintf(&b, "managedcluster.cluster.open-cluster-management.io/%s\n", name)
	}
	return b.String()
}

// Value is a list of all of them.
func (all waiting) Value() (any, error) { return map[string]waiting{"rollouts": all}, nil }

// explainAll says which clusters wait, by reason.
func (f *flags) explainAll(cmd *cobra.Command, form statusFormat) error {
	if err := f.complete(cmd.Flags()); err != nil {
		return err
	}
	f.progress = progressOn(cmd.ErrOrStderr())
	all, err := f.standings(cmd, false)
	if err != nil {
		return err
	}
	switch form {
	case "name":
		return print(cmd.OutOrStdout(), waiting(all).names())
	case "wide":
		for i := range all {
			all[i].Wide = true
		}
		form = ""
	}
	return format(form).write(waiting(all), cmd.OutOrStdout())
}

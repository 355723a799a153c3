// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/page"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/timeline"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// reportCommand writes a page of HTML.
func reportCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	f := newFlags(hub)
	cmd := &cobra.Command{
		Use:   "report FILE",
		Short: "Write how rollouts stand, went and will go as one HTML page that needs nothing else",
		Long: `Write how rollouts stand, went and will go as one HTML page: a picture with times of the day, and why each group waits.

The page needs no network and no other file. FILE may be - for standard output.`,
		Example: `  kubectl cohort report web.html --rollout web
  kubectl cohort report then.html --recording monday.rec --at 10:15`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, files []string) error { return f.report(cmd, files[0]) },
	}
	f.declareForecast(cmd.Flags())
	return cmd
}

// declareForecast declares what a look at the present takes, with a forecast.
func (f *flags) declareForecast(s *pflag.FlagSet) {
	f.input.declare(s)
	f.whatIf.declare(s)
	f.whatIf.declareStrategy(s)
	f.extras.declare(s)
	commandline.Var(s, &f.start, "start", "", "`time` that counts as now, in RFC 3339")
	commandline.Var(s, &f.takes, "takes", "", "`time` that a cluster takes, or a range such as 5m-20m; it is learned from the clusters that are done unless given")
	f.declareValidates(s)
	commandline.Var(s, &f.failRate, "fail-rate", "", "`chance` of a cluster to fail, such as 0.3%; it is learned from the clusters that have settled unless given")
	f.declareNotGoodRate(s)
	s.Uint64Var(&f.seed, "seed", 0, "`seed` of the luck in the forecast")
}

// report writes the page.
func (f *flags) report(cmd *cobra.Command, file string) error {
	if err := f.complete(cmd.Flags()); err != nil {
		return err
	}
	f.progress = progressOn(cmd.ErrOrStderr())
	all, err := f.views(cmd)
	if err != nil {
		return err
	}
	p := page.Page{Now: f.start.Time}
	for _, v := range all {
		p.Rollouts = append(p.Rollouts, v.page())
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return err
	}
	if file == "-" {
		return print(cmd.OutOrStdout(), text.String())
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		return unwritten{err}
	}
	return nil
}

// view is how a rollout stands, with its past and its forecast.
type view struct {
	output.Standing
	course  timeline.Course
	groups  *grouping.Groups
	ignored func(cluster string) bool
	of      map[grouping.Key]status.Counts // by group: the summary has groups besides, such as of clusters that left
}

// views are those of the rollouts that are wanted.
func (f *flags) views(cmd *cobra.Command) (all []view, err error) {
	scenarios, err := f.read(cmd)
	if err != nil {
		return nil, err
	}
	for _, s := range scenarios {
		v, err := f.view(s)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (f *flags) view(s *scenario.Scenario) (v view, err error) {
	how, err := f.course(s)
	if err != nil {
		return v, err
	}
	plan, err := s.Now(how.Options, f.start.Time)
	if err != nil {
		return v, err
	}
	clock := f.clock(s)
	if clock.Word == "" {
		clock.Word = "start" // a page has times of the day
	}
	v = view{Standing: output.NewStanding(s, plan, clock), groups: s.Groups, ignored: s.Ignored, of: make(map[grouping.Key]status.Counts)}
	for _, g := range v.Summary.Groups {
		v.of[g.Group] = g.Counts
	}
	if v.Forecast, err = f.forecast(s, how); err != nil {
		return v, err
	}
	trace, _, err := s.Play(how)
	if err != nil {
		return v, err
	}
	v.course, err = timeline.CourseOf(s, plan, trace, f.start.Time)
	return v, err
}

// mostListed is how many clusters of a group a page lists.
const mostListed = 500

func (v view) page() page.Rollout {
	r := page.Rollout{Name: v.Rollout, Placement: v.Placement, Strategy: v.Strategy, Status: string(v.Summary.Aggregate), Counts: v.Summary.Counts.String(),
		Outlook: v.Outlook(), Notes: v.Notes, Course: v.course}
	for _, w := range v.Warnings {
		r.Warnings = append(r.Warnings, v.Clock.Read(w))
	}
	stages := make(map[grouping.Key]string)
	for i, stage := range v.Plan.Schedule.Stages {
		for _, key := range stage.Groups {
			stages[key] = stageWords(i, v.Plan.Schedule)
		}
	}
	states := timeline.States(v.groups, v.Plan, v.ignored)
	for i := range v.groups.Len() {
		key := v.groups.Key(i)
		g := page.Group{Name: key.String(), Stage: stages[key], Counts: v.counts(i).String()}
		for c := range v.groups.Clusters(i) {
			if position, found := v.groups.Position(c.ClusterName); found && len(g.Clusters) < mostListed {
				g.Clusters = append(g.Clusters, page.Cluster{Name: c.ClusterName, State: states[position]})
			}
		}
		g.More = max(0, v.groups.Size(i)-mostListed)
		r.Groups = append(r.Groups, g)
	}
	v.explain(r.Groups)
	return r
}

// explain says in the groups which clusters failed and which wait, and which of them others wait for.
func (v view) explain(groups []page.Group) {
	of := func(cluster string) *page.Group {
		if position, found := v.groups.Position(cluster); found {
			return &groups[v.groups.GroupAt(position)]
		}
		return nil
	}
	for _, reason := range v.Waiting {
		message := v.Clock.Read(reason.Message)
		for _, cluster := range reason.Clusters {
			g := of(cluster)
			if g == nil {
				continue
			}
			if n := len(g.Why); n == 0 || g.Why[n-1].Message != message {
				g.Why = append(g.Why, page.Reason{Message: message})
			}
			g.Why[len(g.Why)-1].Clusters++
		}
	}
	for _, name := range v.Failed {
		if g := of(name); g != nil {
			g.Failed = append(g.Failed, name)
		}
	}
	const most = 10
	for _, said := range v.Says {
		in := make(map[*page.Group][]string)
		for _, cluster := range said.Clusters {
			if g := of(cluster); g != nil && len(g.Says) < most {
				in[g] = append(in[g], cluster)
			}
		}
		for g, clusters := range in {
			g.Says = append(g.Says, fmt.Sprintf("%s: %q", output.Named(clusters), said.Message))
		}
	}
	for _, b := range v.Blockers {
		if g := of(b.Name); g != nil && len(g.Blockers) < most {
			g.Blockers = append(g.Blockers, page.Blocker{Name: b.Name, Message: strings.TrimPrefix(v.Clock.Read(b.Message), b.Name+" ")})
		}
	}
}

// stageWords say what holds for the groups of a stage.
func stageWords(at int, schedule rollout.Schedule) string {
	stage := schedule.Stages[at]
	words := fmt.Sprintf("stage %d of %d, at most %d at a time", at+1, len(schedule.Stages), stage.MaxConcurrency)
	if stage.Mandatory {
		return words + ", mandatory"
	}
	return words
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// leaving is the command line of kubectl cohort removals.
type leaving struct {
	flags
	atATime int
	given   bool // the flag of it
	group   string
}

const removalsUsage = `Say in which order clusters lose the workload where its owner is deleted, or with --group where a group goes.

It goes in the reverse order of the rollout: first clusters of unknown group, then the groups from the last to the first.
No cluster waits for an ignored cluster. This is the order of a controller that asks the library (rollout.Removals): of a
ManifestWorkReplicaSet with the annotation cohort.open-cluster-management.io/remove-at-most, which says how many at a time, as --at-a-time does.
Elsewhere all go at once, as with OCM's own controllers. Nothing is deleted here.`

// removalsCommand says in which order a workload goes.
func removalsCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	q := &leaving{flags: *newFlags(hub), atATime: 1}
	cmd := &cobra.Command{
		Use:   "removals",
		Short: "Say in which order clusters lose the workload where its owner is deleted",
		Long:  removalsUsage,
		Example: `  kubectl cohort removals --rollout web --at-a-time 5
  kubectl cohort removals --rollout web --group canary`,
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q.given = cmd.Flags().Changed("at-a-time")
			return q.run(cmd)
		},
	}
	q.declare(cmd.Flags())
	return cmd
}

func (going *leaving) declare(s *pflag.FlagSet) {
	going.input.declare(s)
	going.whatIf.declareStrategy(s)
	commandline.Var(s, &going.format, "output", "o", "`format` of the output: text, json or yaml")
	s.IntVar(&going.atATime, "at-a-time", going.atATime, "`number` of clusters that are on their way out at a time, at most; as the controller of the owner has it unless given, and for --group 1")
	s.StringVar(&going.group, "group", "", "`group` that goes alone, by its index or its name")
	going.extras.declareGroupOrder(s)
	going.extras.declareIgnored(s)
}

// run says for each rollout how it goes.
func (going *leaving) run(cmd *cobra.Command) error {
	if going.atATime < 1 {
		return fmt.Errorf("--at-a-time %d: must be at least 1", going.atATime)
	}
	going.progress, going.others = progressOn(cmd.ErrOrStderr()), true
	scenarios, err := going.scenarios(cmd)
	if err != nil {
		return err
	}
	if err := going.check(scenarios); err != nil {
		return err
	}
	if going.group != "" {
		if err := checkGroup("--group", gate{group: going.group}, scenarios); err != nil {
			return err
		}
	}
	var all several
	for len(scenarios) > 0 {
		parts := scenarios // the placements of one object
		if next := slices.IndexFunc(scenarios, func(s *scenario.Scenario) bool { return s.Owner != scenarios[0].Owner }); next > 0 {
			parts = scenarios[:next]
		}
		scenarios = scenarios[len(parts):]
		there, ignored := going.there(parts)
		parts = slices.DeleteFunc(parts, going.leavesOut)
		for i, s := range parts {
			one, err := going.answer(s, there, ignored)
			if err != nil {
				return err
			}
			one.last = going.group == "" && i == len(parts)-1 && len(parts) == s.Targets
			all = append(all, one)
		}
	}
	var report written = all
	if len(all) == 1 {
		report = all[0]
	}
	return going.format.write(report, cmd.OutOrStdout())
}

// leavesOut says whether a placement is not wanted, or lacks the group that goes alone.
func (going *leaving) leavesOut(s *scenario.Scenario) bool {
	if going.group != "" && checkGroup("--group", gate{group: going.group}, []*scenario.Scenario{s}) != nil {
		return true
	}
	wanted := going.placement.Ref
	return s.Targets > 1 && wanted.Name != "" && (wanted.Name != s.Placement.Name || wanted.Namespace != "" && wanted.Namespace != s.Placement.Namespace)
}

// there are the clusters that have an object of the rollout, whichever placement it was written for, each with whether it is being
// deleted. Ignored are those of all placements.
func (going *leaving) there(parts []*scenario.Scenario) (there map[string]bool, ignored []string) {
	there, live := make(map[string]bool), false
	for _, s := range parts {
		options := going.options(s, time.Time{})
		ignored = append(ignored, options.Ignored...)
		for _, report := range slices.Concat(s.Reports(options), s.Unselected) {
			there[report.Cluster] = report.Deleting
		}
		if s.Policy != nil {
			for i := range s.Policy.Replicas { // also of those that wait, which no report counts
				cluster := s.Policy.Replicas[i].Cluster
				there[cluster] = s.Policy.Deleting[cluster]
			}
		}
		live = live || s.Live || len(s.Unselected) > 0
	}
	if live || len(going.files) == 0 { // a hub without objects says that no cluster has it
		return there, ignored
	}
	for _, s := range parts {
		s.Notes = append(s.Notes, "no object says which clusters have the workload: it is as if all had it that are selected")
		for i := range s.Groups.NumClusters() {
			there[s.Groups.Cluster(i)] = false
		}
	}
	return there, ignored
}

// answer removes the workload of a placement wave by wave.
func (going *leaving) answer(s *scenario.Scenario, objects map[string]bool, ignored []string) (*removed, error) {
	options := going.options(s, time.Time{})
	options.StoredRecord, options.Ignored = s.StoredRecord, ignored
	most := going.most(s)
	r := &removed{Rollout: s.Owner, Placement: s.Placements(), AtATime: most, Group: going.group, Notes: s.Notes, groupOf: lastGroups(s)}
	there := maps.Clone(objects)
	maps.DeleteFunc(there, func(cluster string, _ bool) bool {
		key, known := r.groupOf(cluster)
		return !s.Removes(cluster) || going.group != "" && !(known && gate{group: going.group}.before(key))
	})
	for _, cluster := range slices.Sorted(maps.Keys(there)) {
		if there[cluster] {
			r.PendingRemoval = append(r.PendingRemoval, cluster)
		}
		if slices.Contains(options.Ignored, cluster) {
			r.NotWaitedFor = append(r.NotWaitedFor, cluster)
		}
	}
	defer going.progress.begin("removing the workload")()
	if most == 0 {
		for _, cluster := range slices.Sorted(maps.Keys(there)) {
			if !there[cluster] {
				r.Now = append(r.Now, cluster)
			}
		}
		if len(r.Now) > 0 {
			r.Waves = append(r.Waves, r.wave(r.Now))
		}
		return r, nil
	}
	for step := 0; len(there) > 0; step++ {
		var reports []status.Report
		for cluster, deleting := range there {
			reports = append(reports, status.Report{Cluster: cluster, Status: status.Succeeded, Deleting: deleting})
		}
		next, err := rollout.Removals(s.Strategy, s.Groups, reports, most, options)
		if err != nil {
			return nil, going.fault(err)
		}
		if step == 0 {
			r.Now = next
		}
		before := len(there)
		maps.DeleteFunc(there, func(_ string, deleting bool) bool { return deleting }) // those of the wave before are gone
		if len(next) == 0 && len(there) == before {
			return nil, fmt.Errorf("%s to placement %s: no cluster may go, and %s stay", r.Rollout, r.Placement, listed(slices.Sorted(maps.Keys(there)), " "))
		}
		for _, cluster := range next {
			there[cluster] = true
		}
		if len(next) > 0 {
			r.Waves = append(r.Waves, r.wave(next))
		}
	}
	return r, nil
}

// most is how many clusters are on their way out at a time: as the flag says, or else as the controller of the owner has it. It is 0 for
// all.
func (going *leaving) most(s *scenario.Scenario) int {
	switch kind, _, _ := strings.Cut(s.Owner, " "); {
	case going.given || kind == "RolloutStrategy":
		return going.atATime
	case kind == "ManifestWorkReplicaSet" && (s.Stamped || !s.Live): // not with OCM's own controller, which reads no annotation
		if s.RemoveAtMost != nil {
			return *s.RemoveAtMost
		}
		s.Notes = append(s.Notes, "no annotation "+scenario.AnnotationRemoveAtMost+": all go at once, unless the controller has the flag -remove-at-most, of which --at-a-time shows the order")
	case kind == "ManifestWorkReplicaSet" && s.RemoveAtMost != nil:
		s.Notes = append(s.Notes, "the annotation "+scenario.AnnotationRemoveAtMost+" has no effect: no work has the stamp of a controller that reads it")
	}
	if going.group != "" {
		return going.atATime
	}
	return 0
}

// lastGroups says in which group a cluster is, or was when it was deselected.
func lastGroups(s *scenario.Scenario) func(cluster string) (key grouping.Key, known bool) {
	groups := make(map[string]grouping.Key)
	if s.StoredRecord != nil && s.StoredRecord.Record.Version == s.StoredRecord.Version { // another record counts for nothing
		for i := range s.StoredRecord.Record.Deselected {
			groups[s.StoredRecord.Record.Deselected[i].Cluster] = s.StoredRecord.Record.Deselected[i].Group
		}
	}
	return func(cluster string) (grouping.Key, bool) {
		if position, selected := s.Groups.Position(cluster); selected {
			return s.Groups.Key(s.Groups.GroupAt(position)), true
		}
		key, known := groups[cluster]
		for i := range s.Groups.Len() {
			if known && s.Groups.Key(i) == key {
				return key, true
			}
		}
		return grouping.Key{}, false
	}
}

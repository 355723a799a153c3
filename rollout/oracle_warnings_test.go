// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on warnings: R1, R4, R5, R12, R27, R18, R23, R28, R30. They come in the order of the types.
func (o *oracle) r31() {
	o.r18Ignored()
	o.r18Options()
	if !o.incomplete { // a group that is not seen may not be written yet
		o.r12Empty()
		o.r23WithoutGroup()
		o.r59WithoutCluster()
		o.r33WithoutGroup()
	} else {
		o.warn(rollout.Warning{Type: rollout.WarningGroupsIncomplete, Missing: o.missing})
	}
	o.r1Several()
	o.r5WithoutTime()
	o.r27Untracked()
	o.r34WithoutTime()
	o.r30Withheld()
}

func (o *oracle) warn(w rollout.Warning) { o.out.Warnings = append(o.out.Warnings, w) }

// R18: what is set for another type than the chosen one; R5: All ignores MinSuccessTime and MaxFailures. Reading: what
// the API server fills in is not set.
func (o *oracle) r18Ignored() {
	block := func(name string, of clusterv1alpha1.RolloutType, c clusterv1alpha1.RolloutConfig, mandatory []clusterv1alpha1.MandatoryDecisionGroup, concurrency intstr.IntOrString) {
		other := of != o.kind
		for _, field := range []struct {
			name         string
			set, ignored bool
		}{
			{"minSuccessTime", c.MinSuccessTime.Duration != 0, other || of == clusterv1alpha1.All},
			{"progressDeadline", c.ProgressDeadline != "" && c.ProgressDeadline != "None", other},
			{"maxFailures", c.MaxFailures != intstr.IntOrString{}, other || of == clusterv1alpha1.All},
			{"mandatoryDecisionGroups", len(mandatory) > 0, other},
			{"maxConcurrency", concurrency != intstr.IntOrString{}, other},
		} {
			if field.set && field.ignored {
				o.warn(rollout.Warning{Type: rollout.WarningFieldIgnored, Field: name + "." + field.name})
			}
		}
	}
	if b := o.strategy.All; b != nil {
		block("all", clusterv1alpha1.All, b.RolloutConfig, nil, intstr.IntOrString{})
	}
	if b := o.strategy.Progressive; b != nil {
		block("progressive", clusterv1alpha1.Progressive, b.RolloutConfig, b.MandatoryDecisionGroups.MandatoryDecisionGroups, b.MaxConcurrency)
	}
	if b := o.strategy.ProgressivePerGroup; b != nil {
		block("progressivePerGroup", clusterv1alpha1.ProgressivePerGroup, b.RolloutConfig, b.MandatoryDecisionGroups.MandatoryDecisionGroups, intstr.IntOrString{})
	}
}

// R18: options of another type than the chosen one, and a wait for which there are no groups.
func (o *oracle) r18Options() {
	if o.ordered != nil && o.kind != clusterv1alpha1.ProgressivePerGroup {
		o.warn(rollout.Warning{Type: rollout.WarningFieldIgnored, Field: "groupOrder"})
	}
	if o.perGroup != nil && o.kind != clusterv1alpha1.ProgressivePerGroup && (o.kind != clusterv1alpha1.Progressive || o.back != nil || len(o.mandatory) == 0) {
		o.warn(rollout.Warning{Type: rollout.WarningFieldIgnored, Field: "maxConcurrencyPerGroup"})
	}
	waited := slices.ContainsFunc(o.all, func(s subject) bool { return !s.ignored && o.r34Awaited(s.group) })
	if o.wait > 0 && (!o.r34Waits() || !o.incomplete && !waited) {
		o.warn(rollout.Warning{Type: rollout.WarningFieldIgnored, Field: "waitBetweenGroups"})
	}
}

// r12Warn warns once of a mandatory group, however often an entry names it. The index beside a name says nothing.
func (o *oracle) r12Warn(w rollout.Warning) {
	if !slices.ContainsFunc(o.out.Warnings, func(said rollout.Warning) bool {
		return said.Type == w.Type && said.Mandatory.GroupName == w.Mandatory.GroupName &&
			(w.Mandatory.GroupName != "" || said.Mandatory.GroupIndex == w.Mandatory.GroupIndex)
	}) {
		o.warn(w)
	}
}

// R12: an entry that selects no cluster.
func (o *oracle) r12Empty() {
	for _, entry := range o.mandatory {
		w := rollout.Warning{Type: rollout.WarningMandatoryGroupEmpty, Mandatory: entry}
		selects := slices.ContainsFunc(o.all, func(s subject) bool { return r12Names(entry, s.group) })
		if !slices.ContainsFunc(o.groups, func(g grouping.Key) bool { return r12Names(entry, g) }) {
			w.Known = o.known()
		}
		if !selects {
			o.r12Warn(w)
		}
		o.r37Protects(entry)
	}
}

// R37: a mandatory group in which no cluster counts protects nothing.
func (o *oracle) r37Protects(entry clusterv1alpha1.MandatoryDecisionGroup) {
	w := rollout.Warning{Type: rollout.WarningMandatoryGroupIgnored, Mandatory: entry}
	for i := range o.all {
		if s := &o.all[i]; r12Names(entry, s.group) {
			if w.Clusters++; !s.ignored {
				return
			}
		}
	}
	if w.Clusters > 0 {
		o.r12Warn(w)
	}
}

// known names each group that there is once: the first ten, and the number of the others.
func (o *oracle) known() string {
	var there []string
	for _, g := range o.groups {
		if g == unknown { // R47: it has no name
			continue
		}
		name := strconv.Itoa(int(g.Index))
		if g.Name != "" {
			name = strconv.Quote(g.Name)
		}
		if !slices.Contains(there, name) {
			there = append(there, name)
		}
	}
	if more := len(there) - 10; more > 0 {
		return strings.Join(there[:10], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(there, ", ")
}

// R23: a gate before a group that does not exist holds nothing. Once for gates with the same name, with the lowest index;
// once for gates without a name with the same index. In the order of what it is before, index last where the name counts.
func (o *oracle) r23WithoutGroup() {
	var without []rollout.Warning
	for _, g := range o.gates {
		if slices.ContainsFunc(o.groups, func(key grouping.Key) bool { return r23Matches(g.group, key) }) {
			continue
		}
		same := slices.IndexFunc(without, func(w rollout.Warning) bool {
			return w.Group.Placement == g.group.Placement && w.Group.Name == g.group.Name && (g.group.Name != "" || w.Group.Index == g.group.Index)
		})
		if same < 0 {
			without = append(without, rollout.Warning{Type: rollout.WarningGateWithoutGroup, Group: g.group, Known: o.known()})
		} else {
			without[same].Group.Index = min(without[same].Group.Index, g.group.Index)
		}
	}
	index := func(key grouping.Key) int32 {
		if key.Name != "" {
			return 0
		}
		return key.Index
	}
	slices.SortFunc(without, func(a, b rollout.Warning) int {
		return cmp.Or(cmp.Compare(a.Group.Placement, b.Group.Placement), cmp.Compare(index(a.Group), index(b.Group)), cmp.Compare(a.Group.Name, b.Group.Name))
	})
	o.out.Warnings = append(o.out.Warnings, without...)
}

// R1: clusters with several reports.
func (o *oracle) r1Several() {
	lists := [][]status.Report{o.given}
	if o.back != nil {
		lists = append(lists, o.back.failed)
	}
	several := map[string]bool{}
	for _, list := range lists { // R43: in one of the lists
		for i, r := range list {
			elsewhere := o.parts != nil && !o.selects(r.Cluster) && (o.parts.first || slices.Contains(o.parts.others, r.Cluster)) // R50
			if !elsewhere && slices.ContainsFunc(list[:i], func(other status.Report) bool { return other.Cluster == r.Cluster }) {
				several[r.Cluster] = true
			}
		}
	}
	o.warnOf(rollout.WarningReportsMerged, slices.Collect(maps.Keys(several)))
}

// R4, R5: clusters whose deadline or soak never ends, for want of a time.
func (o *oracle) r5WithoutTime() {
	var timeless []string
	for i := range o.all {
		if o.r4Timeless(&o.all[i]) {
			timeless = append(timeless, o.all[i].name)
		}
	}
	o.warnOf(rollout.WarningReportWithoutTime, timeless)
}

// R27: clusters in flight of which nothing will say when they are done. Reading: a status that the API may add is Progressing.
func (o *oracle) r27Untracked() {
	var untracked []string
	for i := range o.all {
		s := &o.all[i]
		if s.status == status.Progressing && s.counts.Status != status.ToApply && s.counts.Reason == status.ReportUntracked {
			untracked = append(untracked, s.name)
		}
	}
	o.warnOf(rollout.WarningUntracked, untracked)
}

func (o *oracle) warnOf(is rollout.WarningType, clusters []string) {
	if len(clusters) > 0 {
		o.warn(rollout.Warning{Type: is, Clusters: len(clusters), Cluster: slices.Min(clusters)})
	}
}

// R30: a bound on removals that is passed.
func (o *oracle) r30Withheld() {
	removed, reported := o.reportedClusters()
	if o.maxRemoved == nil || o.incomplete || o.grace > 0 {
		return
	}
	if most, _ := r16(*o.maxRemoved, reported); len(removed) > most {
		o.warn(rollout.Warning{
			Type: rollout.WarningRemovalsWithheld, Clusters: len(removed), Cluster: removed[0], Reported: reported, MaxRemoved: most,
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R10: which breaches last.

// lasts gives the breaches that last, and what is reported of the first of them.
func (o *oracle) lasts() (all []status.Breached, first *rollout.Breach) {
	if percent, _ := r16(o.maxFailures, 100); percent == 0 || o.kind == clusterv1alpha1.All {
		return nil, nil
	}
	var told []status.Breached
	if o.former != nil {
		told = o.former.lasting
	}
	if o.storedRecord != nil && o.storedRecord.Record.Version == o.storedRecord.Version {
		told = slices.Concat(told, o.storedRecord.Record.Breached)
	}
	for _, b := range told {
		all = o.alsoLasts(all, b)
	}
	if len(all) > 0 {
		first = o.reportOf(all)
	}
	if o.incomplete {
		return all, first
	}
	for _, g := range o.sequence() {
		in := func(other grouping.Key) bool { return other == g }
		if g != unknown && o.failuresIn(g) > o.budget(g) {
			all = o.alsoLasts(all, status.Breached{Group: g, Of: o.sizeOf(g) - o.elsewhereIn(in), Clusters: o.failed(in)})
		}
	}
	if o.kind == clusterv1alpha1.Progressive && o.maxFailures.Type == intstr.String {
		everywhere := func(grouping.Key) bool { return true }
		if failed := o.failed(everywhere); len(failed) > o.budgetOfAll() {
			all = o.alsoLasts(all, status.Breached{AllGroups: true, Of: o.total() - o.leftIn(everywhere), Clusters: failed})
		}
	}
	return all, first
}

// failed names the failures in budgets in some groups.
func (o *oracle) failed(in func(grouping.Key) bool) (names []string) {
	for i := range o.all {
		if s := &o.all[i]; r38(s) && in(s.group) {
			names = append(names, s.name)
		}
	}
	return names
}

// budgetThen is the budget of a breach of before.
func (o *oracle) budgetThen(b *status.Breached) int {
	if o.isMandatoryThen(b) {
		return 0
	}
	n, _ := r16(o.maxFailures, b.Of)
	if percent, _ := r16(o.maxFailures, 100); o.maxFailures.Type == intstr.String && percent == 100 {
		n = len(b.Clusters)
	}
	return n
}

func (o *oracle) isMandatoryThen(b *status.Breached) bool {
	return !b.AllGroups && o.back == nil && slices.ContainsFunc(o.mandatory, func(entry clusterv1alpha1.MandatoryDecisionGroup) bool { return r12Names(entry, b.Group) })
}

// alsoLasts adds a breach to those that last, if it stands and has to be one of them.
func (o *oracle) alsoLasts(all []status.Breached, b status.Breached) []status.Breached {
	failed := o.failed(func(grouping.Key) bool { return true })
	b.Clusters = slices.DeleteFunc(failed, func(name string) bool { return !slices.Contains(b.Clusters, name) })
	covers := func(a, b *status.Breached) bool {
		for _, name := range b.Clusters {
			if !slices.Contains(a.Clusters, name) {
				return false
			}
		}
		return o.budgetThen(a) <= o.budgetThen(b)
	}
	if len(b.Clusters) <= o.budgetThen(&b) {
		return all
	}
	var kept []status.Breached
	for i := range all {
		if covers(&all[i], &b) {
			return all
		}
		if !covers(&b, &all[i]) {
			kept = append(kept, all[i])
		}
	}
	if len(kept) == 16 {
		return kept
	}
	return append(kept, b)
}

// reportOf is what is reported of the first breach that lasts.
func (o *oracle) reportOf(all []status.Breached) *rollout.Breach {
	b := &all[0]
	r := &rollout.Breach{
		Group: b.Group, AllGroups: b.AllGroups, Mandatory: o.isMandatoryThen(b), Lasting: true, Failures: len(b.Clusters), MaxFailures: o.budgetThen(b),
	}
	for i := range o.all {
		s := &o.all[i]
		if !slices.Contains(b.Clusters, s.name) {
			continue
		}
		if s.recorded && s.unseen { // R29
			r.Lost++
		}
		if len(r.Clusters) < 3 {
			r.Clusters = append(r.Clusters, s.name)
			if s.left {
				r.Deselected = append(r.Deselected, s.name)
			}
		}
	}
	return r
}

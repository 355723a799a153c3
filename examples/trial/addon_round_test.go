// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// round is what an installer knows and decides in one reconcile.
type round struct {
	*installer
	owner   *addonv1beta1.ClusterManagementAddOn
	version string
	desired []addonv1beta1.ConfigReference
	groups  *grouping.Groups
	addOns  map[string]*addonv1beta1.ManagedClusterAddOn
	given   map[string]bool
	now     time.Time

	records status.Records // as they are stored
	reports []status.Report
	result  *rollout.Result
	partial *rollout.Result // only to ignore a duty with: of the selected clusters alone
}

// look reads what the objects and the record say.
func (r *round) look() (err error) {
	for _, addOn := range r.addOns {
		if addOn.DeletionTimestamp != nil && r.ignores(DutyDeleting) {
			continue
		}
		if report, ok := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addOn, Desired: r.desired}); ok {
			r.reports = append(r.reports, report)
		}
	}
	if r.records, err = status.RecordsOf(r.owner); r.ignores(DutyReadBack) && r.believed != nil {
		r.records = r.believed
	}
	return err
}

// plan plans with the record, and without those that an operator ignores.
func (r *round) plan(place addonv1beta1.PlacementStrategy) (err error) {
	memory := rollout.StoredRecord{Version: r.version, Record: r.records[""], AtOnce: goesAtOnce(r.owner)}
	ignoredClusters := slices.Collect(maps.Keys(r.given))
	options := rollout.Options{RemoveAfter: metav1.Duration{Duration: removeAfter}, Previous: r.last, StoredRecord: &memory, Ignored: ignoredClusters}
	if r.ignores(DutyRecord) {
		options.StoredRecord = nil
	}
	if r.result, err = rollout.Plan(place.RolloutStrategy, r.groups, r.reports, r.now, options); err != nil {
		return err
	}
	selected := slices.DeleteFunc(slices.Clone(r.reports), func(report status.Report) bool {
		_, _, is := r.groups.Find(report.Cluster)
		return !is
	})
	if r.ignores(DutyPassRecord) {
		selected = r.reports
	}
	r.partial, err = rollout.Plan(place.RolloutStrategy, r.groups, selected, r.now, rollout.Options{Ignored: ignoredClusters})
	return err
}

// record stores the record if it has changed.
func (r *round) record(ctx context.Context) error {
	records := maps.Clone(r.records)
	if records == nil {
		records = status.Records{}
	}
	records[""] = r.result.Record
	updated := r.owner.DeepCopy()
	if changed, err := records.Note(updated); err != nil || !changed && !r.ignores(DutyReadBack) || r.ignores(DutyRecord) {
		return err
	}
	if r.ignores(DutyReadBack) {
		if text := fmt.Sprint(records); text == fmt.Sprint(r.believed) {
			return nil
		}
		r.believed = records
	}
	updated, err := r.client.AddonV1beta1().ClusterManagementAddOns().Update(ctx, updated, metav1.UpdateOptions{})
	if r.ignores(DutyReadBack) {
		return nil // it believes that it is stored
	}
	if r.wroteOwner(updated, err) == nil {
		r.owner = updated
	}
	return err
}

// carryOut makes the writes, and sets the status.
func (r *round) carryOut(ctx context.Context) (time.Duration, error) {
	result := r.result
	if r.ignores(DutyLeft) || r.ignores(DutyPassRecord) {
		result = r.partial
	}
	var err error
	for _, cluster := range r.result.Removed {
		if r.ignores(DutyPromptly) && slices.ContainsFunc(r.reports, func(report status.Report) bool {
			return report.Cluster == cluster && report.Status != status.Succeeded
		}) {
			continue
		}
		if addOn := r.addOns[cluster]; addOn.DeletionTimestamp == nil {
			err = errors.Join(err, r.remove(ctx, addOn))
		}
	}
	for _, cluster := range slices.Concat(result.InFlight, result.Start) {
		if current, e := r.owners.Get(r.name); e != nil || current.Generation != r.owner.Generation {
			return time.Millisecond, errors.Join(err, e)
		}
		err = errors.Join(err, r.apply(ctx, cluster.Name))
	}
	recheck := result.RecheckAfter
	if r.ignores(DutyPassRecord) { // it looks after deselected clusters, and forgets why they count
		recheck = r.result.RecheckAfter
	}
	return recheck, errors.Join(err, r.setStatus(ctx))
}

// setStatus says how the rollout stands, over all clusters that count.
func (r *round) setStatus(ctx context.Context) error {
	updated := r.owner.DeepCopy()
	if len(updated.Status.InstallProgressions) != 1 {
		updated.Status.InstallProgressions = []addonv1beta1.InstallProgression{{PlacementRef: updated.Spec.InstallStrategy.Placements[0].PlacementRef}}
	}
	entry := &updated.Status.InstallProgressions[0]
	config := addonv1beta1.InstallConfigReference{ConfigGroupResource: r.desired[0].ConfigGroupResource, DesiredConfig: r.desired[0].DesiredConfig}
	changed := len(entry.ConfigReferences) != 1 || *entry.ConfigReferences[0].DesiredConfig != *config.DesiredConfig
	if changed {
		if len(entry.ConfigReferences) == 1 {
			config.LastAppliedConfig, config.LastKnownGoodConfig = entry.ConfigReferences[0].LastAppliedConfig, entry.ConfigReferences[0].LastKnownGoodConfig
		}
		entry.ConfigReferences = []addonv1beta1.InstallConfigReference{config}
	}
	result := r.result
	if r.ignores(DutyComplete) {
		result = r.partial
	}
	summary := result.Summary()
	if changed = status.SetInstallProgression(entry, summary, r.owner.Generation, r.now) || changed; !changed {
		return nil
	}
	written, err := r.client.AddonV1beta1().ClusterManagementAddOns().UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	return r.wroteOwner(written, err)
}

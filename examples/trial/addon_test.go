// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	addonclient "open-cluster-management.io/api/client/addon/clientset/versioned"
	addonlisters "open-cluster-management.io/api/client/addon/listers/addon/v1beta1"
	clusterlisters "open-cluster-management.io/api/client/cluster/listers/cluster/v1beta1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// TestAddOns shows that a controller of add-ons breaks nothing where versions cut clusters off.
func TestAddOns(t *testing.T) {
	theHub.Trials(t, ofAddOns)
}

// TestEachDutyOfAddOns shows that the harness finds one that ignores a duty.
func TestEachDutyOfAddOns(t *testing.T) {
	theHub.EachTrialDuty(t, ofAddOns, dutiesOfAddOns())
}

// dutiesOfAddOns are those of trials without those of policies alone.
func dutiesOfAddOns() map[Duty][]Invariant {
	duties := maps.Clone(TrialDuties)
	for _, d := range []Duty{DutyTakeBack, DutyAdopt, DutyEdited, DutyTemplates, DutyReadYourWrites, DutyOneWrite, DutyTimeOfWrite, DutyVerdict, DutyUnregistered, DutyOwnerGone} {
		delete(duties, d)
	}
	return duties
}

var ofAddOns = &Subject{Run: runInstaller, Delivery: OfAddOns(), RemoveAfter: removeAfter, IgnoreAnnotation: ignoreAnnotation, Placements: 1, Replicas: 1}

// installer rolls the configuration of an add-on out to the clusters of a placement.
type installer struct {
	p          *Process
	name       string
	owners     addonlisters.ClusterManagementAddOnLister
	addOns     addonlisters.ManagedClusterAddOnLister
	placements clusterlisters.PlacementLister
	decisions  clusterlisters.PlacementDecisionLister
	client     addonclient.Interface

	begun     bool
	ownOwner  writes.Own[*addonv1beta1.ClusterManagementAddOn]
	ownAddOns writes.Own[*addonv1beta1.ManagedClusterAddOn]
	last      *rollout.Result
	believed  status.Records // only to ignore a duty with
}

func runInstaller(ctx context.Context, p *Process) error {
	c := &installer{
		p: p, name: p.Set.Namespace, client: addonclient.NewForConfigOrDie(p.Config),
		owners: addonlisters.NewClusterManagementAddOnLister(p.Store(AddOns)), addOns: addonlisters.NewManagedClusterAddOnLister(p.Store(OnClusters)),
		placements: clusterlisters.NewPlacementLister(p.Store(Placements)), decisions: clusterlisters.NewPlacementDecisionLister(p.Store(Decisions)),
	}
	return loop(ctx, p, c.reconcile)
}

func (c *installer) ignores(d Duty) bool { return c.p.Ignored == d }

func (c *installer) reconcile(ctx context.Context) (time.Duration, error) {
	if ready, err := c.ready(ctx); !ready {
		return cmp.Or(c.ownOwner.RecheckAfter(time.Now()), c.ownAddOns.RecheckAfter(time.Now())), err
	}
	owner, err := c.owners.Get(c.name)
	if err != nil {
		return 0, skipNotFound(err)
	}
	place := owner.Spec.InstallStrategy.Placements[0]
	groups, err := c.groups(place.Namespace, place.Name)
	if err != nil {
		return 0, skipNotFound(err)
	}
	desired := []addonv1beta1.ConfigReference{referenceTo(place.Configs[0])}
	version := place.Configs[0].Name
	addOns, err := c.own()
	if err != nil {
		return 0, err
	}
	now := time.Now()
	round := &round{installer: c, owner: owner, version: version, desired: desired, groups: groups, addOns: addOns, now: now, given: ignoredClusters(owner, ignoreAnnotation)}
	if c.ignores(DutyIgnored) {
		round.given = nil
	}
	if err := round.look(); err != nil {
		return 0, err
	}
	if err := round.plan(place); err != nil {
		return 0, err
	}
	c.last = round.result
	if err := round.record(ctx); err != nil {
		return 0, err
	}
	return round.carryOut(ctx)
}

func skipNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// referenceTo is the reference to a configuration. The hash stands for its content.
func referenceTo(config addonv1beta1.AddOnConfig) addonv1beta1.ConfigReference {
	return addonv1beta1.ConfigReference{
		ConfigGroupResource: config.ConfigGroupResource,
		DesiredConfig:       &addonv1beta1.ConfigSpecHash{ConfigReferent: config.ConfigReferent, SpecHash: "of " + config.Name},
	}
}

func (c *installer) groups(namespace, name string) (*grouping.Groups, error) {
	decisions, err := c.decisions.PlacementDecisions(namespace).List(labels.SelectorFromSet(labels.Set{clusterv1beta1.PlacementLabel: name}))
	if err != nil {
		return nil, err
	}
	placement, err := c.placements.Placements(namespace).Get(name)
	if err != nil {
		return nil, err
	}
	return grouping.Read(placement, decisions)
}

// own are the add-ons of this name, by cluster.
func (c *installer) own() (map[string]*addonv1beta1.ManagedClusterAddOn, error) {
	all, err := c.addOns.List(labels.Everything())
	own := map[string]*addonv1beta1.ManagedClusterAddOn{}
	for _, addOn := range all {
		if addOn.Name == c.name {
			own[addOn.Namespace] = addOn
		}
	}
	return own, err
}

// ready says whether the caches show all that was written, by this process and by those before it.
func (c *installer) ready(ctx context.Context) (bool, error) {
	if err := c.begin(ctx); err != nil || !c.begun {
		return false, err
	}
	api := c.client.AddonV1beta1()
	owner, err := c.ownOwner.Unseen(c.p.Store(AddOns), func(key types.NamespacedName) (*addonv1beta1.ClusterManagementAddOn, error) {
		return api.ClusterManagementAddOns().Get(ctx, key.Name, metav1.GetOptions{})
	}, time.Now)
	if err != nil {
		return false, err
	}
	addOns, err := c.ownAddOns.Unseen(c.p.Store(OnClusters), func(key types.NamespacedName) (*addonv1beta1.ManagedClusterAddOn, error) {
		return api.ManagedClusterAddOns(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	}, time.Now)
	return err == nil && owner+addOns == 0, err
}

// begin lists what those before this process wrote, once. What only the caches have is gone.
func (c *installer) begin(ctx context.Context) error {
	if c.begun {
		return nil
	}
	cached, err := c.own()
	if err != nil {
		return err
	}
	cachedOwner, err := c.owners.Get(c.name)
	if err != nil {
		return skipNotFound(err)
	}
	owner, err := c.client.AddonV1beta1().ClusterManagementAddOns().Get(ctx, c.name, metav1.GetOptions{})
	if err != nil {
		return skipNotFound(err)
	}
	there, err := c.client.AddonV1beta1().ManagedClusterAddOns("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var live []*addonv1beta1.ManagedClusterAddOn
	for i := range there.Items {
		if there.Items[i].Name == c.name {
			live = append(live, &there.Items[i])
		}
	}
	c.ownOwner.Begin([]*addonv1beta1.ClusterManagementAddOn{owner}, []*addonv1beta1.ClusterManagementAddOn{cachedOwner}, time.Now())
	c.ownAddOns.Begin(live, slices.Collect(maps.Values(cached)), time.Now())
	c.begun = true
	return nil
}

// apply gives a cluster the desired configuration: the stamp first, then the references with the condition.
func (r *round) apply(ctx context.Context, cluster string) error {
	api := r.client.AddonV1beta1().ManagedClusterAddOns(cluster)
	addOn := r.addOns[cluster]
	if addOn != nil && addOn.DeletionTimestamp != nil {
		return nil // once it is gone
	}
	if addOn != nil && len(addOn.Status.ConfigReferences) > 0 && *addOn.Status.ConfigReferences[0].DesiredConfig == *r.desired[0].DesiredConfig {
		return nil
	}
	var err error
	stamp := r.version + " " + time.Now().Format(time.RFC3339Nano)
	if addOn == nil {
		addOn = &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: r.name}}
		if !goesAtOnce(r.owner) {
			addOn.Finalizers = []string{finalizerOfAgents}
		}
		status.StampOf(addOn).NoteOn(addOn, stamp, 0, time.Now())
		addOn, err = api.Create(ctx, addOn, metav1.CreateOptions{})
	} else {
		addOn = addOn.DeepCopy()
		status.StampOf(addOn).NoteOn(addOn, stamp, 0, time.Now())
		addOn, err = api.Update(ctx, addOn, metav1.UpdateOptions{})
	}
	if r.wrote(cluster, addOn, err) != nil {
		return err
	}
	addOn = addOn.DeepCopy()
	applied := map[addonv1beta1.ConfigGroupResource]*addonv1beta1.ConfigSpecHash{}
	for _, ref := range addOn.Status.ConfigReferences {
		applied[ref.ConfigGroupResource] = ref.LastAppliedConfig
	}
	addOn.Status.ConfigReferences = slices.Clone(r.desired)
	for i := range addOn.Status.ConfigReferences {
		addOn.Status.ConfigReferences[i].LastAppliedConfig = applied[addOn.Status.ConfigReferences[i].ConfigGroupResource]
	}
	meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{
		Type: addonv1beta1.ManagedClusterAddOnConditionProgressing, Status: metav1.ConditionTrue, Reason: addonv1beta1.ProgressingReasonProgressing,
		Message: r.version, LastTransitionTime: metav1.NewTime(time.Now()),
	})
	addOn, err = api.UpdateStatus(ctx, addOn, metav1.UpdateOptions{})
	return r.wrote(cluster, addOn, err)
}

// remove deletes the add-on of a cluster.
func (r *round) remove(ctx context.Context, addOn *addonv1beta1.ManagedClusterAddOn) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &addOn.UID}}
	err := r.client.AddonV1beta1().ManagedClusterAddOns(addOn.Namespace).Delete(ctx, addOn.Name, options)
	return r.ownAddOns.Deleted(addOn, err, time.Now())
}

// wrote notes the answer to a write of an add-on. Beside an error the answer is empty.
func (c *installer) wrote(cluster string, answer *addonv1beta1.ManagedClusterAddOn, err error) error {
	if err != nil {
		answer = &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: c.name}}
	}
	return c.ownAddOns.Wrote(answer, err, time.Now())
}

func (c *installer) wroteOwner(answer *addonv1beta1.ClusterManagementAddOn, err error) error {
	if err != nil {
		answer = &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: c.name}}
	}
	return c.ownOwner.Wrote(answer, err, time.Now())
}

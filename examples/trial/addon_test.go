package trial

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	addonclient "open-cluster-management.io/api/client/addon/clientset/versioned"
	addonlisters "open-cluster-management.io/api/client/addon/listers/addon/v1beta1"
	clusterlisters "open-cluster-management.io/api/client/cluster/listers/cluster/v1beta1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// TestAddOns shows that a controller of add-ons breaks nothing where versions cut clusters off.
func TestAddOns(t *testing.T) {
	if testing.Short() {
		t.Parallel()
	}
	theHub.Trials(t, ofAddOns)
}

// TestEachDutyOfAddOns shows that the harness finds one that ignores a duty.
func TestEachDutyOfAddOns(t *testing.T) {
	t.Parallel()
	duties := map[Duty][]Invariant{}
	for d, broken := range TrialDuties {
		if d != DutyTakeBack { // of policies alone
			duties[d] = broken
		}
	}
	theHub.EachTrialDuty(t, ofAddOns, duties)
}

var ofAddOns = &Subject{Run: runInstaller, Trade: OfAddOns(), RemoveAfter: removeAfter, GivenUp: givenUpAnnotation, Placements: 1, Replicas: 1}

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
	written   map[string]int64 // by cluster: the resourceVersion of its add-on as this controller wrote it
	unheard   map[string]bool  // by cluster: its add-on, if a write got no answer
	owner     int64            // the resourceVersion of the owner as it was written last
	ownerLost bool
	last      *rollout.Result
	believed  status.Records // only to ignore a duty with
}

func runInstaller(ctx context.Context, p *Process) error {
	c := &installer{
		p: p, name: p.Set.Namespace, client: addonclient.NewForConfigOrDie(p.Config),
		owners: addonlisters.NewClusterManagementAddOnLister(p.Store(AddOns)), addOns: addonlisters.NewManagedClusterAddOnLister(p.Store(OnClusters)),
		placements: clusterlisters.NewPlacementLister(p.Store(Placements)), decisions: clusterlisters.NewPlacementDecisionLister(p.Store(Decisions)),
		written: map[string]int64{}, unheard: map[string]bool{},
	}
	return loop(ctx, p, c.reconcile)
}

func (c *installer) ignores(d Duty) bool { return c.p.Ignored == d }

func (c *installer) reconcile(ctx context.Context) (time.Duration, error) {
	if ready, err := c.ready(ctx); !ready {
		return 0, err
	}
	owner, err := c.owners.Get(c.name)
	if err != nil || versionOf(owner) < c.owner {
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
	round := &round{installer: c, owner: owner, version: version, desired: desired, groups: groups, addOns: addOns, now: now, given: givenUp(owner, givenUpAnnotation)}
	if c.ignores(DutyGivenUp) {
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
	if !c.begun {
		owner, err := c.client.AddonV1beta1().ClusterManagementAddOns().Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return false, skipNotFound(err)
		}
		there, err := c.client.AddonV1beta1().ManagedClusterAddOns("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		cached, err := c.own()
		if err != nil {
			return false, err
		}
		for cluster := range cached {
			c.written[cluster] = gone
		}
		for i := range there.Items {
			if addOn := &there.Items[i]; addOn.Name == c.name {
				c.written[addOn.Namespace] = versionOf(addOn)
			}
		}
		c.owner, c.begun = versionOf(owner), true
	}
	if c.ownerLost {
		owner, err := c.client.AddonV1beta1().ClusterManagementAddOns().Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		c.owner, c.ownerLost = versionOf(owner), false
	}
	for cluster := range c.unheard {
		switch addOn, err := c.client.AddonV1beta1().ManagedClusterAddOns(cluster).Get(ctx, c.name, metav1.GetOptions{}); {
		case apierrors.IsNotFound(err):
			c.written[cluster] = gone
		case err != nil:
			return false, err
		default:
			c.written[cluster] = versionOf(addOn)
		}
		delete(c.unheard, cluster)
	}
	for cluster, rv := range c.written {
		switch addOn, err := c.addOns.ManagedClusterAddOns(cluster).Get(c.name); {
		case apierrors.IsNotFound(err) && rv != gone:
			c.unheard[cluster] = true // it may be gone by now
			delete(c.written, cluster)
			return false, errors.New("an add-on is not in the cache yet")
		case apierrors.IsNotFound(err), err == nil && rv != gone && versionOf(addOn) >= rv, err == nil && addOn.DeletionTimestamp != nil && rv == gone:
			delete(c.written, cluster)
		default:
			return false, err
		}
	}
	return true, nil
}

// note remembers what was written until the caches show it.
func (c *installer) note(cluster string, addOn *addonv1beta1.ManagedClusterAddOn, err error) error {
	switch {
	case err == nil && addOn == nil:
		c.written[cluster] = gone
	case err == nil:
		c.written[cluster] = versionOf(addOn)
	case apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		c.unheard[cluster] = true
	}
	return err
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
	if r.note(cluster, addOn, err) != nil {
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
	return r.note(cluster, addOn, err)
}

// remove deletes the add-on of a cluster.
func (r *round) remove(ctx context.Context, addOn *addonv1beta1.ManagedClusterAddOn) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &addOn.UID}}
	err := r.client.AddonV1beta1().ManagedClusterAddOns(addOn.Namespace).Delete(ctx, addOn.Name, options)
	if apierrors.IsNotFound(err) {
		err = nil
	}
	return r.note(addOn.Namespace, nil, err)
}

func (c *installer) noteOwner(written *addonv1beta1.ClusterManagementAddOn, err error) error {
	if err == nil {
		c.owner = versionOf(written)
	} else if apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		c.ownerLost = true
	}
	return err
}

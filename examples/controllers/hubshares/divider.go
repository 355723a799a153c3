// SPDX-License-Identifier: Apache-2.0

package hubshares

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Divider is the coordinator hub's side: it divides the limits of ManifestWorkReplicaSets between their hubs. One process
// acts at a time, with one worker for each set.
type Divider struct {
	// Client must read from the API server, not from a cache.
	Client client.Client
	Timing shares.Timing
	// Now is the coordinator hub's clock.
	Now func() time.Time

	memories kit.Memories[memory]
}

// memory is what a process keeps of a set. It may be lost.
type memory struct {
	divided time.Time // the last time
	sent    map[Rollout]map[string]shares.Grant
}

// The label and the finalizer of accounts.
const (
	setLabel  = "cohort.open-cluster-management.io/rollout" // the set of the account; its value is kit.OwnerValue
	finalizer = "cohort.open-cluster-management.io/rights"  // until the account has no shares; stored, so it keeps its name
)

// Divided is the condition of a set on the coordinator hub about its shares.
const Divided = "RightsDivided"

// Reconcile divides the limits of a set.
func (d *Divider) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	memory := d.memories.Of(request.NamespacedName)
	now := d.Now()
	if wait := memory.divided.Add(d.Timing.Every).Sub(now); wait > 0 && wait <= d.Timing.Every {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	set := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	err := d.Client.Get(ctx, request.NamespacedName, set)
	gone := apierrors.IsNotFound(err) || err == nil && (!isShared(set) || !set.DeletionTimestamp.IsZero())
	if err != nil && !gone {
		return reconcile.Result{}, err
	}
	if invalid := kit.ValidateOwner(set); invalid != nil {
		return reconcile.Result{}, reconcile.TerminalError(errors.Join(invalid, d.tell(ctx, set, gone, nil, invalid)))
	}
	accounts, err := d.accounts(ctx, set)
	if err != nil {
		return reconcile.Result{}, err
	}
	memory.divided = now
	result := reconcile.Result{}
	var told []string
	var invalid error
	strategies := strategiesOf(set, gone)
	for of := range strategies {
		if err := d.create(ctx, set, of, accounts); err != nil {
			return reconcile.Result{}, err
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(accounts), func(a, b Rollout) int { return cmp.Compare(a.object(), b.object()) }) {
		strategy, current := strategies[of]
		total, unread := shares.Total(strategy, values(accounts[of]))
		if unread != nil {
			total = none(accounts[of])
		}
		if current && unread != nil {
			invalid = errors.Join(invalid, fmt.Errorf("placement %s: %w", of.Placement, unread))
		}
		after, err := d.divide(ctx, memory, of, total, accounts[of])
		if err != nil {
			return reconcile.Result{}, err
		}
		if after > 0 && (result.RequeueAfter == 0 || after < result.RequeueAfter) {
			result.RequeueAfter = after
		}
		if err := d.remove(ctx, memory, of, accounts[of], func(hub string) bool {
			return current && slices.Contains(hubsOf(set), hub)
		}); err != nil {
			return reconcile.Result{}, err
		}
		if current {
			told = append(told, explained(of, values(accounts[of]), now)...)
		}
	}
	if gone && len(accounts) == 0 {
		d.memories.Forget(request.NamespacedName)
	}
	return result, d.tell(ctx, set, gone, told, invalid)
}

// strategiesOf are the strategies of a set's present rollouts.
func strategiesOf(set *workv1alpha1.ManifestWorkReplicaSet, gone bool) map[Rollout]clusterv1alpha1.RolloutStrategy {
	all := map[Rollout]clusterv1alpha1.RolloutStrategy{}
	if gone {
		return all
	}
	version := writes.VersionOf(set.Spec.ManifestWorkTemplate)
	for _, ref := range set.Spec.PlacementRefs {
		all[Rollout{Namespace: set.Namespace, Name: set.Name, Placement: ref.Name, Version: version}] = ref.RolloutStrategy
	}
	return all
}

// accounts are the accounts of a set, in the order of their hubs.
func (d *Divider) accounts(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet) (map[Rollout][]*Account, error) {
	var list AccountList
	if err := d.Client.List(ctx, &list, client.MatchingLabels{setLabel: kit.OwnerValue(set)}); err != nil {
		return nil, err
	}
	all := map[Rollout][]*Account{}
	for i := range list.Items {
		a := &list.Items[i]
		if a.Spec.Rollout.set() == client.ObjectKeyFromObject(set) && a.Name == a.Spec.Rollout.object() {
			all[a.Spec.Rollout] = append(all[a.Spec.Rollout], a)
		}
	}
	return all, nil
}

// create creates missing accounts.
func (d *Divider) create(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, of Rollout, all map[Rollout][]*Account) error {
	for _, hub := range hubsOf(set) {
		if slices.ContainsFunc(all[of], func(a *Account) bool { return a.Namespace == hub }) {
			continue
		}
		a := &Account{ObjectMeta: metav1.ObjectMeta{
			Namespace: hub, Name: of.object(), Labels: map[string]string{setLabel: kit.OwnerValue(set)}, Finalizers: []string{finalizer},
		}, Spec: Spec{Rollout: of}}
		if err := d.Client.Create(ctx, a); err != nil {
			return err
		}
		all[of] = append(all[of], a)
	}
	return nil
}

// divide writes grants until there is nothing more to write, and returns when to requeue.
func (d *Divider) divide(ctx context.Context, memory *memory, of Rollout, total rollout.Shares, accounts []*Account) (time.Duration, error) {
	for {
		division, err := shares.Divide(total, values(accounts), memory.sent[of], d.Now(), d.Timing)
		if err != nil || len(division.Grants) == 0 {
			return division.RecheckAfter, err
		}
		for _, a := range accounts {
			grant, is := division.Grants[a.Namespace]
			if !is {
				continue
			}
			memory.note(of, a.Namespace, grant)
			written := a.deepCopy() // based on the object that was read
			written.Spec.Grant = grant
			if err := d.Client.Update(ctx, written); err != nil {
				return 0, err // the next reconcile reads the outcome
			}
			*a = *written
		}
	}
}

// none is the total of a rollout that is not wanted any more or cannot be divided: it reclaims all unused shares.
func none(accounts []*Account) (total rollout.Shares) {
	for _, a := range accounts {
		total.Failures += a.Status.Failed
	}
	return total
}

// note remembers a grant as sent.
func (m *memory) note(of Rollout, hub string, grant shares.Grant) {
	if m.sent == nil {
		m.sent = map[Rollout]map[string]shares.Grant{}
	}
	if m.sent[of] == nil {
		m.sent[of] = map[string]shares.Grant{}
	}
	m.sent[of][hub] = grant
}

// remove deletes the accounts of hubs and versions that are not wanted any more, once they have no shares.
func (d *Divider) remove(ctx context.Context, memory *memory, of Rollout, accounts []*Account, wanted func(hub string) bool) error {
	for _, a := range accounts {
		empty := a.Spec.Grant.Shares == rollout.Shares{} && a.Status.Taken == rollout.Shares{}
		if wanted(a.Namespace) || !empty {
			continue
		}
		if controllerutil.RemoveFinalizer(a, finalizer) {
			if err := d.Client.Update(ctx, a); err != nil { // fails with a conflict if the hub reported meanwhile
				return client.IgnoreNotFound(err)
			}
		}
		now := client.Preconditions{UID: &a.UID, ResourceVersion: &a.ResourceVersion}
		if err := d.Client.Delete(ctx, a, now); client.IgnoreNotFound(err) != nil {
			return err
		}
		if delete(memory.sent[of], a.Namespace); len(memory.sent[of]) == 0 {
			delete(memory.sent, of)
		}
	}
	return nil
}

// explained says which hubs wait for shares, and which have unused ones.
func explained(of Rollout, accounts []shares.HubShares, now time.Time) (told []string) {
	for i := range accounts {
		if why := shares.Explain(accounts[i].Hub, accounts, now); why != "" {
			told = append(told, fmt.Sprintf("placement %s, %s: %s", of.Placement, accounts[i].Hub, why))
		}
	}
	return told
}

// tell sets the condition of a set if it changed.
func (d *Divider) tell(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, gone bool, told []string, invalid error) error {
	if gone {
		return nil
	}
	condition := metav1.Condition{Type: Divided, Status: metav1.ConditionTrue, Reason: "Divided", ObservedGeneration: set.Generation,
		LastTransitionTime: metav1.NewTime(d.Now()), Message: "no hub waits for shares"}
	const most = 10
	if len(told) > most {
		told = append(told[:most:most], fmt.Sprintf("%d more hubs wait", len(told)-most))
	}
	if len(told) > 0 {
		condition.Reason, condition.Message = "Waiting", strings.Join(told, ". ")
	}
	if invalid != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Invalid", invalid.Error()
	}
	if set = set.DeepCopy(); !meta.SetStatusCondition(&set.Status.Conditions, condition) {
		return nil
	}
	return d.Client.Status().Update(ctx, set)
}

func values(accounts []*Account) []shares.HubShares {
	all := make([]shares.HubShares, len(accounts))
	for i, a := range accounts {
		all[i] = a.account()
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

package hubshares

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// Hub is a hub's side: it plans with the shares that it has taken, and reports their use. A nil Hub shares nothing, and
// plans like rollout.Plan. It is safe for concurrent use, if a set is planned by one worker at a time.
type Hub struct {
	// Name is the hub's name, and its namespace on the coordinator hub.
	Name   string
	Timing shares.Timing
	Now    func() time.Time
	// Client writes to the coordinator hub. Store has this hub's accounts there, and may be stale.
	Client client.Client
	Store  toolscache.Indexer
	// Sets reads the sets of this hub, and may be as stale as the cache that it plans from.
	Sets client.Reader

	wake chan types.NamespacedName

	mu       sync.Mutex
	planned  map[types.NamespacedName]time.Time // the time of the last plan of a set
	rollouts map[string]*reporting              // by account name
}

// reporting is what a process keeps of an account. All of it may be lost.
type reporting struct {
	sent     shares.Report // the last one
	sending  bool          // sent is not answered yet
	again    time.Time     // the time of the retry after an error
	obsolete time.Time     // since when the hub has not the rollout any more; zero if it has it
}

// Begin waits until every report of the process before is stored or lost. The state is listed after that.
func (h *Hub) Begin(ctx context.Context) error {
	if h == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(h.Timing.SlowestWrite):
		return nil
	}
}

// Planner plans a placement like rollout.Plan. Works are those of the set.
type Planner interface {
	Plan(
		ref workv1alpha1.LocalPlacementReference, groups *grouping.Groups, works []*workv1.ManifestWork, reports []status.Report,
		now time.Time, options rollout.Options,
	) (*rollout.Result, error)
}

// Plan plans a placement with the shares of this hub, and writes a report if one is due. The result's RecheckAfter includes
// the time of the next report. Options must have the StoredRecord, which names the version. A rollback needs no shares.
func (h *Hub) Plan(
	by Planner, set *workv1alpha1.ManifestWorkReplicaSet, ref workv1alpha1.LocalPlacementReference,
	groups *grouping.Groups, works []*workv1.ManifestWork, reports []status.Report, now time.Time, options rollout.Options,
) (*rollout.Result, error) {
	if h == nil || !isShared(set) || h.isBack(set, options.StoredRecord.Version) {
		return by.Plan(ref, groups, works, reports, now, options)
	}
	of := Rollout{Namespace: set.Namespace, Name: set.Name, Placement: ref.Name, Version: options.StoredRecord.Version}
	account := kit.Get[Account](h.Store, h.Name, of.object()) // nil before there is one: then no cluster starts
	h.mu.Lock()
	defer h.mu.Unlock()
	asked, r := h.Now(), h.of(of)
	if h.planned == nil {
		h.planned = map[types.NamespacedName]time.Time{}
	}
	if first, ok := h.planned[of.set()]; !ok || asked.Before(first) || ref.Name == set.Spec.PlacementRefs[0].Name {
		h.planned[of.set()] = asked
	}
	may := rollout.Shares{}
	if r.obsolete = (time.Time{}); account != nil {
		may = account.account().May(r.sent, asked, h.Timing)
	}
	options.Shares, ref.RolloutStrategy = &may, shares.Local(ref.RolloutStrategy)
	result, err := by.Plan(ref, groups, works, reports, now, options)
	if err != nil || account == nil {
		return result, err
	}
	h.report(r, account, shares.UseOf(result))
	if after := h.recheck(r, account, asked); after > 0 && (result.RecheckAfter == 0 || after < result.RecheckAfter) {
		result.RecheckAfter = after
	}
	return result, nil
}

// isBack says whether clusters get another version than the set wants: that is a rollback.
func (h *Hub) isBack(set *workv1alpha1.ManifestWorkReplicaSet, version string) bool {
	var stored workv1alpha1.ManifestWorkReplicaSet
	err := h.Sets.Get(context.Background(), client.ObjectKeyFromObject(set), &stored)
	return err == nil && stored.Generation == set.Generation && writes.VersionOf(stored.Spec.ManifestWorkTemplate) != version
}

func (h *Hub) of(r Rollout) *reporting {
	name := r.object()
	if h.rollouts == nil {
		h.rollouts = map[string]*reporting{}
	}
	if h.rollouts[name] == nil {
		h.rollouts[name] = &reporting{}
	}
	return h.rollouts[name]
}

// InTime is for Steps.While: it returns what next returns, or an error once the plan is so old that a start which is sent now
// might not be stored within SlowestWrite. Half of that time is for the list of starts, and half for one of them.
func (h *Hub) InTime(
	set *workv1alpha1.ManifestWorkReplicaSet, next func(*workv1alpha1.ManifestWorkReplicaSet) (metav1.Object, error),
) (metav1.Object, error) {
	if h != nil && isShared(set) {
		h.mu.Lock()
		old := h.Now().Sub(h.planned[client.ObjectKeyFromObject(set)])
		h.mu.Unlock()
		if old >= h.Timing.SlowestWrite/2 {
			return nil, errors.New("the plan is too old: its shares may have expired")
		}
	}
	return next(set)
}

// report writes the report that is due. From now on nothing may start until the account shows it.
func (h *Hub) report(r *reporting, account *Account, use shares.Use) {
	now := h.Now()
	if r.sending || now.Before(r.again) {
		return
	}
	next, must := account.account().Next(r.sent, use, now, h.Timing)
	if !must {
		return
	}
	r.sent, r.sending = next, true
	written := account.deepCopy() // based on the object that was read
	written.Status = next
	go h.write(r, written)
}

// write writes a report in the background, since the network to the coordinator hub may be slow, and enqueues the set.
func (h *Hub) write(r *reporting, account *Account) {
	ctx, cancel := context.WithTimeout(context.Background(), max(time.Second, h.Timing.SlowestWrite))
	defer cancel()
	err := h.Client.Status().Update(ctx, account)
	h.mu.Lock()
	if r.sending = false; err != nil && !apierrors.IsConflict(err) {
		r.again = h.Now().Add(max(h.Timing.Every, pause))
	}
	h.mu.Unlock()
	h.look(account.Spec.Rollout.set())
}

// pause is the time between retries of the coordinator hub's API server.
const pause = 200 * time.Millisecond

// look enqueues a set, unless very many are enqueued: then each is reconciled soon anyway.
func (h *Hub) look(set types.NamespacedName) {
	select {
	case h.wake <- set:
	default:
	}
}

// recheck returns when the shares expire or a report is due; 0 if neither.
func (h *Hub) recheck(r *reporting, account *Account, now time.Time) (soonest time.Duration) {
	for _, at := range []time.Time{
		account.Spec.Grant.Expires.Add(-h.Timing.ClockError - h.Timing.SlowestWrite),
		account.Status.Time.Add(h.Timing.Every), // a change that came too soon after the last report
		r.again,
	} {
		if after := at.Sub(now); after > 0 && (soonest == 0 || after < soonest) {
			soonest = after
		}
	}
	return soonest
}

// sweep returns the shares of rollouts that this hub does not have any more, once no write of them can be in transit.
func (h *Hub) sweep(ctx context.Context) {
	accounts := map[string]bool{}
	for _, o := range h.Store.List() {
		a := o.(*Account)
		accounts[a.Name] = true
		is, err := h.has(ctx, a.Spec.Rollout)
		if err != nil {
			continue // another time
		}
		h.mu.Lock()
		r := h.of(a.Spec.Rollout)
		switch {
		case is:
			r.obsolete = time.Time{}
		case r.obsolete.IsZero():
			r.obsolete = h.Now()
		case h.Now().Sub(r.obsolete) > h.Timing.SlowestWrite:
			h.report(r, a, shares.Use{})
		}
		h.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, r := range h.rollouts {
		if !accounts[name] && !r.sending {
			delete(h.rollouts, name)
		}
	}
}

// has says whether this hub has a rollout.
func (h *Hub) has(ctx context.Context, r Rollout) (bool, error) {
	var set workv1alpha1.ManifestWorkReplicaSet
	err := h.Sets.Get(ctx, r.set(), &set)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil || !isShared(&set) || writes.VersionOf(set.Spec.ManifestWorkTemplate) != r.Version {
		return false, err
	}
	for _, ref := range set.Spec.PlacementRefs {
		if ref.Name == r.Placement {
			return true, nil
		}
	}
	return false, nil
}

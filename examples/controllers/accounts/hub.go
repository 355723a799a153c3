package accounts

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
	"github.com/cohort-ocm/cohort/rollout/rights"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// Hub is a hub's side: what it plans by the rights that it has taken, and what it reports. A nil Hub shares nothing, and plans as
// rollout.Plan does. It is safe for concurrent use, where one set is planned by one worker at a time.
type Hub struct {
	// Name is its name, and that of its namespace on the hub of hubs.
	Name   string
	Timing rights.Timing
	// Now is the hub's clock.
	Now func() time.Time
	// Client writes to the hub of hubs, and Store shows this hub's accounts there, which may be old.
	Client client.Client
	Store  toolscache.Indexer
	// Sets reads the sets of this hub, which may be as old as what it plans from.
	Sets client.Reader

	wake chan types.NamespacedName

	mu       sync.Mutex
	planned  map[types.NamespacedName]time.Time // when the last plan of a set asked what it may
	rollouts map[string]*reporting              // by the name of the account
}

// reporting is what a process keeps of an account. All of it may be lost.
type reporting struct {
	sent     rights.Report // last
	sending  bool          // and not answered yet
	again    time.Time     // when to write again after an error
	obsolete time.Time     // when the hub lost the rollout; zero if it has it
}

// Begin waits until what the process before this one sent has been stored, or never will be. What counts is listed after it.
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

// Planner plans a placement as rollout.Plan does. Works are those of the set.
type Planner interface {
	Plan(
		ref workv1alpha1.LocalPlacementReference, groups *grouping.Groups, works []*workv1.ManifestWork, reports []status.Report,
		now time.Time, options rollout.Options,
	) (*rollout.Result, error)
}

// Plan has a placement planned with the rights of this hub. It has a report written if one is due, and the result's RecheckAfter says
// when to look again for that. Options must have the Memory, which names the version. A version that is taken back needs no right on
// its way.
func (h *Hub) Plan(
	by Planner, set *workv1alpha1.ManifestWorkReplicaSet, ref workv1alpha1.LocalPlacementReference,
	groups *grouping.Groups, works []*workv1.ManifestWork, reports []status.Report, now time.Time, options rollout.Options,
) (*rollout.Result, error) {
	if h == nil || !isShared(set) || h.isBack(set, options.Memory.Version) {
		return by.Plan(ref, groups, works, reports, now, options)
	}
	of := Rollout{Namespace: set.Namespace, Name: set.Name, Placement: ref.Name, Version: options.Memory.Version}
	account := kit.Get[Account](h.Store, h.Name, of.object()) // nil, with which nobody starts, before there is one
	h.mu.Lock()
	defer h.mu.Unlock()
	asked, r := h.Now(), h.of(of)
	if h.planned == nil {
		h.planned = map[types.NamespacedName]time.Time{}
	}
	if first, ok := h.planned[of.set()]; !ok || asked.Before(first) || ref.Name == set.Spec.PlacementRefs[0].Name {
		h.planned[of.set()] = asked
	}
	may := rollout.Rights{}
	if r.obsolete = (time.Time{}); account != nil {
		may = account.account().May(r.sent, asked, h.Timing)
	}
	options.Rights, ref.RolloutStrategy = &may, rights.Local(ref.RolloutStrategy)
	result, err := by.Plan(ref, groups, works, reports, now, options)
	if err != nil || account == nil {
		return result, err
	}
	h.report(r, account, rights.UseOf(result))
	if after := h.recheck(r, account, asked); after > 0 && (result.RecheckAfter == 0 || after < result.RecheckAfter) {
		result.RecheckAfter = after
	}
	return result, nil
}

// isBack says whether clusters get another version than the set wants: the one before.
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

// InTime is what steps of a set are carried out by: with the set as next gives it, as long as the plan is so young that a start which is
// sent now is stored within SlowestWrite. Half of that is for the list of starts, and half for one of them.
func (h *Hub) InTime(
	set *workv1alpha1.ManifestWorkReplicaSet, next func(*workv1alpha1.ManifestWorkReplicaSet) (metav1.Object, error),
) (metav1.Object, error) {
	if h != nil && isShared(set) {
		h.mu.Lock()
		old := h.Now().Sub(h.planned[client.ObjectKeyFromObject(set)])
		h.mu.Unlock()
		if old >= h.Timing.SlowestWrite/2 {
			return nil, errors.New("the rights of the plan may be gone")
		}
	}
	return next(set)
}

// report has the report written that is due. From now on nothing may start until the account shows it.
func (h *Hub) report(r *reporting, account *Account, use rights.Use) {
	now := h.Now()
	if r.sending || now.Before(r.again) {
		return
	}
	next, must := account.account().Next(r.sent, use, now, h.Timing)
	if !must {
		return
	}
	r.sent, r.sending = next, true
	written := account.deepCopy() // on top of what was read
	written.Status = next
	go h.write(r, written)
}

// write writes a report, and has the set looked at again. The network to the hub of hubs may be slow, and nothing on this hub waits for it.
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

// pause is how long an API server is left alone after an error.
const pause = 200 * time.Millisecond

// look has a set looked at, unless very many are to be already: then each is looked at soon, anyway.
func (h *Hub) look(set types.NamespacedName) {
	select {
	case h.wake <- set:
	default:
	}
}

// recheck says after how long the rights end, or something is to be written; 0 if nothing will.
func (h *Hub) recheck(r *reporting, account *Account, now time.Time) (soonest time.Duration) {
	for _, at := range []time.Time{
		account.Spec.Grant.Expires.Add(-h.Timing.ClockError - h.Timing.SlowestWrite),
		account.Status.Time.Add(h.Timing.Every), // for what the last report was too young
		r.again,
	} {
		if after := at.Sub(now); after > 0 && (soonest == 0 || after < soonest) {
			soonest = after
		}
	}
	return soonest
}

// sweep gives back the rights of rollouts that this hub does not have any more, once nothing of them can be on its way.
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
			h.report(r, a, rights.Use{})
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

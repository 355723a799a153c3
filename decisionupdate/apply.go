package decisionupdate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Client writes the PlacementDecisions of one namespace. The client that OCM generates satisfies it:
// ClusterV1beta1().PlacementDecisions(namespace). It must be safe for concurrent use if writes run in parallel.
type Client interface {
	Create(ctx context.Context, pd *clusterv1beta1.PlacementDecision, opts metav1.CreateOptions) (*clusterv1beta1.PlacementDecision, error)
	Update(ctx context.Context, pd *clusterv1beta1.PlacementDecision, opts metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error)
	UpdateStatus(ctx context.Context, pd *clusterv1beta1.PlacementDecision, opts metav1.UpdateOptions) (*clusterv1beta1.PlacementDecision, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*clusterv1beta1.PlacementDecision, error)
}

// Applier carries plans out. It has no state: it may be copied, and used by several goroutines for different
// placements.
type Applier struct {
	// Client writes to the namespace of the placement.
	Client Client

	// Parallel is how many writes of a step run at the same time. Up to 1, the zero value among them, they run
	// one after the other.
	Parallel int
}

// Report says what an Applier has done (D11), for events and metrics. Names are in the order of the plan. A
// write counts when all its parts are written.
type Report struct {
	Created []string
	Surged  []string
	Updated []string
	Deleted []string

	// Retried is the number of requests that were repeated after a conflict.
	Retried int

	// Stored holds each object that was created or updated, completely or in part, as the API server returned
	// it last, sorted by name. If there was no error, a lister that has these resourceVersions, or later ones, and
	// none of the Deleted is fresh enough for the next plan. After an error it may not be: an answer that was
	// lost isn't in here.
	Stored []*clusterv1beta1.PlacementDecision
}

// String returns the number of objects of each kind, as in "created 1, surged 0, updated 3, deleted 1, retried
// 0".
func (r Report) String() string {
	return fmt.Sprintf("created %d, surged %d, updated %d, deleted %d, retried %d",
		len(r.Created), len(r.Surged), len(r.Updated), len(r.Deleted), r.Retried)
}

// PlanAgainError says that a stored object is no longer what was planned from, so that the rest of the plan
// must not be carried out. List the stored objects and plan again. If an API server's answer brought it to
// light, it is wrapped.
type PlanAgainError struct {
	Object string // name of the PlacementDecision
	Reason string // what was found
	Err    error  // the API server's answer that brought it to light
}

// Error returns what was found and what to do.
func (e *PlanAgainError) Error() string {
	return fmt.Sprintf("stored PlacementDecision %s is not what was planned from, plan again: %s", e.Object, e.Reason)
}

// Unwrap returns the API server's answer.
func (e *PlanAgainError) Unwrap() error { return e.Err }

// Apply carries out a plan: all writes of a step, then the next step (D1, D10). It returns when no request is
// under way. The plan isn't modified.
//
// If a write fails, the others of its step are still tried and those of later steps are not. The error joins
// one error for each failed write, with the verb and the object's name; apierrors and errors.As see through it.
// Whatever the error, plan again from what is stored (D8). It holds a [PlanAgainError] where that is the only
// way on: an object was changed, created or deleted by somebody else.
//
// An update or delete carries the resourceVersion that was planned from. After a conflict the object is read
// again, and if its clusters, its labels that matter and its UID are unchanged, the request is repeated, five
// times at most. A delete of an object that isn't there has succeeded. When the context is done, no more
// requests are made and its error is returned. An Applier without a Client makes none and returns an error.
func (a Applier) Apply(ctx context.Context, plan Plan) (Report, error) {
	if a.Client == nil && len(plan.Steps) > 0 {
		return Report{}, errors.New("applying a plan: the Applier has no Client, want one for the namespace of the placement")
	}
	run := &run{client: a.Client, current: make(map[string]*clusterv1beta1.PlacementDecision)}
	for _, step := range plan.Steps {
		if err := run.step(ctx, step, max(a.Parallel, 1)); err != nil {
			return run.result(), err
		}
	}
	return run.result(), nil
}

// run is one application of a plan.
type run struct {
	client Client

	mu      sync.Mutex
	current map[string]*clusterv1beta1.PlacementDecision // by name: as the API server returned it last
	report  Report
}

// step tries all writes, as long as the context isn't done, and reports those that have succeeded in the order
// of the step.
func (r *run) step(ctx context.Context, step Step, parallel int) error {
	errs := make([]error, len(step))
	done := make([]bool, len(step))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, w := range step {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := r.write(ctx, w); err != nil {
				errs[i] = fmt.Errorf("%s PlacementDecision %s: %w", w.Verb, w.Name(), err)
				return nil
			}
			done[i] = true
			return nil
		})
	}
	stopped := group.Wait()
	for i, w := range step {
		if done[i] {
			r.report.add(w)
		}
	}
	return errors.Join(append(errs, stopped)...)
}

func (r *Report) add(w Write) {
	names := &r.Updated
	switch {
	case w.Verb == Create:
		names = &r.Created
	case w.Verb == Delete:
		names = &r.Deleted
	case w.Surge:
		names = &r.Surged
	}
	*names = append(*names, w.Name())
}

func (r *run) result() Report {
	r.report.Stored = slices.SortedFunc(maps.Values(r.current), func(a, b *clusterv1beta1.PlacementDecision) int {
		return strings.Compare(a.Name, b.Name)
	})
	return r.report
}

func (r *run) remember(pd *clusterv1beta1.PlacementDecision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current[pd.Name] = pd
}

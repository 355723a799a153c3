// SPDX-License-Identifier: Apache-2.0

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

// Applier carries updates out. It has no state: it may be copied, and used by several goroutines for different
// placements.
type Applier struct {
	// Client writes to the namespace of the placement.
	Client Client

	// Parallel is how many writes of a step run at the same time. With 1 or less, also with the zero value, they run
	// one after the other.
	Parallel int
}

// StaleError says that a stored object is no longer what the update was made from, so the rest of the update must not be
// carried out. List the stored objects and begin again. Where Taken is set, that alone doesn't help.
type StaleError struct {
	Object string // name of the PlacementDecision
	Found  string // what was found

	// Taken is an object that has a name which the update needs, and is not of the placement. It stays until its owner deletes it. Give
	// it to Groups.Decisions of package grouping with the stored ones, which then takes another name, and warn. Where the list has all objects
	// of the namespace, it is among them. It is nil if the list is only behind.
	Taken *clusterv1beta1.PlacementDecision

	Err error // the API server's answer that showed it, if any
}

// Error returns what was found and what to do.
func (e *StaleError) Error() string {
	then := "list again"
	if e.Taken != nil {
		then = "take another name"
	}
	return fmt.Sprintf("stored PlacementDecision %s is not what the update was made from: %s; %s", e.Object, e.Found, then)
}

// Unwrap returns the API server's answer.
func (e *StaleError) Unwrap() error { return e.Err }

// Apply carries out an update: all writes of a step, then the next step. It returns when none of its requests waits for
// an answer. The update isn't modified.
//
// If a write fails, the others of its step are still tried, and no later step begins. The error joins one error for
// each failed write, with the verb and the object's name; apierrors and errors.As see through it. After any error, go
// on from what is stored then. After a [StaleError] there is no other way: another writer changed, created or deleted an
// object. The outcome says what was done, also with an error.
//
// An update or delete carries the resourceVersion that was stored. After a conflict the object is read
// again, and if its clusters, its labels that matter and its UID are unchanged, the request is repeated, five
// times at most. A delete of an object that isn't there has succeeded. When the context is done, no more
// requests are made and its error is returned. An Applier without a Client makes none and returns an error.
func (a Applier) Apply(ctx context.Context, update Update) (Outcome, error) {
	if a.Client == nil && len(update.Steps) > 0 {
		return Outcome{}, errors.New("the Applier must have a Client for the namespace of the placement")
	}
	run := &run{client: a.Client, current: make(map[string]*clusterv1beta1.PlacementDecision)}
	for _, step := range update.Steps {
		if err := run.step(ctx, step, max(a.Parallel, 1)); err != nil {
			return run.result(), err
		}
	}
	return run.result(), nil
}

// run is one application of an update.
type run struct {
	client Client

	mu      sync.Mutex
	current map[string]*clusterv1beta1.PlacementDecision // by name: as the API server returned it last
	outcome Outcome
}

// step tries all writes while the context isn't done, and notes the writes that were begun, in the order of the step.
func (r *run) step(ctx context.Context, step Step, parallel int) error {
	errs := make([]error, len(step))
	begun := make([]Written, len(step))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, write := range step {
		begun[i].Write = write
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := r.write(ctx, &begun[i]); err != nil {
				errs[i] = fmt.Errorf("%s PlacementDecision %s: %w", write.Verb, write.Name(), err)
			}
			return nil
		})
	}
	stopped := group.Wait()
	for _, written := range begun {
		if written.Complete || written.Unknown || len(written.Done) > 0 {
			r.outcome.Writes = append(r.outcome.Writes, written)
		}
	}
	return errors.Join(append(errs, stopped)...)
}

func (r *run) result() Outcome {
	r.outcome.Stored = slices.SortedFunc(maps.Values(r.current), func(a, b *clusterv1beta1.PlacementDecision) int {
		return strings.Compare(a.Name, b.Name)
	})
	return r.outcome
}

// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Start runs a manager until the context ends, and returns soon after. A manager whose context ends while its caches are
// still empty, such as with an unreachable API server, would never return, and would use a whole core meanwhile
// (kubernetes-sigs/controller-runtime#3440). Start abandons such a manager, which ends once its caches are filled.
func Start(ctx context.Context, m ctrl.Manager) error {
	begun, done := make(chan struct{}), make(chan error, 1)
	if err := m.Add(beginning(begun)); err != nil {
		return err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer end()
		done <- m.Start(life)
	}()
	stop := func() { // stops the manager once it has begun
		select {
		case <-begun:
			end()
		case <-life.Done():
		}
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	go stop()
	select {
	case <-begun:
		return <-done
	case err := <-done:
		return err
	default:
		return nil
	}
}

// beginning is closed once the caches are filled.
type beginning chan struct{}

var _ manager.LeaderElectionRunnable = beginning(nil)

// Start says that the caches are filled.
func (b beginning) Start(context.Context) error {
	close(b)
	return nil
}

// NeedLeaderElection is false: it does not wait for the lease.
func (b beginning) NeedLeaderElection() bool { return false }

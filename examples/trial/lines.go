// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"slices"
	"sync"
	"time"
)

// lines are the connections of agents to the hub. An agent on a cut line reads and writes nothing, as one that is dead.
// The zero value has all lines whole.
type lines struct {
	mu  sync.Mutex
	cut map[string]severed // by cluster
}

// severed is a line that is cut.
type severed struct {
	since  time.Time
	mended chan struct{} // closed when it is whole again
}

// sever cuts a cluster's line.
func (l *lines) sever(cluster string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut == nil {
		l.cut = map[string]severed{}
	}
	if _, is := l.cut[cluster]; !is {
		l.cut[cluster] = severed{time.Now(), make(chan struct{})}
	}
}

// mend makes clusters' lines whole.
func (l *lines) mend(clusters ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range clusters {
		if s, is := l.cut[c]; is {
			close(s.mended)
			delete(l.cut, c)
		}
	}
}

// await waits until a cluster's line is whole, and says whether it is.
func (l *lines) await(ctx context.Context, cluster string) bool {
	l.mu.Lock()
	s, is := l.cut[cluster]
	l.mu.Unlock()
	if is {
		select {
		case <-ctx.Done():
		case <-s.mended:
		}
	}
	return ctx.Err() == nil
}

// severed lists the clusters with a line that is cut for as long as a lease, or longer.
func (l *lines) severed(lease time.Duration) (clusters []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c, s := range l.cut {
		if time.Since(s.since) >= lease {
			clusters = append(clusters, c)
		}
	}
	slices.Sort(clusters)
	return clusters
}

// keepLeases calls changed with the clusters that are unreachable, each time others are: those with an agent that has not renewed
// its lease, as OCM's taint says. It returns when the context ends, or with an error of changed.
func (l *lines) keepLeases(ctx context.Context, lease time.Duration, changed func(unreachable []string) error) error {
	var before []string
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if now := l.severed(lease); !slices.Equal(now, before) {
			if err := changed(now); err != nil && ctx.Err() == nil {
				return err
			}
			before = now
		}
	}
	return nil
}

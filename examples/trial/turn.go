// SPDX-License-Identifier: Apache-2.0

package trial

import "sync"

// turn is a mutex that may be held while its holder sleeps or waits for the network. In virtual time a goroutine that waits for it lets time pass, which one that
// waits for a sync.Mutex does not.
type turn struct {
	once sync.Once
	free chan struct{}
}

func (t *turn) Lock() {
	t.once.Do(func() { t.free = make(chan struct{}, 1) })
	t.free <- struct{}{}
}

func (t *turn) Unlock() { <-t.free }

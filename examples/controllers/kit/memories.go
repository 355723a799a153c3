// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Memories is what a controller keeps of each object between reconciles. All of it may be lost at any time: what must last
// is stored in objects. Nothing in an M is locked, since an object is reconciled by one worker at a time. The zero value is
// ready to use.
type Memories[M any] struct {
	mu sync.Mutex
	of map[types.NamespacedName]*M
}

// Of is the state of an object, at first a zero M.
func (m *Memories[M]) Of(key types.NamespacedName) *M {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[key] == nil {
		if m.of == nil {
			m.of = make(map[types.NamespacedName]*M)
		}
		m.of[key] = new(M)
	}
	return m.of[key]
}

// Forget drops the state of an object.
func (m *Memories[M]) Forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, key)
}

// Once runs a function until it succeeds, and then never again. The zero value is ready to use.
type Once struct {
	mu   sync.Mutex
	done bool
}

// Do runs the function, unless it has succeeded. Concurrent callers wait.
func (o *Once) Do(do func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return nil
	}
	err := do()
	o.done = err == nil
	return err
}

// Skip marks the function as done.
func (o *Once) Skip() { o.done = true }

// Len is the number of objects with a state.
func (m *Memories[M]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.of)
}

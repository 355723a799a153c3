package kit

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Memories is what a controller keeps of each object from one reconcile to the next. All of it may be lost at any time: what must
// last stands in the objects. An object is reconciled by one worker at a time, so nothing in an M is locked. The zero value is ready to use.
type Memories[M any] struct {
	mu sync.Mutex
	of map[types.NamespacedName]*M
}

// Of is what is kept of an object, at first a zero M.
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

// Forget drops it.
func (m *Memories[M]) Forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, key)
}

// Once runs a function until it succeeds, and never again. The zero value is ready to use.
type Once struct {
	mu   sync.Mutex
	done bool
}

// Do runs the function, unless it has succeeded. Others wait.
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

// Skip has Do do nothing.
func (o *Once) Skip() { o.done = true }

// Len is of how many objects something is kept.
func (m *Memories[M]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.of)
}

package placer

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// memory is what is kept of an owner from one look to the next. All of it may be lost at any time: what has to last stands in the
// objects. An owner is looked at by one worker at a time, so nothing in it is locked.
type memory struct {
	stored   writes.Own[client.Object]        // own writes of the owner
	written  writes.Own[*workv1.ManifestWork] // and of its ManifestWorks
	groups   placementGroups                  // as they were read last
	result   *rollout.Result                  // of the look before
	pace     writes.Pace
	absent   map[string]bool         // deselected clusters of which the API server said that they have no ManagedCluster
	former   []types.UID             // earlier owners of the name of which the API server said that they are gone
	foreign  map[writes.Foreign]bool // of which people were told
	invalid  string                  // what people were told is wrong with the owner
	mistaken string                  // and with its approvals
	refused  string                  // and what the API server refuses
	uid      types.UID               // of the owner that all this is about
}

// begin drops what is kept of an earlier owner of the same name, but for own writes.
func (m *memory) begin(uid types.UID) {
	if m.uid != uid {
		*m = memory{uid: uid, stored: m.stored, written: m.written}
	}
}

// memories are those of all owners. They also say which owners an event concerns. The zero value is ready to use.
type memories struct {
	mu sync.Mutex
	of map[types.NamespacedName]*remembered
}

// remembered is a memory, and by what its owner is found.
type remembered struct {
	memory     memory
	found      *found // until the worker of the owner takes it: another worker may have asked for it
	hash       string
	placement  types.NamespacedName
	deselected []string // the clusters that are not selected any more, and count or are ignored
}

// get is what is kept of an owner, at first nothing.
func (m *memories) get(owner types.NamespacedName, hash string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &m.entry(owner, hash).memory
}

// entry is that of an owner. The caller holds mu.
func (m *memories) entry(owner types.NamespacedName, hash string) *remembered {
	if m.of == nil {
		m.of = make(map[types.NamespacedName]*remembered)
	}
	if m.of[owner] == nil {
		m.of[owner] = &remembered{hash: hash}
	}
	return m.of[owner]
}

// found notes for the worker of an owner what there was of it when the process began.
func (m *memories) found(owner types.NamespacedName, hash string, f *found) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry(owner, hash).found = f
}

// takeFound gives that once, to the worker of the owner.
func (m *memories) takeFound(owner types.NamespacedName) *found {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.of[owner]
	if kept == nil {
		return nil
	}
	f := kept.found
	kept.found = nil
	return f
}

// forget drops all that is kept of an owner.
func (m *memories) forget(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, owner)
}

// follow notes the placement of an owner. Call it before the placement is read: whatever changes later is an event then.
func (m *memories) follow(owner, placement types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept := m.of[owner]; kept != nil {
		kept.placement = placement
	}
}

// wait notes the clusters of an owner whose ManagedCluster may be deleted.
func (m *memories) wait(owner types.NamespacedName, deselected []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept := m.of[owner]; kept != nil {
		kept.deselected = deselected
	}
}

// following are the owners that follow a placement.
func (m *memories) following(placement types.NamespacedName) []types.NamespacedName {
	return m.owners(func(kept *remembered) bool { return kept.placement == placement })
}

// waitingFor are the owners for which a cluster that is not selected counts.
func (m *memories) waitingFor(cluster string) []types.NamespacedName {
	return m.owners(func(kept *remembered) bool { return slices.Contains(kept.deselected, cluster) })
}

// withHash are the owners with a hash: one, or none.
func (m *memories) withHash(hash string) []types.NamespacedName {
	return m.owners(func(kept *remembered) bool { return kept.hash == hash })
}

func (m *memories) owners(are func(*remembered) bool) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	var owners []types.NamespacedName
	for owner, kept := range m.of {
		if are(kept) {
			owners = append(owners, owner)
		}
	}
	return owners
}

// SPDX-License-Identifier: Apache-2.0

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

// ownerState is what is kept of an owner between reconciles. All of it may be lost at any time: what has to last is stored in
// objects. Nothing in it is locked, since an owner is reconciled by one worker at a time.
type ownerState struct {
	stored   writes.Own[client.Object]        // writes to the owner
	written  writes.Own[*workv1.ManifestWork] // writes to its ManifestWorks
	groups   ownerGroups                      // as they were read last
	results  map[string]*rollout.Result       // of the reconcile before, by Placement; nil before the first
	refusals writes.Refusals                  // of writes to its ManifestWorks
	pace     writes.Pace
	absent   map[string]bool         // deselected clusters without a ManagedCluster, by a live read
	former   []types.UID             // deleted owners of the same name, by a live read
	foreign  map[writes.Foreign]bool // those that an event told
	invalid  string                  // what the last event said is wrong with the owner
	mistaken string                  // what the last event said is wrong with its approvals
	refused  string                  // what the last event said the API server rejects
	uid      types.UID               // of the owner
}

// begin drops what is kept of an earlier owner of the same name, except its writes.
func (state *ownerState) begin(uid types.UID) {
	if state.uid != uid {
		*state = ownerState{uid: uid, stored: state.stored, written: state.written}
	}
}

// keep keeps the results of a reconcile for the next one.
func (state *ownerState) keep(progress Progress) {
	state.results = make(map[string]*rollout.Result, len(progress.Placements))
	for _, placed := range progress.Placements {
		state.results[placed.Name] = placed.Result
	}
}

// ownerStates are those of all owners. They map events to owners. The zero value is ready to use.
type ownerStates struct {
	mu sync.Mutex
	of map[types.NamespacedName]*ownerEntry
}

// ownerEntry is the state of an owner, with the keys by which events find the owner.
type ownerEntry struct {
	state      ownerState
	initial    *initialState // until the worker of the owner takes it: any worker may have listed it
	hash       string
	placements []types.NamespacedName
	deselected []string // deselected clusters, which count or are ignored
}

// get is the state of an owner, at first empty.
func (states *ownerStates) get(owner types.NamespacedName, hash string) *ownerState {
	states.mu.Lock()
	defer states.mu.Unlock()
	return &states.entry(owner, hash).state
}

// entry is the entry of an owner. The caller holds mu.
func (states *ownerStates) entry(owner types.NamespacedName, hash string) *ownerEntry {
	if states.of == nil {
		states.of = make(map[types.NamespacedName]*ownerEntry)
	}
	if states.of[owner] == nil {
		states.of[owner] = &ownerEntry{hash: hash}
	}
	return states.of[owner]
}

// setInitial keeps what the hub had of an owner when the process began, for the worker of that owner.
func (states *ownerStates) setInitial(owner types.NamespacedName, hash string, initial *initialState) {
	states.mu.Lock()
	defer states.mu.Unlock()
	states.entry(owner, hash).initial = initial
}

// takeInitial returns that once, to the worker of the owner.
func (states *ownerStates) takeInitial(owner types.NamespacedName) *initialState {
	states.mu.Lock()
	defer states.mu.Unlock()
	known := states.of[owner]
	if known == nil {
		return nil
	}
	initial := known.initial
	known.initial = nil
	return initial
}

func (states *ownerStates) forget(owner types.NamespacedName) {
	states.mu.Lock()
	defer states.mu.Unlock()
	delete(states.of, owner)
}

// follow sets the Placements of an owner. Call it before they are read, so that any later change finds the owner.
func (states *ownerStates) follow(owner types.NamespacedName, placements []Placement) {
	followed := make([]types.NamespacedName, len(placements))
	for i, placement := range placements {
		followed[i] = types.NamespacedName{Namespace: owner.Namespace, Name: placement.Name}
	}
	states.mu.Lock()
	defer states.mu.Unlock()
	if known := states.of[owner]; known != nil {
		known.placements = followed
	}
}

// wait sets the deselected clusters of an owner, whose ManagedClusters may be deleted.
func (states *ownerStates) wait(owner types.NamespacedName, deselected []string) {
	states.mu.Lock()
	defer states.mu.Unlock()
	if known := states.of[owner]; known != nil {
		known.deselected = deselected
	}
}

func (states *ownerStates) following(placement types.NamespacedName) []types.NamespacedName {
	return states.owners(func(known *ownerEntry) bool { return slices.Contains(known.placements, placement) })
}

// waitingFor are the owners of which a cluster is deselected.
func (states *ownerStates) waitingFor(cluster string) []types.NamespacedName {
	return states.owners(func(known *ownerEntry) bool { return slices.Contains(known.deselected, cluster) })
}

func (states *ownerStates) withHash(hash string) []types.NamespacedName {
	return states.owners(func(known *ownerEntry) bool { return known.hash == hash })
}

func (states *ownerStates) owners(are func(*ownerEntry) bool) []types.NamespacedName {
	states.mu.Lock()
	defer states.mu.Unlock()
	var owners []types.NamespacedName
	for owner, known := range states.of {
		if are(known) {
			owners = append(owners, owner)
		}
	}
	return owners
}

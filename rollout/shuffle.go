// SPDX-License-Identifier: Apache-2.0

package rollout

import "cmp"

// Shuffled gives an order for [Options].Order that a seed mixes up, so that it is not always the same clusters that get a new version
// first. Give the version as the seed: the order is then another one for each version, and the same for all plans of a version,
// whatever joins or leaves. It is the same in every release and on every machine.
//
// It is an order within a stage and a group, as any Order is. Names with the same hash, which is of 64 bits, are in their own order.
func Shuffled(seed string) func(a, b string) int {
	start := mixed(14695981039346656037, seed)
	return func(a, b string) int {
		return cmp.Compare(spread(mixed(start, a)), spread(mixed(start, b)))
	}
}

// mixed adds a text to a hash, as FNV-1a does.
func mixed(hash uint64, text string) uint64 {
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 1099511628211
	}
	return hash
}

// spread lets each bit of a hash depend on all others, as names often differ in the last byte alone.
func spread(hash uint64) uint64 {
	hash = (hash ^ hash>>30) * 0xbf58476d1ce4e5b9
	hash = (hash ^ hash>>27) * 0x94d049bb133111eb
	return hash ^ hash>>31
}

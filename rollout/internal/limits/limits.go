// SPDX-License-Identifier: Apache-2.0

// Package limits says how many clusters of a rollout may start. Each limit is a file and a value. A limit on a number knows numbers alone:
// how many may, how many do, and for what else it counts. The caller takes the least:
//
//	left := limits.All()
//	left[limits.KindRamp] = limits.Ramp{Initial: 2, Soaked: 5, Used: 3}.Left()
//	left[limits.KindShares] = limits.Shares{Most: 4, Used: 3}.Left()
//	kind, n := left.Least() // KindShares, 1
//	left.Take(n)            // and the next stage has what is left
//
// A new limit is a kind here, a file with its value, and a place where the caller sets what it leaves. [Gates] block groups, whatever starts.
package limits

import "math"

// Kind tells limits apart. Where several limits let as few clusters start, the first kind is the reason (R36).
type Kind uint8

const (
	KindNone        Kind = iota // nothing limits
	KindShares                  // R57
	KindConcurrency             // R11, R24
	KindPlaces                  // R65
	KindExposure                // R66
	KindRamp                    // R35
	KindStarts                  // R36
	NumKinds
)

// Unlimited is what is left where nothing limits.
const Unlimited = math.MaxInt

// Left has for each kind how many more clusters may start. KindNone lets any number.
type Left [NumKinds]int

// All lets any number start.
func All() (left Left) {
	for kind := range left {
		left[kind] = Unlimited
	}
	return left
}

// Least gives the limit that lets the fewest start, and how many. Where nothing limits, it is KindNone, and Unlimited.
func (l *Left) Least() (Kind, int) {
	least := KindNone
	for kind := range NumKinds {
		if l[kind] < l[least] {
			least = kind
		}
	}
	return least, l[least]
}

// Take takes off what starts.
func (l *Left) Take(n int) {
	for kind := range l {
		if l[kind] != Unlimited {
			l[kind] -= n
		}
	}
}

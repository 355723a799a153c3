// SPDX-License-Identifier: Apache-2.0

// Package ready waits for one of several things in an order of its own. Where several cases of a select are ready, the runtime draws which is taken,
// and a world in virtual time would have several histories: much happens there at the same instant.
package ready

import "context"

// First waits until a context has ended or a channel has something. It takes from one of them, and returns its place: 0 is the context, and of
// those that are ready the first is taken.
func First[A, B, C any](ctx context.Context, first <-chan A, second <-chan B, third <-chan C) (place int, a A, b B, c C) {
	select {
	case <-ctx.Done():
		return 0, a, b, c
	default:
	}
	select {
	case a = <-first:
		return 1, a, b, c
	default:
	}
	select {
	case b = <-second:
		return 2, a, b, c
	default:
	}
	select {
	case c = <-third:
		return 3, a, b, c
	default:
	}
	select { // none is ready
	case <-ctx.Done():
	case a = <-first:
		place = 1
	case b = <-second:
		place = 2
	case c = <-third:
		place = 3
	}
	return place, a, b, c
}

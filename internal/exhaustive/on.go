// SPDX-License-Identifier: Apache-2.0

//go:build exhaustive && !whole

package exhaustive

// On says that the tests run more than the inner loop does, and Whole that they run all.
const (
	On    = true
	Whole = false
)

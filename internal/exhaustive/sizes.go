// SPDX-License-Identifier: Apache-2.0

package exhaustive

import (
	"slices"
	"testing"
)

// Sizes gives what a benchmark sweeps. With -short, where it is only shown that benchmarks run, these are those up to 1,000.
func Sizes(all ...int) []int {
	if testing.Short() {
		all = slices.DeleteFunc(all, func(n int) bool { return n > 1_000 })
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

//go:build !race

package exhaustive

// Raced says that the race detector looks on. It has nothing to find in small worlds, and makes them ten times as slow.
const Raced = false

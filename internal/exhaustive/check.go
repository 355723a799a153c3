// SPDX-License-Identifier: Apache-2.0

package exhaustive

import (
	"testing"

	"pgregory.net/rapid"
)

// Check checks a law on random cases, other ones in each round. Told a seed, as CI does, rapid.Check draws the same cases each time
// that it is called. So a round first passes over as many numbers as rounds came before it.
func Check(t *testing.T, round int, law func(*rapid.T)) {
	rapid.Check(t, func(t *rapid.T) {
		for range round {
			rapid.Bool().Draw(t, "passed over")
		}
		law(t)
	})
}

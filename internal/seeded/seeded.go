// SPDX-License-Identifier: Apache-2.0

// Package seeded lets the environment say where the random properties of a package's tests begin. A test imports it for that alone.
//
// With SEED=42, as .ci/run sets it, each run of one checkout has the same cases, so that a verdict does not change from run to run.
// Without SEED each run draws other cases. The flag -rapid.seed is stronger than both.
package seeded

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	_ "pgregory.net/rapid" // it defines the flag
)

func init() {
	seed := os.Getenv("SEED")
	if seed == "" {
		return
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic(fmt.Sprintf("SEED=%q: want a whole number: %v", seed, err))
	}
}

// Seed is where random cases begin that are drawn without rapid: the number that the environment or the flag says, or else one
// by lot.
var Seed = sync.OnceValue(func() uint64 {
	if seed := flag.Lookup("rapid.seed").Value.(flag.Getter).Get().(uint64); seed != 0 {
		return seed
	}
	return rand.Uint64()
})

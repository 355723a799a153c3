// Package seeded lets the environment say where the random properties of a package's tests begin. A test imports it for that alone.
//
// With SEED=42, as .ci/run sets it, each run of one checkout has the same cases, so that a verdict does not change from run to run.
// Without SEED each run draws other cases. The flag -rapid.seed is stronger than both.
package seeded

import (
	"flag"
	"fmt"
	"os"

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

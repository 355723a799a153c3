// SPDX-License-Identifier: Apache-2.0

package exhaustive

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Main runs the tests of a package with more room for garbage than programs have. Small worlds become garbage by the
// million, and collecting them took a third of the time. Benchmarks run with the room that programs have. Under the race detector
// a property draws a fifth of its cases: what goroutines share is shared in each of them.
func Main(m *testing.M) {
	if checks := flag.Lookup("rapid.checks"); Raced && checks != nil {
		if err := checks.Value.Set("20"); err != nil { // the flag of the command line goes before
			panic(err)
		}
	}
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(1000)
		debug.SetMemoryLimit(1 << 30)
	}
	os.Exit(m.Run())
}

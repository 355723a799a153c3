package exhaustive

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Main runs the tests of a package with more room for garbage than programs have. Small worlds become garbage by the
// million, and collecting them took a third of the time. Benchmarks run with the room that programs have.
func Main(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(1000)
		debug.SetMemoryLimit(1 << 30)
	}
	os.Exit(m.Run())
}

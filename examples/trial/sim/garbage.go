package sim

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A collection of garbage in the midst of what goes on would change which goroutine runs next. So it happens between two instants, when all
// goroutines wait.
const (
	garbageLimit  = 192 << 20 // bytes of the heap after which it is collected
	garbageLooks  = 128       // messages after which it is looked at
	garbageMemory = 2 << 30   // bytes of memory after which the runtime collects all the same
)

// holdGarbage has the runtime collect nothing by itself, and returns what undoes it.
func holdGarbage() (undo func()) {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		debug.SetMemoryLimit(garbageMemory)
	}
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// collect collects garbage if there is much.
func collect() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(heap); heap[0].Value.Kind() != metrics.KindUint64 || heap[0].Value.Uint64() > garbageLimit {
		runtime.GC()
	}
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A garbage collection in the middle of a step would change which goroutine runs next. Therefore garbage is collected
// between two instants, when all goroutines wait.
const (
	garbageLimit  = 192 << 20 // heap size that triggers a collection
	garbageLooks  = 128       // messages between two checks
	garbageMemory = 2 << 30   // memory limit at which the runtime collects anyway
)

// holdGarbage turns the runtime's collections off, and returns a function that undoes it.
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

//go:build amd64 || arm64

package sim

import "unsafe"

// thisGoroutine is the runtime's own record of the goroutine that calls it.
func thisGoroutine() unsafe.Pointer

// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package sim

import "unsafe"

// thisGoroutine is the runtime's record of the calling goroutine.
func thisGoroutine() unsafe.Pointer

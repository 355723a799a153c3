// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package sim

import "unsafe"

// thisGoroutine is not implemented here: selects and maps stay random.
func thisGoroutine() unsafe.Pointer { return nil }

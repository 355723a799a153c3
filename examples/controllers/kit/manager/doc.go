// SPDX-License-Identifier: Apache-2.0

// Package manager has what these controllers share and what needs controller-runtime.
package manager

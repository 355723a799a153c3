// SPDX-License-Identifier: Apache-2.0

// Package kit has what these controllers share. Its package manager has the parts that need controller-runtime.
package kit

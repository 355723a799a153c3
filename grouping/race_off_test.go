// SPDX-License-Identifier: Apache-2.0

//go:build !race

package grouping_test

const raced = false

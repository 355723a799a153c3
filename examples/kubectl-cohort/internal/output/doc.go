// SPDX-License-Identifier: Apache-2.0

// Package output shows a simulated rollout.
//
// New gathers what there is to show in a [Report], which is data with JSON names. Text and JSON write the
// same Report.
package output

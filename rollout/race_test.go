// SPDX-License-Identifier: Apache-2.0

//go:build race

package rollout_test

const underRaceDetector = true

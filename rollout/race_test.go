//go:build race

package rollout_test

const underRaceDetector = true

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

// A waiting user is told which share is done, and a guess of the rest once it is more than a wild one.
func TestProgressGuessesTheRest(t *testing.T) {
	for _, test := range []struct {
		share float64
		want  string
	}{{0, " 4s"}, {.005, " 4s"}, {.4, " 40% after 4s, about 6s to go"}, {.999, " 100% after 4s, about 0s to go"}, {1, " 4s"}} {
		if got := soFar(4*time.Second, func() float64 { return test.share }); got != test.want {
			t.Errorf("%v: %q, want %q", test.share, got, test.want)
		}
	}
	if got := soFar(12*time.Second, nil); got != " 12s" {
		t.Errorf("%q of what has no share", got)
	}
}

// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheFirstThatIsReadyIsTaken asks often, as a select would take the first of four by chance.
func TestTheFirstThatIsReadyIsTaken(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	full := func() <-chan int { c := make(chan int, 1); c <- 7; return c }
	for range 50 {
		for want, ready := range [][3]bool{{true, true, true}, {true, true, true}, {false, true, true}, {false, false, true}} {
			ctx := t.Context()
			if want == 0 {
				ctx = ended
			}
			var in [3]<-chan int
			for i, is := range ready {
				if is {
					in[i] = full()
				}
			}
			place, a, b, c := First(ctx, in[0], in[1], in[2])
			if got := [4]int{0, a, b, c}; place != want || want > 0 && got[want] != 7 || a+b+c > 7 {
				t.Fatalf("with %v: %d with %v, want %d", ready, place, got, want)
			}
		}
	}
}

// TestItWaitsForAny says that each of them wakes a waiter.
func TestItWaitsForAny(t *testing.T) {
	for want := range 4 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var in [3]chan int
			for i := range in {
				in[i] = make(chan int, 1)
			}
			go func() {
				time.Sleep(time.Minute)
				if want == 0 {
					cancel()
				} else {
					in[want-1] <- 7
				}
			}()
			began := time.Now()
			if place, _, _, _ := First(ctx, in[0], in[1], in[2]); place != want || time.Since(began) != time.Minute {
				t.Errorf("%d after %v, want %d after a minute", place, time.Since(began), want)
			}
			cancel()
		})
	}
}

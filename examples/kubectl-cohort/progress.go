// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// patience is how long something may take before the user is told what it is.
const patience = time.Second

// progress says on standard error what takes long. The zero progress says nothing.
type progress struct{ w io.Writer }

// progressOn is one for a terminal or a file, that a user may look at.
func progressOn(w io.Writer) progress {
	if _, ok := w.(*os.File); !ok {
		return progress{}
	}
	return progress{w}
}

// begin says after a second what is being done, and every ten seconds how long, until end is called.
func (meter progress) begin(doing string) (end func()) { return meter.beginShare(doing, nil) }

// beginShare does so and says, besides, which share is done and how long the rest may take. A share is between 0 and 1.
func (meter progress) beginShare(doing string, share func() float64) (end func()) {
	if meter.w == nil {
		return func() {}
	}
	start, over := time.Now(), make(chan struct{})
	var said sync.WaitGroup
	said.Go(func() {
		for wait := patience; ; wait = meter.pause(share) {
			select {
			case <-over:
				return
			case <-time.After(wait):
				fmt.Fprintln(meter.w, doing+"…"+soFar(time.Since(start), share))
			}
		}
	})
	return func() { close(over); said.Wait() }
}

// pause is how long nothing is said again. Where there is a share, a user may wait for it.
func (meter progress) pause(share func() float64) time.Duration {
	if share != nil {
		return 2 * patience
	}
	return 10 * patience
}

// soFar is like " 40% after 4s, about 6s to go". There is no guess before a hundredth is done.
func soFar(took time.Duration, share func() float64) string {
	text := " " + took.Round(patience).String()
	if share == nil {
		return text
	}
	done := share()
	if done < .01 || done >= 1 {
		return text
	}
	return fmt.Sprintf(" %.0f%% after%s, about %v to go", 100*done, text, time.Duration(float64(took)*(1-done)/done).Round(patience))
}

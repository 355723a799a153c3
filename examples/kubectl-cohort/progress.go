package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// patience is how long something may take before somebody is told what it is.
const patience = time.Second

// progress says on standard error what takes long. The zero progress says nothing.
type progress struct{ w io.Writer }

// progressOn is one for a terminal or a file, where somebody may look at it.
func progressOn(w io.Writer) progress {
	if _, ok := w.(*os.File); !ok {
		return progress{}
	}
	return progress{w}
}

// begin says after a second what is being done, and every ten seconds how long, until end is called.
func (p progress) begin(doing string) (end func()) {
	if p.w == nil {
		return func() {}
	}
	start, over := time.Now(), make(chan struct{})
	var said sync.WaitGroup
	said.Go(func() {
		for wait := patience; ; wait = 10 * patience {
			select {
			case <-over:
				return
			case <-time.After(wait):
				fmt.Fprintf(p.w, "%s… %v\n", doing, time.Since(start).Round(patience))
			}
		}
	})
	return func() { close(over); said.Wait() }
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

var (
	flagStalled = flag.Duration("stalled", 0, "after how much real time without a message a play is ended, which is longer in a debugger; 0 is two minutes")
	flagLogs    = flag.String("logs", "", "a directory for the log of each play, in which two plays of a seed can be compared: with all messages and writes")
)

// play calls do in a world's own time, with an API server of its own. The seed decides all that is left open, such as UIDs and how long a message
// takes. It returns a hash of all messages, writes and their times.
func (h *Hub) play(t *testing.T, world *world, do func(*testing.T, *site)) (hash string) {
	t.Helper()
	log, end := logOf(t, world.seed)
	defer end()
	return sim.Play(t, sim.Options{Seed: world.seed, Choices: world.choices, Log: log, Stalled: *flagStalled}, func(w *sim.World) {
		server := w.NewServer("hub", h.definitions)
		o := observer{}
		server.Store().Observe(func(c sim.Commit) {
			if e, is := o.event(c); is && o.feed != nil {
				o.feed(e)
			}
		})
		do(w.T, &site{config: server.Config, server: server, watch: o.watch, start: func(actor string, run func()) {
			w.Go(actor, func(context.Context) { run() })
		}})
	}).Hash
}

// logOf opens the log of a play, with -logs. Its name has the seed and how often it was played.
func logOf(t *testing.T, seed uint64) (log io.Writer, end func()) {
	t.Helper()
	if *flagLogs == "" {
		return nil, func() {}
	}
	for n := 1; ; n++ {
		file, err := os.OpenFile(filepath.Join(*flagLogs, fmt.Sprintf("%d.%d", seed, n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return file, func() { file.Close() }
	}
}

// observer sees each write at the moment at which it is stored.
type observer struct{ feed func(event) }

func (o *observer) watch(_ string, feed func(event)) (end func()) {
	o.feed = feed
	return func() { o.feed = nil }
}

// event reads a write, if it is of a kind that takes part.
func (o *observer) event(c sim.Commit) (e event, is bool) {
	resource, _, _ := strings.Cut(c.Resource, ".")
	of, is := watched[resource]
	if !is {
		return e, false
	}
	e = event{rv: c.Revision, at: c.Time, object: of.make(), gone: c.Deleted, stored: c.Value}
	if err := c.Into(e.object); err != nil {
		panic(err) // the server has stored it
	}
	e.id = id{of.kind, strings.TrimPrefix(c.Namespace+"/"+c.Name, "/")}
	return e, true
}

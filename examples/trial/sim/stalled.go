// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// overseer notices, from outside of a bubble, that it stands still.
type overseer struct {
	progress atomic.Int64
	log      atomic.Pointer[journal]
	ended    chan struct{}
}

// abandon ends the process, since a bubble whose time stands still cannot be left. Tests replace it.
var abandon = func(report string) {
	fmt.Fprintln(os.Stderr, report)
	os.Exit(2)
}

// watchOver looks only as often as it must: a goroutine that wakes up by real time comes before those of the bubble.
func watchOver(limit time.Duration) *overseer {
	overseer := &overseer{ended: make(chan struct{})}
	go func() {
		last, since := int64(-1), time.Now()
		for {
			select {
			case <-overseer.ended:
				return
			case <-time.After(limit):
			}
			if now := overseer.progress.Load(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) >= limit {
				if log := overseer.log.Load(); log != nil {
					_ = log.flush() // the report matters more than an error here
				}
				abandon(stalledReport(limit, stacks()))
				since = time.Now()
			}
		}
	}()
	return overseer
}

func (o *overseer) stop() { close(o.ended) }

// goroutine is a goroutine of a stack dump.
type goroutine struct {
	state  string
	bubble string // the number of its bubble; empty outside
	stack  string
}

var header = regexp.MustCompile(`^goroutine \d+(?: gp=\S+ m=\S+(?: mp=\S+)?)? \[([^\]]*)\]:`)
var bubbleOf = regexp.MustCompile(`synctest bubble (\d+)`)

func stacks() []goroutine {
	buffer := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buffer, true)
		if n < len(buffer) {
			buffer = buffer[:n]
			break
		}
		buffer = make([]byte, 2*len(buffer))
	}
	return parseStacks(string(buffer))
}

func parseStacks(text string) (all []goroutine) {
	for _, one := range strings.Split(text, "\n\n") {
		found := header.FindStringSubmatch(one)
		if found == nil {
			continue
		}
		parsed := goroutine{state: found[1], stack: strings.TrimSpace(one)}
		if b := bubbleOf.FindStringSubmatch(parsed.state); b != nil {
			parsed.bubble = b[1]
		}
		all = append(all, parsed)
	}
	return all
}

// holds says whether a goroutine stops the time of its bubble.
func (g goroutine) holds() bool {
	return g.bubble != "" && !strings.Contains(g.state, "durable") && !strings.HasPrefix(g.state, "synctest") && !strings.HasPrefix(g.state, "sleep")
}

// where is the function of a goroutine, without frames of the runtime and of sync, and the function that started it.
func (g goroutine) where() string {
	lines := strings.Split(g.stack, "\n")
	creator := ""
	if created := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "created by ") }); created >= 0 {
		creator, _, _ = strings.Cut(lines[created], " in goroutine ")
		creator = ", " + creator
		lines = lines[:created]
	}
	for i := 1; i+1 < len(lines); i += 2 {
		function, place := lines[i], strings.TrimSpace(lines[i+1])
		if strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "sync.") || strings.HasPrefix(function, "internal/") {
			continue
		}
		if at := strings.LastIndexByte(function, '('); at > 0 {
			function = function[:at]
		}
		place, _, _ = strings.Cut(place, " +0x")
		return function + " at " + place + creator
	}
	return "unknown" + creator
}

func stalledReport(limit time.Duration, all []goroutine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sim: no message for %v of real time.", limit)
	count := 0
	for _, goroutine := range all {
		if goroutine.holds() {
			if count++; count == 1 {
				b.WriteString(" Virtual time waits for what is not durably blocked (a mutex that is held over a wait, the network, a channel from outside, or a loop):")
			}
			fmt.Fprintf(&b, "\n- %s: %s", goroutine.state, goroutine.where())
		}
	}
	if count == 0 {
		b.WriteString(" Virtual time passes, but nothing is sent: the play waits for what does not come, or counts on a limit that is far.")
	}
	for _, goroutine := range all {
		if goroutine.bubble != "" {
			fmt.Fprintf(&b, "\n\n%s", goroutine.stack)
		}
	}
	return b.String()
}

// blocked names the goroutines behind the runtime's complaint about a bubble.
func blocked(before error, reason any) error {
	text := fmt.Sprint(reason)
	if !strings.Contains(text, "deadlock") {
		panic(reason)
	}
	newest, left := "", map[string]int{}
	all := stacks()
	for _, goroutine := range all {
		if len(goroutine.bubble) > len(newest) || len(goroutine.bubble) == len(newest) && goroutine.bubble > newest {
			newest = goroutine.bubble
		}
	}
	for _, goroutine := range all {
		if goroutine.bubble == newest && goroutine.bubble != "" {
			left[goroutine.state+": "+goroutine.where()]++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "goroutines are left that wait for ever (%s):", text)
	for _, what := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(&b, "\n- %d × %s", left[what], what)
	}
	if before != nil {
		return fmt.Errorf("%w; %s", before, b.String())
	}
	return fmt.Errorf("%s", b.String())
}

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

// overseer sees from outside of a bubble that nothing goes on in it.
type overseer struct {
	progress atomic.Int64
	log      atomic.Pointer[journal]
	ended    chan struct{}
}

// giveUp ends the process, as a bubble whose time stands still cannot be left. Tests replace it.
var giveUp = func(report string) {
	fmt.Fprintln(os.Stderr, report)
	os.Exit(2)
}

func watchOver(limit time.Duration) *overseer {
	o := &overseer{ended: make(chan struct{})}
	go func() {
		last, since := int64(-1), time.Now()
		for {
			select {
			case <-o.ended:
				return
			case <-time.After(limit / 8):
			}
			if now := o.progress.Load(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) > limit {
				if log := o.log.Load(); log != nil {
					_ = log.flush() // that nothing goes on is the worse news
				}
				giveUp(stalledReport(limit, stacks()))
				since = time.Now()
			}
		}
	}()
	return o
}

func (o *overseer) stop() { close(o.ended) }

// goroutine is one of a dump.
type goroutine struct {
	state  string
	bubble string // its number; empty outside
	stack  string
}

var header = regexp.MustCompile(`^goroutine \d+(?: gp=\S+ m=\S+(?: mp=\S+)?)? \[([^\]]*)\]:`)
var bubbleOf = regexp.MustCompile(`synctest bubble (\d+)`)

// stacks returns all goroutines.
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
		g := goroutine{state: found[1], stack: strings.TrimSpace(one)}
		if b := bubbleOf.FindStringSubmatch(g.state); b != nil {
			g.bubble = b[1]
		}
		all = append(all, g)
	}
	return all
}

// holds says whether a goroutine keeps the time of its bubble from passing.
func (g goroutine) holds() bool {
	return g.bubble != "" && !strings.Contains(g.state, "durable") && !strings.HasPrefix(g.state, "synctest") && !strings.HasPrefix(g.state, "sleep")
}

// where is the function that a goroutine is in, without those of the runtime and of sync, and the one that has started it.
func (g goroutine) where() string {
	lines := strings.Split(g.stack, "\n")
	creator := ""
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "created by ") }); i >= 0 {
		creator, _, _ = strings.Cut(lines[i], " in goroutine ")
		creator = ", " + creator
		lines = lines[:i]
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
	n := 0
	for _, g := range all {
		if g.holds() {
			if n++; n == 1 {
				b.WriteString(" Virtual time waits for what is not durably blocked (a mutex that is held over a wait, the network, a channel from outside, or a loop):")
			}
			fmt.Fprintf(&b, "\n- %s: %s", g.state, g.where())
		}
	}
	if n == 0 {
		b.WriteString(" Virtual time passes, but nothing is sent: the play waits for what does not come, or counts on a limit that is far.")
	}
	for _, g := range all {
		if g.bubble != "" {
			fmt.Fprintf(&b, "\n\n%s", g.stack)
		}
	}
	return b.String()
}

// blocked says which goroutines are left in the bubble that the runtime complains of.
func blocked(before error, reason any) error {
	text := fmt.Sprint(reason)
	if !strings.Contains(text, "deadlock") {
		panic(reason)
	}
	newest, left := "", map[string]int{}
	all := stacks()
	for _, g := range all {
		if len(g.bubble) > len(newest) || len(g.bubble) == len(newest) && g.bubble > newest {
			newest = g.bubble
		}
	}
	for _, g := range all {
		if g.bubble == newest && g.bubble != "" {
			left[g.state+": "+g.where()]++
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

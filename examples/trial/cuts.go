// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// parts are the steps of the script, the clusters, and what is not as simple as it can be.
func (w *world) parts() (all []string) {
	for i, c := range w.script {
		if c.what != nothing {
			all = append(all, fmt.Sprint("step ", i+1))
		}
	}
	for _, c := range w.pool {
		all = append(all, "cluster "+c)
	}
	for _, s := range simpler {
		all = append(all, s.part)
	}
	return all
}

func (w *world) without(part string) bool {
	for i, c := range w.script {
		if fmt.Sprint("step ", i+1) == part && c.what != nothing {
			w.script[i] = change{what: nothing}
			return true
		}
	}
	if c, is := strings.CutPrefix(part, "cluster "); is {
		return w.withoutCluster(c)
	}
	i := slices.IndexFunc(simpler, func(s simplification) bool { return s.part == part })
	return i >= 0 && simpler[i].leave(w)
}

// withoutCluster leaves a cluster out, unless a placement would select none then.
func (w *world) withoutCluster(cluster string) bool {
	is := func(c string) bool { return c == cluster }
	for _, f := range w.fleets() {
		if slices.Equal(f.initial, []string{cluster}) {
			return false
		}
	}
	if !slices.ContainsFunc(w.pool, is) || len(w.pool) == 1 {
		return false
	}
	w.pool = slices.DeleteFunc(slices.Clone(w.pool), is)
	for _, f := range w.fleets() {
		f.initial = slices.DeleteFunc(slices.Clone(f.initial), is)
	}
	return true
}

// A simplification makes a world simpler in one way, and says whether it was not so simple.
type simplification struct {
	part  string
	leave func(*world) bool
}

// to sets a value, and says whether it was another one.
func to[T comparable](value *T, simple T) bool {
	was := *value
	*value = simple
	return was != simple
}

// ofFleets does something to each fleet, and says whether that was anything to one.
func ofFleets(w *world, do func(*fleet) bool) (did bool) {
	for _, f := range w.fleets() {
		did = do(f) || did
	}
	return did
}

// simpler are all of them, with names for what they leave out.
var simpler = []simplification{
	{"the second placement", func(w *world) bool {
		is := len(w.others) > 0
		w.others = nil
		w.forget(moves)
		return is
	}},
	{"the second process", func(w *world) bool {
		is := w.replicas > 1
		w.replicas, w.elects = 1, false
		w.forget(cuts)
		return is
	}},
	{"broken connections", func(w *world) bool { return to(&w.breaks, 0) }},
	{"late events", func(w *world) bool { return to(&w.often, 0) }},
	{"slow writes", func(w *world) bool { return to(&w.slow, time.Millisecond) }},
	{"old lists", func(w *world) bool { return to(&w.stale, false) }},
	{"caches without managed fields", func(w *world) bool { return to(&w.strips, false) }},
	{"the time until a process is replaced", func(w *world) bool { return to(&w.down, time.Millisecond) }},
	{"pauses of the scheduler", func(w *world) bool { return to(&w.pause, 0) }},
	{"writers of the scheduler", func(w *world) bool { return to(&w.writers, 1) }},
	{"another scheduler", func(w *world) bool { return to(&w.foreign, false) }},
	{"decisions in slices", func(w *world) bool { return to(&w.slice, 100) }},
	{"finalizers", func(w *world) bool {
		is := len(w.holds) > 0
		w.holds = map[string]bool{}
		return is
	}},
	{"agents that are not quick", func(w *world) (is bool) {
		for c, t := range w.agentMode {
			is = is || !slices.Equal(t, []agentMode{quick})
			w.agentMode[c] = []agentMode{quick}
		}
		return is
	}},
	{"groups with names", func(w *world) bool {
		return ofFleets(w, func(f *fleet) bool {
			is := len(f.named) > 0
			f.named, f.groupOf = nil, map[string]string{}
			return is
		})
	}},
	{"groups of a size", func(w *world) bool { return ofFleets(w, func(f *fleet) bool { return to(&f.size, 0) }) }},
	{"mandatory groups", func(w *world) bool {
		return ofFleets(w, func(f *fleet) bool {
			_, _, mandatory, _ := parts(&f.strategy)
			is := len(*mandatory) > 0
			*mandatory = nil
			return is
		})
	}},
	{"soaks", func(w *world) bool {
		return ofFleets(w, func(f *fleet) bool {
			config, _, _, _ := parts(&f.strategy)
			return to(&config.MinSuccessTime, metav1.Duration{})
		})
	}},
	{"deadlines", func(w *world) bool {
		return ofFleets(w, func(f *fleet) bool {
			config, _, _, _ := parts(&f.strategy)
			return to(&config.ProgressDeadline, "None")
		})
	}},
	{"leaps of clocks", func(w *world) bool {
		is := w.long != nil && len(w.long.leaps) > 0
		if is {
			w.long.leaps = nil
		}
		return is
	}},
	{"agents that take hours", func(w *world) bool { return w.long != nil && to(&w.long.pace, 1) }},
	{"the death at a write", func(w *world) bool { return w.back != nil && to(&w.back.kill, 0) }},
}

// forget leaves steps of a kind out.
func (w *world) forget(what string) {
	for i := range w.script {
		if w.script[i].what == what {
			w.script[i] = change{what: nothing}
		}
	}
}

// parts are its acts, what its versions do, and the parts of any world.
func (t *trial) parts() (all []string) {
	for i, a := range t.acts {
		if a.what != waits {
			all = append(all, fmt.Sprint("act ", i+1))
		}
	}
	for i, e := range t.effects {
		if e != (effect{}) {
			all = append(all, fmt.Sprint("what version ", i+1, " does"))
		}
	}
	return append(all, t.world.parts()...)
}

func (t *trial) without(part string) bool {
	for i := range t.acts {
		if fmt.Sprint("act ", i+1) == part {
			return to(&t.acts[i], act{what: waits})
		}
	}
	for i := range t.effects {
		if fmt.Sprint("what version ", i+1, " does") == part {
			return to(&t.effects[i], effect{})
		}
	}
	return t.world.without(part)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// The types here are values of flags: they implement flag.Value.

// format is text, json or yaml; the zero value is text.
type format string

func (form *format) String() string { return string(*form) }

func (form *format) Set(s string) error {
	if s != "text" && s != "json" && s != "yaml" {
		return errors.New("must be text, json or yaml")
	}
	*form = format(s)
	return nil
}

// written is what there is to write, as a text and as data.
type written interface {
	Text(io.Writer) error
	Value() (any, error)
}

func (form format) write(r written, w io.Writer) (err error) {
	if form == "json" || form == "yaml" {
		err = form.writeData(r, w)
	} else {
		err = r.Text(w)
	}
	if err != nil {
		return unwritten{err}
	}
	return nil
}

// writeData writes one indented object.
func (form format) writeData(r written, w io.Writer) error {
	value, err := r.Value()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	data := text.Bytes()
	if form == "yaml" {
		if data, err = yaml.JSONToYAML(data); err != nil {
			return err
		}
	}
	_, err = w.Write(data)
	return err
}

// placement is a name with or without its namespace.
type placement struct{ scenario.Ref }

func (on *placement) Set(s string) error {
	namespace, name, found := strings.Cut(s, "/")
	if !found {
		namespace, name = "", s
	}
	if name == "" || found && namespace == "" || strings.Contains(name, "/") {
		return errors.New("must be a name, or a namespace and a name such as ns/name")
	}
	on.Ref = scenario.Ref{Namespace: namespace, Name: name}
	return nil
}

// instant is a time.
type instant struct{ time.Time }

func (moment *instant) String() string { return moment.Format(time.RFC3339) }

func (moment *instant) Set(s string) error {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || at.Year() < 1970 || at.Year() > 9000 { // a century later is still a year of four digits
		return errors.New("must be a time from 1970 to 9000 such as 2025-01-31T22:00:00Z")
	}
	moment.Time = at.UTC()
	return nil
}

// times is how long something takes: a time, or a range from which each cluster draws its own.
type times struct{ chance.Range }

func (clock *times) Set(s string) (err error) {
	clock.Range, err = chance.ParseRange(s)
	return err
}

// varies says whether clusters draw different ones.
func (clock times) varies() bool { return clock.Least < clock.Most }

// rate is a chance. The zero value is none.
type rate struct{ chance.Rate }

func (per *rate) Set(s string) (err error) {
	per.Rate, err = chance.ParseRate(s)
	return err
}

// patterns are names of clusters.
type patterns []string

func (globs *patterns) String() string { return strings.Join(*globs, ",") }

func (globs *patterns) Set(s string) error {
	*globs = append(*globs, s)
	return nil
}

// timed are names of clusters, each with a time or without.
type timed []struct {
	name  string
	after *chance.Range
}

func (t *timed) String() string { return "" }

func (t *timed) Set(s string) error {
	name, rest, found := strings.Cut(s, "=")
	var after *chance.Range
	if found {
		r, err := chance.ParseRange(rest)
		if err != nil {
			return err
		}
		after = &r
	}
	*t = append(*t, struct {
		name  string
		after *chance.Range
	}{name, after})
	return nil
}

// gates are groups, each with the time when its gate opens, or without where it never does.
type gates []gate

type gate struct {
	group string         // its index or its name
	after *time.Duration // the time when it opens; nil is never
}

func (closed *gates) String() string { return "" }

func (closed *gates) Set(s string) error {
	group, rest, found := strings.Cut(s, "=")
	var after *time.Duration
	if found {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return errors.New("must open after a time such as 30m or 4h")
		}
		after = &d
	}
	if group == "" || strings.ContainsAny(group, " ,;") {
		return errors.New("must be the index or the name of a group, such as 2, canary or 2=4h")
	}
	if slices.ContainsFunc(*closed, func(other gate) bool { return other.group == group }) {
		return errors.New("must not be given twice for a group")
	}
	*closed = append(*closed, gate{group, after})
	return nil
}

// before says whether the gate is before this group. A name that looks like an index is one.
func (g gate) before(key grouping.Key) bool {
	index, err := strconv.ParseUint(g.group, 10, 31)
	if err != nil {
		return g.group == key.Name
	}
	return int32(index) == key.Index
}

// close closes the gate before its groups, of each placement; none where there is no such group.
func (g gate) close(groups *grouping.Groups, start time.Time) (closed []rollout.ClosedGate) {
	var until rollout.Gate
	if g.after != nil {
		until.Opens = start.Add(*g.after)
	}
	for i := range groups.Len() {
		if key := groups.Key(i); g.before(key) {
			closed = append(closed, rollout.ClosedGate{Group: key, Gate: until})
		}
	}
	return closed
}

// starts is a number and a time: how many clusters may start within it, or how often something is done after it. The zero
// value is none.
type starts struct {
	n   int
	per time.Duration
	// such is an example for those that give something else.
	such string
}

func (counts *starts) String() string { return "" }

func (counts *starts) Set(text string) error {
	number, per, _ := strings.Cut(text, "/")
	n, err := strconv.ParseInt(number, 10, 32)
	d, errPer := time.ParseDuration(per)
	if err != nil || errPer != nil || n < 1 || d <= 0 {
		return errors.New("must be a number and a time, both above 0, such as " + cmp.Or(counts.such, "10/1h"))
	}
	counts.n, counts.per = int(n), d
	return nil
}

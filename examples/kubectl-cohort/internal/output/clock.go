// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"
	"regexp"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// Clock says how a text shows times, in its columns as in its sentences: since the start of the rollout, or as times of the
// day. The zero Clock leaves the sentences as they are.
type Clock struct {
	Start time.Time
	// Word is what a column calls the start, such as now, where times are those of the day. It is empty where they count from
	// the start.
	Word string
}

// Head is a line that says when the start is; empty where times count from it.
func (c Clock) Head() string {
	if c.Word == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s, all times are in UTC\n", c.Word, c.Start.UTC().Format("2006-01-02 15:04:05"))
}

// Read gives a text with the times in it as the clock shows them.
func (c Clock) Read(text string) string {
	if c.Start.IsZero() {
		return text
	}
	return regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`).ReplaceAllStringFunc(text, func(moment string) string {
		at, err := time.Parse(time.RFC3339, moment)
		switch {
		case err != nil || c.Word == "" && at.Before(c.Start):
			return moment
		case c.Word == "":
			return short.Duration(at.Sub(c.Start))
		}
		return c.ofDay(at)
	})
}

// Column gives a time so long after the start, such as 1h30m0s, or so long before it.
func (c Clock) Column(after string) string {
	d, err := time.ParseDuration(after)
	switch {
	case err != nil:
		return after
	case c.Word == "":
		return short.Duration(d)
	case d == 0:
		return c.Word
	}
	return c.ofDay(c.Start.Add(d))
}

// ofDay is like 10:15, or 10:15:30, with the date where that is not the date of the start.
func (c Clock) ofDay(at time.Time) string {
	at, layout := at.UTC().Round(time.Second), "15:04:05"
	if at.Second() == 0 {
		layout = "15:04"
	}
	if at.Format(time.DateOnly) != c.Start.UTC().Format(time.DateOnly) {
		layout = "2006-01-02 " + layout
	}
	return at.Format(layout)
}

// End says when it ended: after so long, and at which time of the day.
func (c Clock) End(after string) string {
	d, err := time.ParseDuration(after)
	switch {
	case err != nil || c.Word == "":
		return "after " + c.Column(after)
	case d == 0:
		return c.Word
	}
	return fmt.Sprintf("at %s, after %s", c.Column(after), short.Duration(d))
}

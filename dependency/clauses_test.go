// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/internal/clauses"
)

// The tests of internal/clauses are here, so that one binary less is linked.

// S7: a long message has at most 1,024 bytes, and a message of just that length is not cut.
func TestSentencesUseAllTheRoom(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	const room = clauses.Longest - len("; and %d more") - 17 // what clauses have of a message that leaves some out
	for _, test := range []struct {
		why     string
		clauses []string
		want    string
	}{
		{"two clauses that just fit", []string{"a", x(clauses.Longest - 3)}, "a; " + x(clauses.Longest-3)},
		{"two that don't: the second is cut", []string{"a", x(clauses.Longest - 2)}, "a; " + x(room-6) + "…"},
		{"two with a comma that just fit", []string{"a", "," + x(clauses.Longest-4)}, "a; ," + x(clauses.Longest-4)},
		{"three that just fit", []string{"a", "b", x(clauses.Longest - 6)}, "a; b; " + x(clauses.Longest-6)},
		{"three that don't, of which two just fit", []string{"a", x(room - 3), x(clauses.Longest)}, "a; " + x(room-3) + "; and 1 more"},
		{"four that don't, of which three just fit", []string{"a", "b", x(room - 6), x(clauses.Longest)}, "a; b; " + x(room-6) + "; and 1 more"},
		{"four, of which three don't", []string{"a", "b", x(room - 5), x(clauses.Longest)}, "a; b; and 2 more"},
		{"the first just fits", []string{x(room), "b", x(clauses.Longest)}, x(room) + "; and 2 more"},
		{"as much of the second as says something", []string{x(room - 42), x(clauses.Longest)}, x(room-42) + "; " + x(37) + "…"},
		{"and not less", []string{x(room - 41), x(clauses.Longest)}, x(room-41) + "; and 1 more"},
		{"a cut is not within a character", []string{x(room-4) + "é" + x(clauses.Longest)}, x(room-4) + "…"},
		{"nor before the text, where it is none", []string{strings.Repeat("\x80", clauses.Longest+1)}, "…"},
	} {
		if got := clauses.Bounded(test.clauses); got != test.want || len(got) > clauses.Longest {
			t.Errorf("%s: %d bytes\n%q, want\n%q", test.why, len(got), got, test.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		why, text string
		limit     int
		want      string
	}{
		{"what just fits is whole", "abcd", 4, "abcd"},
		{"what doesn't has a mark of three bytes", "abcde", 4, "a…"},
		{"a character is not cut", "aébcd", 5, "a…"},
		{"what is no text is cut to nothing", "\x80\x80\x80\x80", 3, "…"},
	} {
		if got := clauses.Shorten(test.text, test.limit); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

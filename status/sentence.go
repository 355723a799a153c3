package status

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longest is the most bytes that a message may have.
const longest = 1024

// sentence joins clauses to a message. It puts a comma between two clauses if the second has none, and semicolons
// otherwise.
func sentence(clauses []string) string {
	if len(clauses) == 2 && !strings.ContainsAny(clauses[1], ",;") {
		if whole := clauses[0] + ", " + clauses[1]; len(whole) <= longest {
			return whole
		}
	}
	return bounded(clauses)
}

// bounded joins clauses with semicolons, and counts those that do not fit. The first two are always there, cut if need
// be.
func bounded(clauses []string) string {
	if whole := strings.Join(clauses, "; "); len(whole) <= longest {
		return whole
	}
	const (
		separator = "; "
		more      = "; and %d more"
		room      = longest - len(more) - 17 // for a number

		worthwhile = 40 // a shorter part of a clause is of no use
	)
	message := shorten(clauses[0], room)
	for i := 1; i < len(clauses); i++ {
		clause := clauses[i]
		if left := room - len(message) - len(separator); i == 1 && left >= worthwhile {
			clause = shorten(clause, left)
		}
		if len(message)+len(separator)+len(clause) > room {
			return message + fmt.Sprintf(more, len(clauses)-i)
		}
		message += separator + clause
	}
	return message
}

// shorten cuts a text to at most so many bytes, at least 3, and marks the cut with "…".
func shorten(text string, most int) string {
	const ellipsis = "…"
	if len(text) <= most {
		return text
	}
	cut := most - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}

package status

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longest is the number of bytes that a message has at most.
const longest = 1024

// sentence joins clauses to a message: with a comma where there are two and the second has none, else with semicolons.
func sentence(clauses []string) string {
	if len(clauses) == 2 && !strings.ContainsAny(clauses[1], ",;") {
		if whole := clauses[0] + ", " + clauses[1]; len(whole) <= longest {
			return whole
		}
	}
	return bounded(clauses)
}

// bounded joins clauses with semicolons. Clauses that do not fit are counted, but the first two are always said, as
// far as there is room.
func bounded(clauses []string) string {
	if whole := strings.Join(clauses, "; "); len(whole) <= longest {
		return whole
	}
	const (
		separator = "; "
		more      = "; and %d more"
		room      = longest - len(more) - 17 // of a number

		worthwhile = 40 // less of a clause says nothing
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

// shorten cuts a text that has more than so many bytes, which are at least 3, and shows that with "…".
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

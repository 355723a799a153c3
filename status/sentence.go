package status

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longest is the number of bytes that a message has at most.
const longest = 1024

// sentence joins clauses to a message of at most 1 kB: with a comma where there are two and the second has none, else
// with semicolons. Clauses that do not fit are counted.
func sentence(clauses []string) string {
	if len(clauses) == 2 && !strings.ContainsAny(clauses[1], ",;") {
		return shorten(clauses[0]+", "+clauses[1], longest)
	}
	if whole := strings.Join(clauses, "; "); len(whole) <= longest {
		return whole
	}
	const room = len("; and  more") + 19 // of the number
	var b strings.Builder
	b.WriteString(shorten(clauses[0], longest-room))
	for i, clause := range clauses[1:] {
		left := len(clauses) - 1 - i
		if i == 0 {
			clause = shorten(clause, longest-room-b.Len()-len("; ")) // what stops the rollout first is always said
		}
		if b.Len()+len("; ")+len(clause)+room > longest {
			fmt.Fprintf(&b, "; and %d more", left)
			break
		}
		b.WriteString("; " + clause)
	}
	return b.String()
}

// shorten cuts a text that has more than so many bytes, and says so by "…".
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// SPDX-License-Identifier: Apache-2.0

// Package clauses makes the messages of conditions: clauses in one text of a bounded length.
package clauses

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest is the most bytes that a message may have.
const Longest = 1024

// Bounded joins at least one clause with semicolons, and counts those that do not fit. The first two are always there, cut if
// need be.
func Bounded(clauses []string) string {
	if whole := strings.Join(clauses, "; "); len(whole) <= Longest {
		return whole
	}
	const (
		separator = "; "
		more      = "; and %d more"
		room      = Longest - len(more) - 17 // for a number

		worthwhile = 40 // a shorter part of a clause says too little
	)
	message := Shorten(clauses[0], room)
	for i := 1; i < len(clauses); i++ {
		clause := clauses[i]
		if left := room - len(message) - len(separator); i == 1 && left >= worthwhile {
			clause = Shorten(clause, left)
		}
		if len(message)+len(separator)+len(clause) > room {
			return message + fmt.Sprintf(more, len(clauses)-i)
		}
		message += separator + clause
	}
	return message
}

// Shorten cuts a longer text to at most this many bytes, between two characters, and marks the cut with "…". Most is at least 3.
func Shorten(text string, most int) string {
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

// Line makes one line of at most 200 characters of a text from outside. Each run of characters that cannot be printed becomes
// a space, so that a text can neither control a terminal nor look like another message.
func Line(text string) string {
	const most = 200
	line, gap := make([]rune, 0, min(len(text), most)), false
	for _, r := range text {
		if r == ' ' || !unicode.IsPrint(r) {
			gap = len(line) > 0
			continue
		}
		if gap {
			line, gap = append(line, ' '), false
		}
		if line = append(line, r); len(line) > most {
			return strings.TrimRight(string(line[:most-1]), " ") + "…"
		}
	}
	return string(line)
}

// Number is like ", 3 failed", and empty for 0.
func Number(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d %s", n, what)
}

// Once gives each text once, in the order given, without empty ones.
func Once(lists ...[]string) (once []string) {
	for _, list := range lists {
		for _, text := range list {
			if text != "" && !slices.Contains(once, text) {
				once = append(once, text)
			}
		}
	}
	return once
}

// SPDX-License-Identifier: Apache-2.0

// Package spelling finds the word that a misspelling may mean.
package spelling

import (
	"slices"
	"strings"
)

// Nearest returns the word with the fewest changes of letters from name, and the number of changes. A swap of two letters
// is one change. Of several words it returns the first in alphabetical order. Case is ignored. The result is empty if there
// are no words.
func Nearest(name string, words []string) (nearest string, changes int) {
	for _, word := range slices.Sorted(slices.Values(words)) {
		if n := distance(strings.ToLower(name), strings.ToLower(word)); nearest == "" || n < changes {
			nearest, changes = word, n
		}
	}
	return nearest, changes
}

// Hint is `; did you mean WORD?` if a word is near, and otherwise empty.
func Hint(name string, words []string) string {
	nearest, changes := Nearest(name, words)
	if nearest == "" || changes > 1+len(name)/5 || changes >= len(name) {
		return ""
	}
	return "; did you mean " + nearest + "?"
}

// distance counts the letters to insert, remove, replace or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1) // distances of the prefixes of b from two prefixes of a
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

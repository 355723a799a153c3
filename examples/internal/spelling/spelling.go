// Package spelling finds what somebody may have meant.
package spelling

import (
	"slices"
	"strings"
)

// Nearest gives the word that takes the fewest changes of letters to get from name, the first of several in the
// order of the alphabet, and how many it takes. Capitals don't count. It is empty where there are no words.
func Nearest(name string, words []string) (nearest string, changes int) {
	for _, word := range slices.Sorted(slices.Values(words)) {
		if n := distance(strings.ToLower(name), strings.ToLower(word)); nearest == "" || n < changes {
			nearest, changes = word, n
		}
	}
	return nearest, changes
}

// Hint is `; did you mean WORD?` where a word is near, and empty elsewhere.
func Hint(name string, words []string) string {
	nearest, changes := Nearest(name, words)
	if nearest == "" || changes > 1+len(name)/5 {
		return ""
	}
	return "; did you mean " + nearest + "?"
}

// distance counts the letters to insert, remove or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // Of the beginnings of b, from the beginning of a.
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

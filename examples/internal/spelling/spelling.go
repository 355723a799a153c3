// Package spelling finds what somebody may have meant.
package spelling

import (
	"slices"
	"strings"
)

// Nearest gives the word that takes the fewest changes of letters, two swapped ones being one, to get from name, the first of several in the
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
	if nearest == "" || changes > 1+len(name)/5 || changes >= len(name) {
		return ""
	}
	return "; did you mean " + nearest + "?"
}

// distance counts the letters to insert, remove, replace or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1) // of the beginnings of b, from two beginnings of a
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

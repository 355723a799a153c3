// SPDX-License-Identifier: Apache-2.0

// Package bitset holds sets of small integers that are read in order.
package bitset

import (
	"iter"
	"math/bits"
)

// Set is a set of the integers from 0 up to a number that is fixed when it is made. Adding, removing and finding the
// next member take time that hardly grows with that number. A search among a million integers looks at no more than 250
// words, since a second level says which words have members. The zero Set has no room.
type Set struct {
	words  []uint64
	filled []uint64 // a bit for each word that is not zero
}

// New makes an empty set with room for 0 … n-1.
func New(n int) Set {
	words := (n + 63) / 64
	return Set{words: make([]uint64, words), filled: make([]uint64, (words+63)/64)}
}

// Add puts i into the set.
func (s *Set) Add(i int) {
	s.words[i/64] |= 1 << (i % 64)
	s.filled[i/4096] |= 1 << (i / 64 % 64)
}

// Remove takes i out of the set.
func (s *Set) Remove(i int) {
	if s.words[i/64] &^= 1 << (i % 64); s.words[i/64] == 0 {
		s.filled[i/4096] &^= 1 << (i / 64 % 64)
	}
}

// Has says whether i is in the set, which has room for it.
func (s *Set) Has(i int) bool { return s.words[i/64]&(1<<(i%64)) != 0 }

// Next gives the smallest member of at least i, and whether there is one.
func (s *Set) Next(i int) (int, bool) {
	word := i / 64
	if word >= len(s.words) {
		return 0, false
	}
	if rest := s.words[word] >> (i % 64); rest != 0 {
		return i + bits.TrailingZeros64(rest), true
	}
	word, ok := next(s.filled, word+1)
	if !ok {
		return 0, false
	}
	return word*64 + bits.TrailingZeros64(s.words[word]), true
}

// next gives the first set bit of at least i.
func next(words []uint64, i int) (int, bool) {
	at := i / 64
	if at >= len(words) {
		return 0, false
	}
	if rest := words[at] >> (i % 64); rest != 0 {
		return i + bits.TrailingZeros64(rest), true
	}
	for at++; at < len(words); at++ {
		if words[at] != 0 {
			return at*64 + bits.TrailingZeros64(words[at]), true
		}
	}
	return 0, false
}

// From yields the members of at least i, in order. The set may change meanwhile: members that are added behind the last
// one yielded are yielded, too.
func (s *Set) From(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at, ok := s.Next(i); ok && yield(at); at, ok = s.Next(at + 1) {
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"unicode/utf8"
)

// compactJSON copies one JSON value without white space and dropped paths. It is not ok for invalid JSON, for a duplicate
// key, and for rare input that it leaves to others, such as keys with escapes.
func compactJSON(text []byte, drop paths) (compact []byte, ok bool) {
	c := compactor{in: text, out: make([]byte, 0, len(text)/2)}
	c.space()
	if !utf8.Valid(text) || !c.value(drop, 0) {
		return nil, false
	}
	c.space()
	return bytes.Clone(c.out), c.at == len(c.in)
}

// compactor reads from in at the offset at.
type compactor struct {
	in, out []byte
	at      int
	keys    [][]byte // of the open objects
}

const mostDepth = 200

func (c *compactor) space() {
	for c.at < len(c.in) && (c.in[c.at] == ' ' || c.in[c.at] == '\n' || c.in[c.at] == '\r' || c.in[c.at] == '\t') {
		c.at++
	}
}

// next skips a byte if it is the next one.
func (c *compactor) next(b byte) bool {
	if c.at >= len(c.in) || c.in[c.at] != b {
		return false
	}
	c.at++
	return true
}

func (c *compactor) value(drop paths, depth int) bool {
	if c.at >= len(c.in) || depth > mostDepth {
		return false
	}
	switch b := c.in[c.at]; b {
	case '{':
		return c.object(drop, depth)
	case '[':
		return c.array(depth)
	case '"':
		return c.text()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

func (c *compactor) object(drop paths, depth int) bool {
	c.at++
	c.out = append(c.out, '{')
	first, empty := len(c.keys), len(c.out)
	for n := 0; ; n++ {
		if c.space(); c.next('}') {
			c.keys = c.keys[:first]
			c.out = append(c.out, '}')
			return true
		}
		before := len(c.out)
		if n > 0 && !c.next(',') {
			return false
		}
		if before > empty {
			c.out = append(c.out, ',')
		}
		dropped, ok := c.member(first, drop, depth)
		if !ok {
			return false
		}
		if dropped {
			c.out = c.out[:before]
		}
	}
}

// member copies a key and its value. The keys of its object begin at the first.
func (c *compactor) member(first int, drop paths, depth int) (dropped, ok bool) {
	c.space()
	begin := c.at
	if !c.text() {
		return false, false
	}
	key := c.in[begin+1 : c.at-1]
	if bytes.IndexByte(key, '\\') >= 0 || contains(c.keys[first:], key) {
		return false, false
	}
	c.keys = append(c.keys, key)
	if c.space(); !c.next(':') {
		return false, false
	}
	c.out = append(c.out, ':')
	c.space()
	dropped, below := drop.at(key)
	return dropped, c.value(below, depth+1)
}

func (c *compactor) array(depth int) bool {
	c.at++
	c.out = append(c.out, '[')
	for n := 0; ; n++ {
		if c.space(); c.next(']') {
			c.out = append(c.out, ']')
			return true
		}
		if n > 0 {
			if !c.next(',') {
				return false
			}
			c.out = append(c.out, ',')
			c.space()
		}
		if !c.value(nil, depth+1) {
			return false
		}
	}
}

func (c *compactor) text() bool {
	begin := c.at
	if c.at >= len(c.in) || c.in[c.at] != '"' {
		return false
	}
	for c.at++; c.at < len(c.in); c.at++ {
		switch b := c.in[c.at]; {
		case b == '"':
			c.at++
			c.out = append(c.out, c.in[begin:c.at]...)
			return true
		case b == '\\':
			if c.at++; c.at >= len(c.in) || bytes.IndexByte([]byte(`"\/bfnrtu`), c.in[c.at]) < 0 {
				return false
			}
			if c.in[c.at] == 'u' {
				for range 4 {
					if c.at++; c.at >= len(c.in) || bytes.IndexByte([]byte("0123456789abcdefABCDEF"), c.in[c.at]) < 0 {
						return false
					}
				}
			}
		case b < ' ':
			return false
		}
	}
	return false
}

func (c *compactor) word(w string) bool {
	if !bytes.HasPrefix(c.in[c.at:], []byte(w)) {
		return false
	}
	c.at += len(w)
	c.out = append(c.out, w...)
	return true
}

// number takes -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? and nothing else.
func (c *compactor) number() bool {
	begin := c.at
	next := func(set string) bool {
		if c.at < len(c.in) && bytes.IndexByte([]byte(set), c.in[c.at]) >= 0 {
			c.at++
			return true
		}
		return false
	}
	digits := func() bool {
		n := c.at
		for next("0123456789") {
		}
		return c.at > n
	}
	next("-")
	if !next("0") && !digits() {
		return false
	}
	if next(".") && !digits() {
		return false
	}
	if next("eE") {
		next("+-")
		if !digits() {
			return false
		}
	}
	c.out = append(c.out, c.in[begin:c.at]...)
	return true
}

func contains(keys [][]byte, key []byte) bool {
	for _, k := range keys {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}

// paths are the dropped paths of an object: keys at its top, with those below them.
type paths map[string]paths

// newPaths parses paths such as status.conditions.
func newPaths(all []string) paths {
	top := make(paths)
	for _, path := range all {
		at := top
		for key := range bytes.SplitSeq([]byte(path), []byte(".")) {
			if at[string(key)] == nil {
				at[string(key)] = make(paths)
			}
			at = at[string(key)]
		}
	}
	return top
}

// at says whether all below a key is dropped, or else which paths below it are.
func (tree paths) at(key []byte) (dropped bool, below paths) {
	below, found := tree[string(key)]
	return found && len(below) == 0, below
}

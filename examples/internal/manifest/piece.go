// SPDX-License-Identifier: Apache-2.0

package manifest

import "bytes"

// piece is an item of a list that can be decoded on its own.
type piece struct {
	text []byte
	dash int // offset of the dash before the item, or none
}

const none = -1

// compact returns the item as JSON without the paths that its kind drops; it is not ok if anything is wrong with the item.
func (part piece) compact(drop func(text []byte) paths) (data []byte, ok bool) {
	text := part.text
	if part.dash != none {
		// Not in place: the document may have to be read in one piece after all.
		text = bytes.Clone(text)
		text[part.dash] = ' '
	}
	if first := bytes.TrimLeft(text, blank); len(first) > 0 && first[0] == '{' {
		if data, ok := compactJSON(text, drop(text)); ok {
			return data, true
		}
	}
	text, err := toJSON(text)
	if err != nil {
		return nil, false
	}
	return compactJSON(text, drop(text))
}

// cut finds the items of a document that is a list as kubectl prints it. rest is the list without them. It is not ok for
// other documents. It checks little: invalid items show when they are decoded.
func cut(text []byte) (items []piece, rest []byte, ok bool) {
	if first := bytes.TrimLeft(text, blank); len(first) > 0 && first[0] == '{' {
		return cutJSON(text)
	}
	return cutYAML(text)
}

// cutYAML finds "items:" at the beginning of a line, and below it the lines with a dash at the indentation of the first
// one.
func cutYAML(text []byte) (items []piece, rest []byte, ok bool) {
	const key = "items:\n"
	begin := 0
	if !bytes.HasPrefix(text, []byte(key)) {
		if begin = bytes.Index(text, []byte("\n"+key)) + 1; begin == 0 {
			return nil, nil, false
		}
	}
	from := begin + len(key)
	indent := len(text[from:]) - len(bytes.TrimLeft(text[from:], " "))
	end, last := len(text), -1
	for at := from; at < len(text); {
		line := text[at:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		content := bytes.TrimLeft(line, " ")
		own := len(line) - len(content)
		switch {
		case own == indent && bytes.HasPrefix(content, []byte("- ")):
			if last >= 0 {
				items = append(items, piece{text[last:at], indent})
			}
			last = at
		case own <= indent && len(bytes.TrimSpace(content)) > 0:
			end = at
		}
		if end < len(text) || last < 0 {
			break
		}
		at += len(line)
	}
	if last < 0 {
		return nil, nil, false
	}
	items = append(items, piece{text[last:end], indent})
	rest = append(append(bytes.Clone(text[:begin]), "items: []\n"...), text[end:]...)
	return items, rest, true
}

// cutJSON scans the keys of an object for its items.
func cutJSON(text []byte) (items []piece, rest []byte, ok bool) {
	s := skipper{in: text}
	if !s.next('{') {
		return nil, nil, false
	}
	for !s.next('}') {
		key, found := s.skip()
		if !found || !s.next(':') {
			return nil, nil, false
		}
		if string(key) != `"items"` || !s.next('[') {
			if _, found := s.skip(); !found {
				return nil, nil, false
			}
			s.next(',')
			continue
		}
		begin := s.at
		for !s.next(']') {
			item, found := s.skip()
			if !found {
				return nil, nil, false
			}
			items = append(items, piece{item, none})
			if !s.next(',') && !s.before(']') {
				return nil, nil, false
			}
		}
		rest = append(append(bytes.Clone(text[:begin]), ']'), text[s.at:]...)
		return items, rest, len(items) > 0
	}
	return nil, nil, false
}

// skipper scans JSON without decoding it.
type skipper struct {
	in []byte
	at int
}

// before says whether a byte comes next, after white space.
func (s *skipper) before(b byte) bool {
	for s.at < len(s.in) && (s.in[s.at] == ' ' || s.in[s.at] == '\n' || s.in[s.at] == '\r' || s.in[s.at] == '\t') {
		s.at++
	}
	return s.at < len(s.in) && s.in[s.at] == b
}

func (s *skipper) next(b byte) bool {
	if !s.before(b) {
		return false
	}
	s.at++
	return true
}

// skip returns the text of the next value.
func (s *skipper) skip() (value []byte, ok bool) {
	s.before(0)
	begin, depth := s.at, 0
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case '"':
			if !s.quoted() {
				return nil, false
			}
		case '{', '[':
			s.at++
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return s.in[begin:s.at], s.at > begin
			}
			s.at++
			depth--
		case ',', ':':
			if depth == 0 {
				return s.in[begin:s.at], s.at > begin
			}
			s.at++
			continue
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return s.in[begin:s.at], true
		}
	}
	return nil, false
}

// quoted skips a string.
func (s *skipper) quoted() bool {
	for s.at++; ; s.at++ {
		end := bytes.IndexByte(s.in[s.at:], '"')
		if end < 0 {
			return false
		}
		s.at += end
		escapes := 0
		for s.in[s.at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			s.at++
			return true
		}
	}
}

package manifest

import "bytes"

// piece is an item of a list that can be read by itself.
type piece struct {
	text []byte
	dash int // where in the text a dash stands before the item, or none
}

const none = -1

// compact gives the item as JSON without what is dropped of its kind; not ok where anything is the matter with it.
func (p piece) compact(drop func(text []byte) paths) (data []byte, ok bool) {
	text := p.text
	if p.dash != none {
		// Not in place, as the document may have to be read in one piece after all.
		text = bytes.Clone(text)
		text[p.dash] = ' '
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

// cut finds the items of a document that is a list as kubectl prints it. rest is the list without them. All other
// documents are not ok. Nothing is looked at closely: items that are none show when they are read.
func cut(text []byte) (items []piece, rest []byte, ok bool) {
	if first := bytes.TrimLeft(text, blank); len(first) > 0 && first[0] == '{' {
		return cutJSON(text)
	}
	return cutYAML(text)
}

// cutYAML finds "items:" at the beginning of a line, and below it the lines that begin with a dash as far to the
// right as the first does.
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

// cutJSON goes over the keys of an object to find its items.
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

// skipper goes over JSON without a look at what it says.
type skipper struct {
	in []byte
	at int
}

// before says whether the byte comes next, after white space.
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

// skip returns the next value as it stands.
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

// quoted goes over a string.
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

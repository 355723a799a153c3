package manifest

import "bytes"

// plainYAML turns YAML into JSON, without what is dropped, as long as it is as kubectl and people write it: blocks of
// mappings and sequences, one line a scalar. All else is not ok, and for the real parser, which takes ten times
// as long. What is ok means the same to both.
func plainYAML(text []byte, drop paths) (compact []byte, ok bool) {
	p := plain{in: text, out: make([]byte, 0, len(text)/2)}
	p.advance()
	if !p.there || !p.mapping(p.indent, drop, 0) || p.there {
		return nil, false
	}
	return bytes.Clone(p.out), true
}

// plain reads lines. The current one, if there is one, has so much indent before its text.
type plain struct {
	in, out []byte
	at      int // where the line after the current one begins
	there   bool
	indent  int
	text    []byte
	keys    [][]byte // of the mappings that are open
}

// raw is the next line as it stands, without its end.
func (p *plain) raw() (line []byte, ok bool) {
	if p.at >= len(p.in) {
		return nil, false
	}
	rest := p.in[p.at:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	p.at = min(p.at+end+1, len(p.in))
	return rest[:end], true
}

// advance goes to the next line that is more than a comment.
func (p *plain) advance() {
	for {
		line, ok := p.raw()
		if !ok {
			p.there = false
			return
		}
		text := bytes.TrimLeft(line, " ")
		if len(text) == 0 || text[0] == '#' && ascii(text) {
			continue
		}
		p.there, p.indent, p.text = true, len(line)-len(text), bytes.TrimRight(text, " ")
		return
	}
}

// ascii says whether all bytes are printable and of ASCII.
func ascii(text []byte) bool {
	for _, b := range text {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

func isItem(text []byte) bool { return text[0] == '-' && (len(text) == 1 || text[1] == ' ') }

func (p *plain) mapping(indent int, drop paths, depth int) bool {
	if depth > mostDepth {
		return false
	}
	p.out = append(p.out, '{')
	first, empty := len(p.keys), len(p.out)
	for p.there && p.indent == indent && !isItem(p.text) {
		key, rest, ok := splitKey(p.text)
		if !ok || contains(p.keys[first:], key) {
			return false
		}
		p.keys = append(p.keys, key)
		dropped, below := drop.at(key)
		if dropped {
			if !p.pass(indent) {
				return false
			}
			continue
		}
		if len(p.out) > empty {
			p.out = append(p.out, ',')
		}
		p.quote(key)
		p.out = append(p.out, ':')
		if !p.value(rest, indent, below, depth) {
			return false
		}
	}
	p.keys = p.keys[:first]
	p.out = append(p.out, '}')
	return !p.there || p.indent <= indent
}

// pass goes over what belongs to the current key.
func (p *plain) pass(indent int) bool {
	for p.advance(); p.there && (p.indent > indent || p.indent == indent && isItem(p.text)); p.advance() {
		if !ascii(p.text) {
			return false
		}
	}
	return true
}

// value takes what stands behind a key of a mapping with this indent.
func (p *plain) value(rest []byte, indent int, drop paths, depth int) bool {
	switch {
	case len(rest) == 0:
		p.advance()
		switch {
		case p.there && p.indent >= indent && isItem(p.text):
			return p.sequence(p.indent, depth+1) && (!p.there || p.indent <= indent)
		case p.there && p.indent > indent:
			return p.mapping(p.indent, drop, depth+1) && (!p.there || p.indent <= indent)
		}
		p.out = append(p.out, "null"...)
		return true
	case rest[0] == '|':
		return p.literal(rest, indent)
	}
	return p.scalar(rest, indent)
}

func (p *plain) sequence(indent, depth int) bool {
	if depth > mostDepth {
		return false
	}
	p.out = append(p.out, '[')
	for n := 0; p.there && p.indent == indent && isItem(p.text); n++ {
		if n > 0 {
			p.out = append(p.out, ',')
		}
		text := bytes.TrimLeft(p.text[1:], " ")
		if len(text) == 0 || isItem(text) {
			return false
		}
		if _, _, isKey := splitKey(text); !isKey {
			if !p.scalar(text, indent) {
				return false
			}
			continue
		}
		p.indent += len(p.text) - len(text)
		p.text = text
		if !p.mapping(p.indent, nil, depth+1) || p.there && p.indent > indent {
			return false
		}
	}
	p.out = append(p.out, ']')
	return !p.there || p.indent <= indent
}

// mostKey is how long a key may be. The real parser has a limit as well, of 1024.
const mostKey = 256

// splitKey cuts a line of a mapping.
func splitKey(text []byte) (key, rest []byte, ok bool) {
	if !isLetter(text[0]) {
		return nil, nil, false
	}
	for i, b := range text[:min(len(text), mostKey)] {
		switch {
		case isLetter(b), b >= '0' && b <= '9', b == '_', b == '.', b == '/', b == '-':
		case b != ':':
			return nil, nil, false
		case i+1 == len(text) || text[i+1] == ' ':
			return text[:i], bytes.TrimLeft(text[i+1:], " "), !reserved(text[:i])
		}
	}
	return nil, nil, false
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

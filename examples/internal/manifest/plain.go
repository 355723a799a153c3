package manifest

import (
	"bytes"
	"slices"

	"sigs.k8s.io/yaml"
)

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

// reserved says whether a word may be something else than a string.
func reserved(word []byte) bool {
	if len(word) > len("false") {
		return false
	}
	switch string(bytes.ToLower(word)) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return true
	}
	return false
}

// scalar takes a value of one line, and sees that it doesn't go on in the next.
func (p *plain) scalar(text []byte, indent int) bool {
	if !ascii(text) || !p.oneLine(text) {
		return false
	}
	p.advance()
	return !p.there || p.indent <= indent
}

func (p *plain) oneLine(text []byte) bool {
	switch first := text[0]; {
	case first == '"' || first == '\'':
		inner := text[1:]
		if end := bytes.IndexByte(inner, first); end < 0 || end != len(inner)-1 || bytes.IndexByte(inner, '\\') >= 0 && first == '"' {
			return false
		}
		p.quote(inner[:len(inner)-1])
		return true
	case first == '{' || first == '[':
		before := len(p.out)
		if p.flat(text) {
			return true
		}
		p.out = p.out[:before]
		return isOne(text) && !bytes.ContainsAny(text, "&*!|>%@`#\\") && p.parsed(text)
	case bytes.Contains(text, []byte(": ")) || bytes.Contains(text, []byte(" #")) || text[len(text)-1] == ':':
		return false
	case isLetter(first) && !reserved(text):
		p.quote(text)
		return true
	case isLetter(first):
		if word := string(text); word == "true" || word == "false" || word == "null" {
			p.out = append(p.out, word...)
			return true
		}
		return p.parsed(text)
	case first >= '0' && first <= '9':
		switch {
		case isWhole(text):
			p.out = append(p.out, text...)
		case isText(text):
			p.quote(text)
		default:
			return p.parsed(text)
		}
		return true
	case first == '/':
		p.quote(text)
		return true
	}
	return false
}

// isOne says whether the bracket that a text begins with is closed at its end: the real parser would read one value
// and not look at what follows.
func isOne(text []byte) bool {
	depth := 0
	for i, b := range text {
		switch b {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			return i == len(text)-1
		}
	}
	return false
}

// flat takes {a: b, c: "d"} and [a, b], if all in it are simple words.
func (p *plain) flat(text []byte) bool {
	opens, closes := text[0], byte('}')
	if opens == '[' {
		closes = ']'
	}
	if len(text) < 3 || text[len(text)-1] != closes {
		return false
	}
	inner := text[1 : len(text)-1]
	p.out = append(p.out, opens)
	var keys [][]byte
	for part := range bytes.SplitSeq(inner, []byte(",")) {
		if part = bytes.TrimSpace(part); len(part) == 0 {
			return false
		}
		if p.out[len(p.out)-1] != opens {
			p.out = append(p.out, ',')
		}
		if opens == '{' {
			key, rest, ok := splitKey(part)
			if !ok || len(rest) == 0 || contains(keys, key) {
				return false
			}
			keys = append(keys, key)
			p.quote(key)
			p.out = append(p.out, ':')
			part = rest
		}
		if !p.simple(part) {
			return false
		}
	}
	p.out = append(p.out, closes)
	return true
}

// simple takes a word that means the same everywhere.
func (p *plain) simple(word []byte) bool {
	quoted := word[0] == '"' && len(word) > 1 && word[len(word)-1] == '"'
	if quoted {
		word = word[1 : len(word)-1]
	}
	for _, b := range word {
		if !isLetter(b) && (b < '0' || b > '9') && b != '_' && b != '.' && b != '/' && b != '-' {
			return false
		}
	}
	switch {
	case quoted || isLetter(word[0]) && !reserved(word):
		p.quote(word)
	case string(word) == "true" || string(word) == "false" || isWhole(word):
		p.out = append(p.out, word...)
	default:
		return false
	}
	return true
}

// isWhole says whether a text is a whole number, and not of the sort that begins with 0.
func isWhole(text []byte) bool {
	return len(text) < 18 && (text[0] != '0' || len(text) == 1) && !slices.ContainsFunc(text, func(b byte) bool { return b < '0' || b > '9' })
}

// isText says whether a text that begins with a digit is for sure no number and no time: a UUID, or an amount like
// 30000Mi.
func isText(text []byte) bool {
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		return true
	}
	n := len(text)
	return n > 2 && text[n-1] == 'i' && bytes.IndexByte([]byte("KMGTPE"), text[n-2]) >= 0 && isWhole(text[:n-2])
}

// parsed leaves a piece of a line to the real parser.
func (p *plain) parsed(text []byte) bool {
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return false
	}
	p.out = append(p.out, bytes.TrimSpace(data)...)
	return true
}

// literal takes a block of lines behind | or |-.
func (p *plain) literal(mark []byte, indent int) bool {
	if string(mark) != "|" && string(mark) != "|-" {
		return false
	}
	var lines [][]byte
	block := -1
	for {
		before := p.at
		line, ok := p.raw()
		text := bytes.TrimLeft(line, " ")
		own := len(line) - len(text)
		switch {
		case !ok || len(text) > 0 && own <= indent:
			p.at = before
			if block < 0 || !ok && !bytes.HasSuffix(p.in, []byte("\n")) {
				return false
			}
			p.lines(lines, string(mark) == "|")
			p.advance()
			return true
		case len(text) == 0 || !ascii(line) || block > own:
			return false
		case block < 0:
			block = own
		}
		lines = append(lines, line[block:])
	}
}

// lines writes them as one string.
func (p *plain) lines(lines [][]byte, lastEnds bool) {
	p.out = append(p.out, '"')
	for i, line := range lines {
		p.escape(line)
		if i < len(lines)-1 || lastEnds {
			p.out = append(p.out, `\n`...)
		}
	}
	p.out = append(p.out, '"')
}

// quote writes printable ASCII as a string.
func (p *plain) quote(text []byte) {
	p.out = append(p.out, '"')
	p.escape(text)
	p.out = append(p.out, '"')
}

func (p *plain) escape(text []byte) {
	for _, b := range text {
		if b == '"' || b == '\\' {
			p.out = append(p.out, '\\')
		}
		p.out = append(p.out, b)
	}
}

package manifest

import (
	"bytes"
	"slices"

	"sigs.k8s.io/yaml"
)

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

package manifest

import "bytes"

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

// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// document is the text between two separators and the line of the stream on which its content begins.
type document struct {
	text []byte
	line int
}

// split cuts a stream at lines that begin with a separator, and between JSON values, which need no separator. YAML forbids
// "---" and "..." at the beginning of a line even inside of a block scalar, so lines are enough.
func split(data []byte) []document {
	var documents []document
	begin, line := 0, 1
	add := func(end int) {
		for rest := data[begin:end]; len(rest) > 0; {
			text := rest[:firstJSON(rest)]
			rest = rest[len(text):]
			if len(bytes.TrimLeft(text, blank)) > 0 {
				documents = append(documents, document{text: text, line: line + leadingLines(text)})
			}
			line += bytes.Count(text, []byte("\n"))
		}
	}
	for at := 0; at < len(data); {
		next := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if separates(data[at:next]) {
			add(at)
			begin = at + len("---")
		}
		at = next
	}
	add(len(data))
	return documents
}

const blank = " \t\r\n"

// firstJSON is the offset to cut a text at: after a JSON value that others follow, or at its end.
func firstJSON(text []byte) int {
	s := skipper{in: text, at: len(text) - len(afterComments(text))}
	begin := s.at
	if begin == len(text) || text[begin] != '{' && text[begin] != '[' {
		return len(text)
	}
	if _, ok := s.skip(); !ok {
		return len(text)
	}
	if rest := afterComments(text[s.at:]); len(rest) == 0 || rest[0] != '{' && rest[0] != '[' || !json.Valid(text[begin:s.at]) {
		return len(text)
	}
	return s.at
}

// afterComments is a text without its leading empty lines and comments.
func afterComments(text []byte) []byte {
	for {
		text = bytes.TrimLeft(text, blank)
		if len(text) == 0 || text[0] != '#' {
			return text
		}
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return nil
		}
		text = text[end:]
	}
}

func separates(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || strings.IndexByte(blank, line[3]) >= 0
}

func leadingLines(text []byte) int {
	content := bytes.TrimLeft(text, blank)
	return bytes.Count(text[:len(text)-len(content)], []byte("\n"))
}

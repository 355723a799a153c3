package manifest

import "bytes"

// document is the text between two separators and the line of the stream on which its content begins.
type document struct {
	text []byte
	line int
}

// split cuts a stream where a line begins with a separator. YAML forbids "---" and "..." at the
// beginning of a line even inside of a block scalar, so looking at lines is enough.
func split(data []byte) []document {
	var documents []document
	begin, line := 0, 1
	add := func(end int) {
		text := data[begin:end]
		content := bytes.TrimLeft(text, " \t\r\n")
		if len(content) > 0 {
			skipped := bytes.Count(text[:len(text)-len(content)], []byte("\n"))
			documents = append(documents, document{text: text, line: line + skipped})
		}
		line += bytes.Count(text, []byte("\n"))
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

func separates(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0
}

func leadingLines(text []byte) int {
	content := bytes.TrimLeft(text, " \t\r\n")
	return bytes.Count(text[:len(text)-len(content)], []byte("\n"))
}

package sim

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// diffContext is how many lines before a difference are told.
const diffContext = 8

// Diff compares two logs of plays, and returns the first line that differs with what came before it and after it; nothing, if they are the same.
func Diff(a, b io.Reader) (string, error) {
	first, second := newLines(a), newLines(b)
	var before []string
	for n := 1; ; n++ {
		x, y := first.next(), second.next()
		if x == y && x != "" {
			if before = append(before, x); len(before) > diffContext {
				before = before[1:]
			}
			continue
		}
		if err := first.Err(); err != nil {
			return "", fmt.Errorf("read the first log: %w", err)
		}
		if err := second.Err(); err != nil {
			return "", fmt.Errorf("read the second log: %w", err)
		}
		if x == y {
			return "", nil
		}
		var out strings.Builder
		fmt.Fprintf(&out, "line %d differs\n", n)
		for _, line := range before {
			fmt.Fprintf(&out, "  %s\n", line)
		}
		first.tell(&out, "-", x)
		second.tell(&out, "+", y)
		return out.String(), nil
	}
}

type logLines struct{ *bufio.Scanner }

func newLines(r io.Reader) logLines {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	return logLines{s}
}

func (l logLines) next() string {
	if l.Scan() {
		return l.Text()
	}
	return ""
}

// tell writes a line and three behind it.
func (l logLines) tell(out io.Writer, sign, line string) {
	if line == "" {
		fmt.Fprintf(out, "%s (it has ended)\n", sign)
	}
	for i := 0; i < 4 && line != ""; i++ {
		fmt.Fprintf(out, "%s %s\n", sign, line)
		line = l.next()
	}
}

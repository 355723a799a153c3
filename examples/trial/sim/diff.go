// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// diffContext is the number of lines that are printed before a difference.
const diffContext = 8

// Diff compares two logs of plays. It returns the first different line with its context, or "" if the logs are equal.
func Diff(a, b io.Reader) (string, error) {
	first, second := newLines(a), newLines(b)
	var before []string
	for n := 1; ; n++ {
		more, again := first.Scan(), second.Scan()
		if more && again && first.Text() == second.Text() {
			if before = append(before, first.Text()); len(before) > diffContext {
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
		if !more && !again {
			return "", nil
		}
		var out strings.Builder
		fmt.Fprintf(&out, "line %d differs\n", n)
		for _, line := range before {
			fmt.Fprintf(&out, "  %s\n", line)
		}
		tell(&out, "-", first, more)
		tell(&out, "+", second, again)
		return out.String(), nil
	}
}

func newLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	return s
}

// tell prints the different line and three more.
func tell(out io.Writer, sign string, lines *bufio.Scanner, more bool) {
	if !more {
		fmt.Fprintf(out, "%s (it has ended)\n", sign)
	}
	for i := 0; i < 4 && more; i++ {
		fmt.Fprintf(out, "%s %s\n", sign, lines.Text())
		more = lines.Scan()
	}
}

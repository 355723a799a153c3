// SPDX-License-Identifier: Apache-2.0

package scene

import (
	"fmt"
	"strings"
	"testing"
)

const story = `# A story.

echo a b
one
two
----
a b: 2 lines

echo
----

blank
----
----
x

y
----
----
`

func tell(c Command) string {
	switch c.Name {
	case "echo":
		if n := strings.Count(c.Input, "\n"); n > 0 {
			return fmt.Sprintf("%s: %d lines", strings.Join(c.Args, " "), n)
		}
		return ""
	default:
		return "x\n\ny\n"
	}
}

func TestASceneThatPrintsWhatItSaysStaysAsItIs(t *testing.T) {
	if got := run("story.txt", story, tell, t.Errorf); got != story {
		t.Errorf("the scene became\n%s\nwant\n%s", got, story)
	}
}

func TestASceneThatPrintsSomethingElseIsNoted(t *testing.T) {
	var complaints []string
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	changed := strings.Replace(story, "2 lines", "3 lines", 1)
	if got := run("story.txt", changed, tell, complain); got != story {
		t.Errorf("the scene became\n%s\nwant\n%s", got, story)
	}
	if len(complaints) != 1 || !strings.HasPrefix(complaints[0], "story.txt:3: echo printed\na b: 2 lines\n") {
		t.Errorf("complaints are %q, want one of line 3", complaints)
	}
}

func TestACommandWithoutAnEndIsNoted(t *testing.T) {
	var complaints int
	run("story.txt", "echo\n", tell, func(string, ...any) { complaints++ })
	if complaints != 1 {
		t.Errorf("got %d complaints, want 1", complaints)
	}
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strings"
	"testing"
)

func TestDiffTellsTheFirstDifference(t *testing.T) {
	for _, x := range []struct{ why, a, b, expected string }{
		{"the same", "1 > a\n2 < a\n", "1 > a\n2 < a\n", ""},
		{"another line, with what came before and after", "1 > a\n2 < a\n3 < b\n", "1 > a\n2 < c\n4 < b\n", "line 2 differs\n  1 > a\n- 2 < a\n- 3 < b\n+ 2 < c\n+ 4 < b\n"},
		{"behind an empty line", "1 > a\n\n2 < a\n", "1 > a\n\n3 < a\n", "line 3 differs\n  1 > a\n  \n- 2 < a\n+ 3 < a\n"},
		{"one ends", "1 > a\n", "1 > a\n2 < a\n", "line 2 differs\n  1 > a\n- (it has ended)\n+ 2 < a\n"},
	} {
		found, err := Diff(strings.NewReader(x.a), strings.NewReader(x.b))
		if err != nil || found != x.expected {
			t.Errorf("%s: found %q, %v, expected %q", x.why, found, err, x.expected)
		}
	}
}

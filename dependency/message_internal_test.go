// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"strings"
	"testing"
)

func TestFew(t *testing.T) {
	for _, test := range []struct {
		limit int
		want  string
	}{
		{10, "aa, bb, cc"},
		{9, "aa, bb, and 1 more"},
		{6, "aa, bb, and 1 more"},
		{5, "aa, and 2 more"},
	} {
		if got := joinFitting([]string{"aa", "bb", "cc"}, ", ", test.limit); got != test.want {
			t.Errorf("in %d bytes %q, want %q", test.limit, got, test.want)
		}
	}
}

// P4: a message that just fits is whole.
func TestMessageUsesAllTheRoom(t *testing.T) {
	whole := 0
	for n := range 1000 {
		object := Object{Kind: "K", Name: strings.Repeat("x", n)}
		message := TemplateEvaluation{State: StatePending, Unmet: []Unmet{{Object: object, Reason: ReasonNotRead}}}.Message()
		if strings.Contains(message, object.Name+" has not been read yet") {
			whole = len(message)
		}
		if len(message) > maxMessage {
			t.Fatalf("a message of %d bytes", len(message))
		}
	}
	if whole != maxMessage {
		t.Errorf("the longest whole message has %d bytes, want %d", whole, maxMessage)
	}
}

// P8: of a cycle as many names are shown as fit, the last two and the first always; where only one would be left out, none is.
func TestACycleShowsWhatFits(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 9} {
		var cycle Cycle
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("K n%d", i)
			cycle = append(cycle, make(Cycle, 1)...)
			cycle[i].Object = Object{Kind: "K", Name: fmt.Sprintf("n%d", i)}
		}
		// From the fewest names to all.
		texts := []string{strings.Join(names, arrow)}
		for left := 1; left <= n-3; left++ {
			shown := append([]string{}, names[:n-2-left]...)
			texts = append([]string{strings.Join(append(append(shown, fmt.Sprintf("and %d more", left)), names[n-2:]...), arrow)}, texts...)
		}
		for limit := range len(texts[len(texts)-1]) + 2 {
			want := texts[0]
			for _, text := range texts {
				if len(text) <= limit {
					want = text
				}
			}
			if got := cycle.text(limit); got != want {
				t.Errorf("%d names in %d bytes: %s, want %s", n, limit, got, want)
			}
		}
	}
}

// P8: what a long cycle leaves out is counted, and nothing behind it is shown but the end.
func TestACycleThatLeavesOutSomeIsShownAsTheWholeOne(t *testing.T) {
	whole := make(Cycle, 60)
	for i := range whole {
		whole[i].Object = Object{Kind: "K", Name: fmt.Sprintf("n%02d", i)}
	}
	kept := append(append(Cycle{}, whole[:30]...), whole[58:]...)
	kept[30].Skipped = 28
	most := ""
	for limit := range 1000 {
		want := whole.text(limit)
		if strings.Contains(want, "n30") {
			break
		}
		if most = kept.text(limit); most != want {
			t.Fatalf("in %d bytes %s, want %s", limit, most, want)
		}
	}
	if got := kept.text(1000); got != most || !strings.Contains(got, "K n29 → and 28 more → K n58 → K n59") {
		t.Errorf("in 1000 bytes %s, want %s", got, most)
	}
	for n := range 5 { // Nothing panics, whatever part a caller takes.
		_ = kept[30 : 30+min(n, 2)].text(5)
		_ = kept[32-n:].text(5)
	}
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"
)

// What shows that something was wrong may lack why the controller did it. An excerpt keeps the lines that its caller asks for.
func TestAnExcerptKeepsItsCause(t *testing.T) {
	text, err := os.ReadFile("testdata/ocm/next-group-too-early.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Lag: 2 * time.Second, Patience: 5 * time.Second}
	report := Judge(r, o)
	i := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Kind == Order })
	if i < 0 {
		t.Fatal(said(report))
	}
	Excerpt(r, report, i, o, nil)
	without := report.Findings[i].Excerpt
	cause := 0 // a line that only its cause needs
	for line := 1; line <= bytes.Count(text, []byte("\n")); line++ {
		if !slices.Contains(without, line) {
			cause = line
		}
	}
	if cause == 0 || len(without) == 0 {
		t.Fatalf("the excerpt has %v", without)
	}
	Excerpt(r, report, i, o, func(lines []int) bool { return slices.Contains(lines, cause) })
	if with := report.Findings[i].Excerpt; !slices.Contains(with, cause) {
		t.Errorf("with line %d: %v, without %v", cause, with, without)
	}
	Excerpt(r, report, i, o, func([]int) bool { return false })
	if with := report.Findings[i].Excerpt; with != nil {
		t.Errorf("there is no cause, and the excerpt is %v", with)
	}
}

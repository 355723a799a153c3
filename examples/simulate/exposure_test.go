package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var exposeDesign = []string{"exposure", "-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml", "-takes", "5m-20m"}

func TestExposureIsThatInTestdata(t *testing.T) {
	golden(t, filepath.Join("testdata", "output", "exposure.txt"), simulateText(t, "", append(slices.Clone(exposeDesign), "-at-most", "12")...))
	golden(t, filepath.Join("testdata", "output", "exposure.json"), simulateText(t, "", append(slices.Clone(exposeDesign), "-o", "json")...))
}

func TestExposureSaysWhichBoundIsTooNarrow(t *testing.T) {
	for _, test := range []struct {
		why, stdin string
		args       []string
		want       string
	}{
		{"too few", "", []string{"-at-most", "5"}, "No limits hold: -at-most 5 must be at least 10, which are exposed with maxConcurrency 1"},
		{"too soon", "", []string{"-at-most", "12", "-within", "8h"}, "No limits hold: -within 8h0m0s must be at least 9h0m0s, "},
		{"nobody knows when", "", []string{"-at-most", "12", "-within", "8h", "-gate", "2"}, "No limits hold: -within 8h0m0s must be 0: nobody knows"},
	} {
		if got := simulateText(t, test.stdin, append(slices.Clone(exposeDesign), test.args...)...); !strings.Contains(got, test.want) {
			t.Errorf("%s: no %q in\n%s", test.why, test.want, got)
		}
	}
}

func TestExposureRefuses(t *testing.T) {
	for _, test := range []struct {
		why  string
		args []string
		want string
	}{
		{"no bound", append(slices.Clone(exposeDesign), "-at-most", "0"), "-at-most 0: must be at least 1"},
		{"a time without a bound", append(slices.Clone(exposeDesign), "-within", "1h"), "-within 1h0m0s: must be above 0 and be given with -at-most"},
		{"a limit that cannot be", append(slices.Clone(exposeDesign), "-max-concurrency-per-group", "0%"), "-max-concurrency-per-group 0%: must be above 0%"},
		{"a word too much", append(slices.Clone(exposeDesign), "x"), `unexpected argument "x"`},
		{"a Policy", []string{"exposure", "-f", "testdata/policy/progressive.yaml"}, "a Policy informs everywhere before it enforces"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(test.args, strings.NewReader(""), &stdout, &stderr)
		if status != exitInput || !strings.Contains(stderr.String(), test.want) || stdout.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, want %q", test.why, status, stderr.String(), test.want)
		}
	}
	if help := simulateText(t, "", "exposure", "-h"); !strings.Contains(help, "-at-most") {
		t.Error(help)
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var compareDesign = []string{"compare", "-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml",
	"-strategy", "testdata/design/strategies.yaml", "-takes", "5m-20m", "-fail-rate", "0.3%", "-runs", "50", "-seed", "7"}

func TestCompareIsThatInTestdata(t *testing.T) {
	golden(t, filepath.Join("testdata", "output", "compare.txt"), simulateText(t, "", compareDesign...))
	golden(t, filepath.Join("testdata", "output", "compare.json"), simulateText(t, "", append(compareDesign[:len(compareDesign):len(compareDesign)], "-o", "json")...))
}

func TestCompareDrawsWhatItSays(t *testing.T) {
	dir := t.TempDir()
	svg, png := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.png")
	simulateText(t, "", append(compareDesign[:len(compareDesign):len(compareDesign)], "-svg", svg, "-png", png)...)
	text, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">careful<", ">per group<", ">at once<", ">320 of 320, not stopped<", ">a bad version reaches<"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in the picture", want)
		}
	}
	if data, err := os.ReadFile(png); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("no PNG: %v", err)
	}
}

func TestCompareRefusesWhatItCannotCompare(t *testing.T) {
	design := compareDesign[1:5]
	for _, test := range []struct {
		why, stdin string
		args       []string
		want       string
	}{
		{"no file", "", nil, "no file given"},
		{"a range that goes backwards", "", []string{"-takes", "20m-5m"}, "must not begin with more than it ends with"},
		{"a rate of more than all", "", []string{"-fail-rate", "120%"}, "must be a chance such as 0.3%"},
		{"rates of more than all together", "", []string{"-fail-rate", "60%", "-never-rate", "60%"}, "must not be more than 100% together"},
		{"no run", "", []string{"-runs", "0"}, "-runs 0: must be from 1 to"},
		{"a word too much", "", []string{"x"}, `unexpected argument "x"`},
		{"a strategy of another kind", "apiVersion: v1\nkind: ConfigMap\n", append(design[:4:4], "-strategy", "-"), `stdin:1: ConfigMap: kind: Unsupported value`},
		{"a strategy that is wrong", "apiVersion: cluster.open-cluster-management.io/v1alpha1\nkind: RolloutStrategy\ntype: Progressive\nprogressive: {maxFailures: -1}\n",
			append(design[:4:4], "-strategy", "-"), "stdin:1: RolloutStrategy: progressive.maxFailures"},
		{"a Policy", "", []string{"-f", "testdata/policy/progressive.yaml"}, "a Policy has no strategies to compare"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(append([]string{"compare"}, test.args...), strings.NewReader(test.stdin), &stdout, &stderr)
		if status != exitInput || !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, want %q", test.why, status, stderr.String(), test.want)
		}
	}
}

func TestCompareHelps(t *testing.T) {
	if got := simulateText(t, "", "compare", "-h"); !strings.Contains(got, "-strategy") || !strings.Contains(got, "kind: RolloutStrategy") {
		t.Errorf("got %s", got)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The picture of a rollout that stopped says when, as the text does.
func TestPictureSaysWhenItStopped(t *testing.T) {
	dir := t.TempDir()
	svg, png := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.png")
	text := simulateText(t, "", "-f", "testdata/canary-fails/retail.yaml", "--svg", svg, "--png", png, "--chart")
	picture, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">stopped after 5m<", ">0 canary<", ">failed 1<", ">waiting 7<"} {
		if !bytes.Contains(picture, []byte(want)) {
			t.Errorf("no %s in the picture", want)
		}
	}
	for _, want := range []string{"\nafter 5m: Breached", "x failed 1   stopped after 5m\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the text:\n%s", want, text)
		}
	}
	if data, err := os.ReadFile(png); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("no PNG: %v", err)
	}
}

func TestPictureThatCannotBeDrawnIsSaid(t *testing.T) {
	retail := []string{"-f", "testdata/canary-fails/retail.yaml"}
	for _, test := range []struct {
		why    string
		args   []string
		status int
		want   string
	}{
		{"two pictures in one file", append(retail[:2:2], "--svg", "a", "--png", "./a"), exitInput, "must not be the same file"},
		{"a directory that isn't there", append(retail[:2:2], "--svg", "/nowhere/a.svg"), exitOutput, "/nowhere/a.svg"},
		{"the output has the report", append(retail[:2:2], "--svg", "-"), exitInput, "--svg and --png: must be the name of a file"},
		{"too few rows", append(retail[:2:2], "--rows", "1"), exitInput, "at least 2, or all"},
	} {
		var stdout, stderr bytes.Buffer
		if status := cohort(test.args, strings.NewReader(""), &stdout, &stderr); status != test.status || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%s: exit status %d, %q, want %q", test.why, status, stderr.String(), test.want)
		}
	}
}

func TestProgressIsSaidOnlyOfWhatTakesLong(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	progressOn(file).begin("being quick")()
	progressOn(new(bytes.Buffer)).begin("being private")()
	if got, err := os.ReadFile(file.Name()); err != nil || len(got) > 0 {
		t.Errorf("%v: got %q", err, got)
	}
}

// Nothing is played, printed or written where there are two rollouts for one picture.
func TestAPictureHasOneRollout(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.svg")
	got := refused(t, documents(aCluster, aPlacement, aReplicaSet, strings.Replace(aReplicaSet, "name: set", "name: other", 1)), "-f", "-", "--svg", file)
	if want := "--svg and --png: a picture has one of the 2 rollouts: must be given with --rollout"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file: %v, want none", err)
	}
}

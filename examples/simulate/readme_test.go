package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the README shows of a command is what it prints; … stands for what is left out.
func TestTheReadmeShowsWhatCommandsPrint(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, block := range strings.Split(string(data), "```") {
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		if i%2 == 0 || len(lines) < 2 {
			continue
		}
		command, found := strings.CutPrefix(lines[1], "$ simulate ")
		if !found {
			continue
		}
		shown++
		args := strings.Fields(command)
		if at := slices.Index(args, "-svg"); at >= 0 {
			args[at+1] = filepath.Join(t.TempDir(), args[at+1])
		}
		rest := simulateText(t, "", args...)
		for part := range strings.SplitSeq(strings.Join(lines[2:], "\n")+"\n", "…\n") {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Fatalf("simulate %s: no\n%s\nin\n%s", command, part, rest)
			}
			rest = after
		}
	}
	if shown < 4 {
		t.Errorf("%d commands with their output, want 4", shown)
	}
}

// The pictures are those that the commands draw; -update draws them anew.
func TestThePicturesOfTheReadmeAreCurrent(t *testing.T) {
	for name, args := range map[string][]string{"design": runs()["design"], "design-stopped": runs()["design-random"]} {
		file := filepath.Join(t.TempDir(), "picture.svg")
		simulateText(t, "", append(args, "-svg", file)...)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("images", name+".svg"), string(data))
	}
}

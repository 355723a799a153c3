// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
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
		if i%2 == 0 || len(lines) < 2 || !strings.HasPrefix(lines[1], "$ kubectl cohort ") {
			continue
		}
		for _, part := range strings.Split(strings.Join(lines[1:], "\n")+"\n", "$ kubectl cohort ")[1:] {
			command, output, _ := strings.Cut(part, "\n")
			shown++
			args := words(command)
			if at := slices.Index(args, "--svg"); at >= 0 {
				args[at+1] = filepath.Join(t.TempDir(), args[at+1])
			}
			rest := simulateText(t, "", args...)
			for part := range strings.SplitSeq(output, "…\n") {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("kubectl cohort %s: no\n%s\nin\n%s", command, part, rest)
				}
				rest = after
			}
		}
	}
	if shown < 4 {
		t.Errorf("%d commands with their output, want 4", shown)
	}
}

// The tree of the README is what a watch draws.
func TestTheReadmeShowsTheTree(t *testing.T) {
	if tree := readFile(t, "testdata/output/tree.txt"); !strings.Contains(readFile(t, "README.md"), "\n```\n"+tree+"```\n") {
		t.Errorf("the README does not have\n%s", tree)
	}
}

// words gives the words of a command line, some of them quoted.
func words(command string) (all []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// A new user gets an answer by the first three commands of the README. Of them only the first is not run: the
// repository is this one.
func TestThreeCommandsLeadToAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(data), "```")
	commands, answer := strings.Split(strings.TrimSpace(strings.TrimPrefix(blocks[1], "sh\n")), "\n"), strings.TrimPrefix(blocks[3], "\n")
	if len(commands) != 3 || !strings.HasPrefix(commands[0], "git clone ") {
		t.Fatalf("%q, want three commands of which the first clones", commands)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(root, filepath.Join(dir, "cohort")); err != nil {
		t.Skip(err)
	}
	var got []byte
	for _, command := range commands[1:] {
		do := exec.Command("sh", "-c", command)
		do.Dir = dir
		do.Env = append(os.Environ(), "GOBIN="+bin, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		if got, err = do.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, got)
		}
	}
	if string(got) != answer {
		t.Errorf("got\n%s\nwant\n%s", got, answer)
	}
}

// The pictures are those that the commands draw; -update draws them anew.
func TestThePicturesOfTheReadmeAreCurrent(t *testing.T) {
	for name, args := range map[string][]string{"design": runs()["design"], "design-stopped": runs()["design-random"], "design-cut-off": append(runs()["design"], "--cut-off", "site-*")} {
		file := filepath.Join(t.TempDir(), "picture.svg")
		simulateText(t, "", append(args, "--svg", file)...)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("images", name+".svg"), string(data))
	}
}

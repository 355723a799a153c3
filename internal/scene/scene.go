// SPDX-License-Identifier: Apache-2.0

// Package scene runs text scenes: files that tell a story in prose and commands, with what each command prints.
//
// A file is a list of paragraphs, separated by blank lines. A paragraph whose first line begins with # is prose.
// Any other is a command: its first line is the command's name and arguments, the lines up to "----" are its
// input, and the lines behind it are what it prints:
//
//	# Two clusters at a time. The third waits.
//
//	plan
//	maxConcurrency: 2
//	----
//	start a b
//	1 held: …
//
// Output with blank lines stands between two lines "----" at its beginning and two at its end. With the flag
// -update, the files are rewritten with what the commands print.
package scene

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the scenes with what their commands print")

// Command is one command of a scene.
type Command struct {
	// Name is the first word of the command's line, and Args are the others.
	Name string
	Args []string
	// Input is the lines between the command's line and "----", each with its end of line.
	Input string
	// File and Line say where the command stands.
	File string
	Line int
}

// Run runs every file that matches the pattern as a subtest. New is called once for each file, so that each scene has a
// state of its own. The function that it returns carries out a command and gives what that prints.
func Run(t *testing.T, pattern string, new func(t *testing.T) func(Command) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scene matches %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := run(file, string(text), new(t), t.Errorf)
			if *update && got != string(text) {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// run carries out the commands of a text, complains of each command that prints something else than the text says, and
// gives the text with what they print.
func run(file, text string, do func(Command) string, complain func(string, ...any)) string {
	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	next := func() (line string, ok bool) {
		if len(lines) == 0 || lines[0] == "" {
			return "", false
		}
		line, lines = lines[0], lines[1:]
		return line, true
	}
	total := len(lines)
	for line, ok := next(); ok; line, ok = next() {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			out.WriteString(line)
			continue
		}
		command := Command{File: file, Line: total - len(lines)}
		words := strings.Fields(line)
		command.Name, command.Args = words[0], words[1:]
		out.WriteString(line)
		line, ok = next()
		for ok && line != "----\n" {
			command.Input += line
			line, ok = next()
		}
		if !ok {
			complain("%s:%d: %s has no line ----", command.File, command.Line, command.Name)
			break
		}
		want := expected(next)
		got := do(command)
		if got != "" && !strings.HasSuffix(got, "\n") {
			got += "\n"
		}
		if got != want && !*update {
			complain("%s:%d: %s printed\n%s\nwant\n%s", command.File, command.Line, command.Name, got, want)
		}
		out.WriteString(command.Input + "----\n")
		if strings.Contains("\n"+got, "\n\n") {
			got = "----\n" + got + "----\n----\n"
		}
		out.WriteString(got + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// expected reads what a command should print, and the blank line behind it.
func expected(next func() (string, bool)) string {
	var want strings.Builder
	line, ok := next()
	if ok && line == "----\n" {
		for line, ok = next(); ok && line != "----\n"; line, ok = next() {
			want.WriteString(line)
		}
		next() // the second of the two lines at the end
		next() // and the blank line
		return want.String()
	}
	for ; ok && strings.TrimSpace(line) != ""; line, ok = next() {
		want.WriteString(line)
	}
	return want.String()
}

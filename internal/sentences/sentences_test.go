// SPDX-License-Identifier: Apache-2.0

package sentences

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write SENTENCES.md")

// printed is a line that a scene prints.
type printed struct{ file, line string }

// Every sentence has a scene that prints it, every kind has a sentence, and SENTENCES.md says so.
func TestEverySentenceHasAScene(t *testing.T) {
	var table strings.Builder
	table.WriteString("# Every sentence\n\nWhat the library can print, each with a scene that prints it. The test in this directory makes this table\n" +
		"(`go test ./internal/sentences -update`) and fails where a sentence has no scene.\n")
	for _, r := range rooms {
		dir := filepath.Join("..", "..", filepath.FromSlash(r.dir))
		for _, constant := range constants(t, dir, r.kinds) {
			if !slices.ContainsFunc(r.rows, func(row row) bool { kind, _, _ := strings.Cut(row.kind, ","); return kind == constant }) {
				t.Errorf("%s.%s has no row in table_test.go", r.dir, constant)
			}
		}
		lines := printedIn(t, dir)
		if len(lines) == 0 {
			t.Logf("%s has no scenes", r.dir)
			continue
		}
		fmt.Fprintf(&table, "\n## %s\n\n| of | sentence | scene |\n| --- | --- | --- |\n", r.dir)
		for _, row := range r.rows {
			sentence, file, ok := find(lines, regexp.MustCompile(row.pattern))
			if !ok {
				t.Errorf("no scene of %s prints the sentence of %s: %s", r.dir, row.kind, row.pattern)
			}
			fmt.Fprintf(&table, "| %s | %s | [%s](../../%s/testdata/scenes/%s) |\n", row.kind, cell(sentence), strings.TrimSuffix(file, ".txt"), r.dir, file)
		}
	}
	if *update {
		if err := os.WriteFile("SENTENCES.md", []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile("SENTENCES.md"); err != nil || string(have) != table.String() {
		t.Errorf("SENTENCES.md is not what the scenes print (%v): run go test ./internal/sentences -update", err)
	}
}

// find gives the first match in the order of the files.
func find(lines []printed, pattern *regexp.Regexp) (sentence, file string, ok bool) {
	for _, p := range lines {
		if s := pattern.FindString(p.line); s != "" {
			for _, prefix := range []string{"warning: ", "incomplete: "} { // which the scenes print, and not the library
				s = strings.TrimPrefix(s, prefix)
			}
			return strings.TrimSpace(s), p.file, true
		}
	}
	return "", "", false
}

// cell is a sentence as the cell of a table, of bounded length.
func cell(sentence string) string {
	const most = 600
	if r := []rune(sentence); len(r) > most {
		sentence = string(r[:most]) + "…"
	}
	return "`` " + strings.ReplaceAll(sentence, "|", `\|`) + " ``"
}

// printedIn is all that the scenes of a package print.
func printedIn(t *testing.T, dir string) (lines []printed) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "scenes", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prints := false
		for line := range strings.Lines(string(text)) {
			switch line = strings.TrimRight(line, "\n"); {
			case line == "----":
				prints = true
			case line == "":
				prints = false
			case prints:
				lines = append(lines, printed{filepath.Base(file), line})
			}
		}
	}
	return lines
}

// constants are the exported constants of a package whose names begin with one of the kinds.
func constants(t *testing.T, dir string, kinds []string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, spec := range d.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(name.Name, k) && name.Name != k }) {
							names = append(names, name.Name)
						}
					}
				}
			}
		}
	}
	return names
}

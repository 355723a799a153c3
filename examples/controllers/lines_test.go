package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The reconcile of each controller is on a screen: what it does stands there, how it does it elsewhere.
func TestReconcileFitsAScreen(t *testing.T) {
	for _, name := range []string{"works", "decisions", "policies"} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name+"/reconcile.go", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && (f.Name.Name == "Reconcile" || f.Name.Name == "reconcile") {
				lines = files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
			}
		}
		t.Logf("%s: %d lines", name, lines)
		if lines == 0 || lines > 80 {
			t.Errorf("%s: the reconcile has %d lines, of at most 80", name, lines)
		}
	}
}

// What one has to copy and to keep up of works is little: the rest is the library's, or shared with the controllers beside it.
func TestWorksIsSmall(t *testing.T) {
	files, err := filepath.Glob("works/*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			lines += linesOf(t, name)
		}
	}
	t.Logf("works: %d lines", lines)
	if lines == 0 || lines > 700 {
		t.Errorf("works has %d lines, of at most 700", lines)
	}
}

// linesOf counts the lines of a file, none of them longer than 120 columns.
func linesOf(t *testing.T, name string) (n int) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if n++; len([]rune(line)) > 121 {
			t.Errorf("%s:%d has %d columns", name, n, len([]rune(line))-1)
		}
	}
	return n
}

// A safe controller takes at most 200 lines of code beside its imports. It imports the library, OCM's API, client-go and
// controller-runtime, and nothing that is shared here.
func TestSmallIsSmall(t *testing.T) {
	const name = "small/main.go"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	imports := make(map[int]bool)
	for _, declaration := range file.Decls {
		if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			for line := files.Position(d.Pos()).Line; line <= files.Position(d.End()).Line; line++ {
				imports[line] = true
			}
		}
	}
	for _, spec := range file.Imports {
		if strings.Contains(spec.Path.Value, "examples/") {
			t.Errorf("it imports %s", spec.Path.Value)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all, code := linesOf(t, name), 0
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") && !imports[number] {
			code++
		}
	}
	t.Logf("small: %d lines, %d of them code", all, code)
	if code == 0 || code > 200 {
		t.Errorf("small has %d lines of code, of at most 200", code)
	}
}

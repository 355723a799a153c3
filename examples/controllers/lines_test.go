package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
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

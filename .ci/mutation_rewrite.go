// SPDX-License-Identifier: Apache-2.0

//go:build ignore

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package whose source is being rewritten.
type pkg struct {
	dir, name string
	fset      *token.FileSet
	types     *types.Package
	info      types.Info
	files     []*file
	listed    map[place]bool
	mutants   []mutant // MUTANT is the place from 1
}

type file struct {
	*pkg
	path   string
	syntax *ast.File
	source []byte
	edits  []edit
}

// edit replaces a number of bytes of the source.
type edit struct {
	offset, bytes int
	text          string
}

type mutant struct {
	file, line, kind string
	at               token.Position
}

// load parses and checks the files of a package, with the export data of what it imports.
func load(dir string) (*pkg, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./"+dir).Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	path := "" // the last is the package itself
	for line := range strings.Lines(string(out)) {
		var export string
		path, export, _ = strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = export
	}
	names, err := exec.Command("go", "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}} {{end}}`, "./"+dir).Output()
	if err != nil {
		return nil, err
	}
	p := &pkg{dir: dir, fset: token.NewFileSet(), info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	var files []*ast.File
	for _, name := range strings.Fields(string(names)) {
		f := &file{pkg: p, path: name}
		if f.source, err = os.ReadFile(name); err != nil {
			return nil, err
		}
		if f.syntax, err = parser.ParseFile(p.fset, name, f.source, 0); err != nil {
			return nil, err
		}
		p.files, files, p.name = append(p.files, f), append(files, f.syntax), f.syntax.Name.Name
	}
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	p.types, err = config.Check(path, p.fset, files, &p.info)
	return p, err
}

// compile builds the tests of a package with all breaks in this one, twice: as they run, and so that they tell which breaks they come by.
func (p *pkg) compile(scratch, from string) (binary, telling string, err error) {
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return "", "", err
	}
	replace := map[string]string{}
	write := func(path string, text []byte) error {
		replace[path] = filepath.Join(scratch, filepath.Base(path))
		return os.WriteFile(replace[path], text, 0o600)
	}
	for _, f := range p.files {
		if err := write(f.path, f.text()); err != nil {
			return "", "", err
		}
	}
	helpers, err := os.ReadFile(".ci/mutation_helpers.go")
	if err != nil {
		return "", "", err
	}
	_, helpers, _ = bytes.Cut(helpers, []byte("package main\n"))
	helpers = append([]byte("package "+p.name+"\n"), helpers...)
	build := func(name string, helpers []byte) (string, error) {
		if err := write(filepath.Join(dir, "mutation_helpers.go"), helpers); err != nil {
			return "", err
		}
		overlay, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return "", err
		}
		file, binary := filepath.Join(scratch, "overlay.json"), filepath.Join(scratch, name)
		if err := os.WriteFile(file, overlay, 0o600); err != nil {
			return "", err
		}
		if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", binary, "./"+from).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		return binary, nil
	}
	if binary, err = build("mutated.test", helpers); err != nil {
		return "", "", err
	}
	telling, err = build("telling.test", bytes.Replace(helpers, []byte("mutMeets = false"), []byte("mutMeets = true"), 1))
	return binary, telling, err
}

// text is the source after the edits. Of edits at one place, the first that was made comes first.
func (f *file) text() []byte {
	slices.SortStableFunc(f.edits, func(a, b edit) int { return a.offset - b.offset })
	var b bytes.Buffer
	last := 0
	for _, e := range f.edits {
		b.Write(f.source[last:e.offset])
		b.WriteString(e.text)
		last = e.offset + e.bytes
	}
	b.Write(f.source[last:])
	return b.Bytes()
}

func (f *file) offset(at token.Pos) int { return f.fset.Position(at).Offset }

func (f *file) edit(at token.Pos, bytes int, text string) {
	f.edits = append(f.edits, edit{f.offset(at), bytes, text})
}

// mutant notes a break, and gives its number; -1 where gremlins has none.
func (f *file) mutant(at token.Pos, kind string) int {
	position, name := f.fset.Position(at), filepath.Base(f.path)
	if !f.listed[place{name, position.Line, position.Column, kind}] {
		return -1
	}
	line, _, _ := strings.Cut(strings.Split(string(f.source), "\n")[position.Line-1], " // ")
	f.mutants = append(f.mutants, mutant{filepath.ToSlash(filepath.Join(f.dir, name)), strings.TrimSpace(line), kind, position})
	return len(f.mutants)
}

// typeName names a type in this package's source.
func (f *file) typeName(t types.Type) string {
	return types.TypeString(types.Default(t), func(other *types.Package) string {
		if other == f.types {
			return ""
		}
		return other.Name()
	})
}

var functions = map[token.Token]string{
	token.LSS: "mutLess", token.LEQ: "mutLessOrEqual", token.GTR: "mutGreater", token.GEQ: "mutGreaterOrEqual",
	token.ADD: "mutAdd", token.SUB: "mutSub", token.MUL: "mutMul", token.QUO: "mutQuo", token.REM: "mutRem",
}

// rewrite replaces the operators of a node and of what is in it by calls.
func (f *file) rewrite(n ast.Node) {
	switch e := n.(type) {
	case *ast.GenDecl:
		if e.Tok == token.CONST {
			return
		}
	case *ast.BinaryExpr:
		if f.binary(e) {
			return
		}
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			id := f.mutant(e.OpPos, "INVERT_NEGATIVES")
			f.edit(e.Pos(), 1, fmt.Sprintf("mutNegative[%s](%d, ", f.typeName(f.info.Types[e].Type), id))
			f.rewrite(e.X)
			f.edit(e.End(), 0, ")")
			return
		}
	case *ast.IncDecStmt:
		id, operator := f.mutant(e.TokPos, "INCREMENT_DECREMENT"), "+="
		if e.Tok == token.DEC {
			operator = "-="
		}
		x := f.source[f.offset(e.X.Pos()):f.offset(e.X.End())]
		f.edit(e.TokPos, 2, fmt.Sprintf("%s mutStep(%d, %s)", operator, id, x))
		return
	}
	f.children(n)
}

func (f *file) children(n ast.Node) {
	ast.Inspect(n, func(child ast.Node) bool {
		if child != nil && child != n {
			f.rewrite(child)
		}
		return child == n
	})
}

// binary rewrites an operator with two operands, if that is one to break.
func (f *file) binary(e *ast.BinaryExpr) bool {
	of := f.info.Types[e]
	if of.Value != nil {
		return true
	}
	basic, _ := of.Type.Underlying().(*types.Basic)
	switch e.Op {
	case token.EQL, token.NEQ:
		id := f.mutant(e.OpPos, "CONDITIONALS_NEGATION")
		f.edit(e.Pos(), 0, "((")
		f.children(e)
		f.edit(e.End(), 0, fmt.Sprintf(") != mutIs(%d))", id))
		return true
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.call(e, fmt.Sprintf("(%d, %d, ", f.mutant(e.OpPos, "CONDITIONALS_NEGATION"), f.mutant(e.OpPos, "CONDITIONALS_BOUNDARY")))
		return true
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		if basic == nil || basic.Info()&types.IsString == 0 {
			f.call(e, fmt.Sprintf("[%s](%d, ", f.typeName(of.Type), f.mutant(e.OpPos, "ARITHMETIC_BASE")))
			return true
		}
	}
	return false
}

func (f *file) call(e *ast.BinaryExpr, begin string) {
	f.edit(e.Pos(), 0, functions[e.Op]+begin)
	f.rewrite(e.X)
	f.edit(e.OpPos, len(e.Op.String()), ",")
	f.rewrite(e.Y)
	f.edit(e.End(), 0, ")")
}

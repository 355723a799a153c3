//go:build ignore

// Mutation tries the breaks of a package's code that gremlins lists: go run .ci/mutation.go PACKAGE RESULT. It prints those that
// the short tests don't notice, and fails where more than 5 in 100 are not explained in .ci/survivors, or more than 5 in 100 are
// not covered. Go counts no coverage on case lines, so breaks of those are tried, too. Left out are operators of constants
// and of strings, of which few compile.
//
// All breaks are compiled into one test binary, as calls like
//
//	a < b    mutLess(17, 18, a, b)    which is a >= b where MUTANT is 17, and a <= b where it is 18
//
// and the binary runs once for each.
package main

import (
	"bytes"
	"context"
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
	"time"
)

func main() {
	if err := judge(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(dir, result string) error {
	known, err := survivors()
	if err != nil {
		return err
	}
	listed, err := read(result)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	p, err := load(dir)
	if err != nil {
		return err
	}
	p.listed = listed
	binary, err := p.compile(scratch)
	if err != nil {
		return err
	}
	args := arguments(binary)
	begin := time.Now()
	if out, err := run(binary, dir, args, 0, 5*time.Minute); err != nil {
		return fmt.Errorf("%s fails without a break: %w\n%s", dir, err, out)
	}
	limit := 10*time.Since(begin) + 5*time.Second // a break may make a loop endless
	killed, explained, unexplained, uncovered := 0, 0, 0, 0
	for i, m := range p.mutants {
		if !m.covered && !strings.HasPrefix(m.line, "case ") {
			uncovered++
			fmt.Printf("not covered %s:%d:%d %s: %s\n", m.file, m.at.Line, m.at.Column, m.kind, m.line)
			continue
		}
		_, err := run(binary, dir, args, i+1, limit)
		switch {
		case err != nil:
			killed++
		case known[m.file+" "+m.line]:
			explained++
		default:
			unexplained++
			fmt.Printf("survived %s:%d:%d %s: %s\n", m.file, m.at.Line, m.at.Column, m.kind, m.line)
		}
	}
	tried := len(p.mutants) - uncovered
	fmt.Printf("%s: %d of %d killed, %d explained, %d not; %d not covered\n", dir, killed, tried, explained, unexplained, uncovered)
	if unexplained*20 > tried || uncovered*20 > len(p.mutants) {
		return fmt.Errorf("%s: %d of %d breaks survived without an explanation in .ci/survivors, and %d are not covered", dir, unexplained, tried, uncovered)
	}
	return nil
}

// place is where gremlins has a break, and which.
type place struct {
	file         string
	line, column int
	kind         string
}

// read reads what gremlins lists: whether tests come by each break.
func read(result string) (map[place]bool, error) {
	data, err := os.ReadFile(result)
	if err != nil {
		return nil, err
	}
	var r struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", result, err)
	}
	listed := map[place]bool{}
	for _, f := range r.Files {
		for _, m := range f.Mutations {
			listed[place{filepath.Base(f.Name), m.Line, m.Column, m.Type}] = m.Status == "RUNNABLE"
		}
	}
	return listed, nil
}

// arguments are those of the test binary.
func arguments(binary string) []string {
	args := []string{"-test.short", "-test.failfast", "-test.cpu", "1"}
	if help, _ := exec.Command(binary, "-help").CombinedOutput(); bytes.Contains(help, []byte("-rapid.nofailfile")) {
		// Otherwise the failure of one break is played again for the next.
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime", "0s")
	}
	return args
}

// run runs the tests with one break, 0 for none.
func run(binary, dir string, args []string, mutant int, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprint("MUTANT=", mutant))
	return cmd.CombinedOutput()
}

// survivors reads .ci/survivors: a file and a line of its source, then on the next line, indented, why nobody can notice.
func survivors() (map[string]bool, error) {
	data, err := os.ReadFile(".ci/survivors")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, line := range strings.Split(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, " ") {
			known[line] = true
		}
	}
	return known, nil
}

// pkg is a package whose source is being rewritten.
type pkg struct {
	dir, name string
	fset      *token.FileSet
	types     *types.Package
	info      types.Info
	files     []*file
	listed    map[place]bool // by break: whether tests come by
	mutants   []mutant       // MUTANT is the place from 1
}

type file struct {
	*pkg
	path   string
	syntax *ast.File
	source []byte
	edits  []edit
}

// edit replaces so many bytes of the source.
type edit struct {
	offset, bytes int
	text          string
}

type mutant struct {
	file, line, kind string
	at               token.Position
	covered          bool
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

// compile builds the package's tests with all breaks in it.
func (p *pkg) compile(scratch string) (binary string, err error) {
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	write := func(path, text string) error {
		replace[path] = filepath.Join(scratch, filepath.Base(path))
		return os.WriteFile(replace[path], []byte(text), 0o600)
	}
	for _, f := range p.files {
		f.rewrite(f.syntax)
		if err := write(f.path, f.text()); err != nil {
			return "", err
		}
	}
	if err := write(filepath.Join(dir, "mutation_helpers.go"), "package "+p.name+helpers); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	binary = filepath.Join(scratch, "mutated.test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", binary, "./"+p.dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// text is the source after the edits. Of edits at one place, the first that was made comes first.
func (f *file) text() string {
	slices.SortStableFunc(f.edits, func(a, b edit) int { return a.offset - b.offset })
	var b strings.Builder
	last := 0
	for _, e := range f.edits {
		b.Write(f.source[last:e.offset])
		b.WriteString(e.text)
		last = e.offset + e.bytes
	}
	b.Write(f.source[last:])
	return b.String()
}

func (f *file) offset(at token.Pos) int { return f.fset.Position(at).Offset }

func (f *file) edit(at token.Pos, bytes int, text string) {
	f.edits = append(f.edits, edit{f.offset(at), bytes, text})
}

// mutant notes a break, and gives its number; -1 where gremlins has none.
func (f *file) mutant(at token.Pos, kind string) int {
	position, name := f.fset.Position(at), filepath.Base(f.path)
	covered, listed := f.listed[place{name, position.Line, position.Column, kind}]
	if !listed {
		return -1
	}
	line := strings.TrimSpace(strings.Split(string(f.source), "\n")[position.Line-1])
	f.mutants = append(f.mutants, mutant{filepath.ToSlash(filepath.Join(f.dir, name)), line, kind, position, covered})
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
		f.edit(e.End(), 0, fmt.Sprintf(") != (mutActive == %d))", id))
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

// helpers is what the rewritten source calls. A break may also take all memory, so that the process ends before.
const helpers = `

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"time"
)

var mutActive, _ = strconv.Atoi(os.Getenv("MUTANT"))

func init() {
	if mutActive == 0 {
		return
	}
	go func() {
		for {
			var memory runtime.MemStats
			if runtime.ReadMemStats(&memory); memory.Sys > 2<<30 {
				os.Exit(3)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
}

type mutInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

type mutNumber interface{ mutInteger | ~float32 | ~float64 }

func mutLess[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return mutActive == boundary && x == y || (x < y) != (mutActive == negation)
}

func mutGreater[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return mutLess(negation, boundary, y, x)
}

func mutLessOrEqual[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return (mutActive != boundary || x != y) && (x <= y) != (mutActive == negation)
}

func mutGreaterOrEqual[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return mutLessOrEqual(negation, boundary, y, x)
}

func mutAdd[T mutNumber](id int, x, y T) T {
	if mutActive == id {
		return x - y
	}
	return x + y
}

func mutSub[T mutNumber](id int, x, y T) T {
	if mutActive == id {
		return x + y
	}
	return x - y
}

func mutMul[T mutNumber](id int, x, y T) T {
	if mutActive == id {
		return x / y
	}
	return x * y
}

func mutQuo[T mutNumber](id int, x, y T) T {
	if mutActive == id {
		return x * y
	}
	return x / y
}

func mutRem[T mutInteger](id int, x, y T) T {
	if mutActive == id {
		return x * y
	}
	return x % y
}

func mutNegative[T mutNumber](id int, x T) T {
	if mutActive == id {
		return x
	}
	return -x
}

func mutStep[T mutNumber](id int, x T) T {
	if mutActive == id {
		return x - x - 1
	}
	return 1
}
`

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	ourFile  = "zz_cohort.go" // in a package of theirs
	ourTests = "zz_cohort_test.go"
	sdk      = "open-cluster-management.io/sdk-go/pkg/apis/cluster/"
	module   = "github.com/cohort-ocm/cohort"
)

// do swaps, and counts lines of code that is not of tests.
func (s *swap) do(checkout, library string) (added, removed int, err error) {
	if _, err := os.Stat(filepath.Join(checkout, "go.mod")); err != nil {
		return 0, 0, fmt.Errorf("a checkout has a go.mod: %w", err)
	}
	for _, place := range s.imports {
		files, err := sources(filepath.Join(checkout, place))
		if err != nil {
			return 0, 0, err
		}
		for _, file := range files {
			n, err := swapImports(file)
			if err != nil {
				return 0, 0, err
			}
			if !strings.HasSuffix(file, "_test.go") {
				added, removed = added+n, removed+n
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(s.replacements)) {
		dir := filepath.Join(checkout, s.replacements[file])
		more, less, err := replace(dir, file)
		if err != nil {
			return 0, 0, err
		}
		added, removed = added+more, removed+less
	}
	for _, f := range s.fields {
		if err := f.add(checkout); err != nil {
			return 0, 0, err
		}
		added++
	}
	for _, file := range s.fixtures {
		if err := noteStatus(filepath.Join(checkout, file)); err != nil {
			return 0, 0, err
		}
	}
	if removed == 0 {
		return 0, 0, errors.New("nothing is there to be swapped: the checkout is of another version, or swapped already")
	}
	if _, err := os.Stat(filepath.Join(checkout, "vendor", "modules.txt")); err == nil {
		return added, removed, vendor(checkout, library)
	}
	return added, removed, require(checkout, library)
}

// sources gives a file, or the files of Go in a directory.
func sources(place string) ([]string, error) {
	if strings.HasSuffix(place, ".go") {
		return []string{place}, nil
	}
	return filepath.Glob(filepath.Join(place, "*.go"))
}

// swapImports changes the paths of a file's imports of sdk-go's rollouts, and says how many.
func swapImports(file string) (n int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		old := []byte(strconv.Quote(sdk + version))
		n += bytes.Count(text, old)
		text = bytes.ReplaceAll(text, old, []byte(strconv.Quote(module+"/rollout/sdkgo/"+version)))
	}
	if n == 0 {
		return 0, nil
	}
	if text, err = format.Source(text); err != nil {
		return 0, err
	}
	return n, os.WriteFile(file, text, 0o644)
}

// replace drops the functions of the package that ours replace, with those that nothing calls any more, and adds our file, with its
// tests where it has some.
func replace(dir, file string) (added, removed int, err error) {
	ours, err := replacements.ReadFile("replacements/" + file)
	if err != nil {
		return 0, 0, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, ours, 0)
	if err != nil {
		return 0, 0, err
	}
	gone := make(map[string]bool)
	for _, declared := range parsed.Decls {
		if f, ok := declared.(*ast.FuncDecl); ok {
			gone[nameOf(f)] = true
		}
	}
	idle, err := uncalled(dir) // already: none of ours
	if err != nil {
		return 0, 0, err
	}
	if err := os.WriteFile(filepath.Join(dir, ourFile), ours, 0o644); err != nil {
		return 0, 0, err
	}
	for {
		n, err := drop(dir, gone)
		if err != nil {
			return 0, 0, err
		}
		if removed += n; n == 0 {
			break
		}
		if gone, err = uncalled(dir); err != nil {
			return 0, 0, err
		}
		maps.DeleteFunc(gone, func(name string, _ bool) bool { return idle[name] })
	}
	if tests, err := replacements.ReadFile("replacements/" + strings.TrimSuffix(file, ".go.txt") + "_test.go.txt"); err == nil {
		if err := os.WriteFile(filepath.Join(dir, ourTests), tests, 0o644); err != nil {
			return 0, 0, err
		}
	}
	return bytes.Count(ours, []byte("\n")), removed, nil
}

// nameOf is that of a function, with its receiver's.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	return fmt.Sprint(of, ".", f.Name.Name)
}

// drop removes functions from the files of a package, and imports that they alone used. It says how many lines are gone.
func drop(dir string, gone map[string]bool) (lines int, err error) {
	names, err := sources(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == ourFile {
			continue
		}
		before, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		text, err := without(before, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && gone[nameOf(f)]
		})
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if n := bytes.Count(before, []byte("\n")) - bytes.Count(text, []byte("\n")); n > 0 {
			lines += n
			if err := os.WriteFile(name, text, 0o644); err != nil {
				return 0, err
			}
		}
	}
	return lines, nil
}

// major is the last element of an import path of a later major version, which is not the name of the package.
var major = regexp.MustCompile(`^v[0-9]+$`)

// without is a file without some declarations, and without the imports that nothing uses then.
func without(text []byte, is func(ast.Decl) bool) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	type part struct{ from, to int }
	var cut []part
	used, gone := make(map[string]bool), make(map[string]bool) // names of packages, in what stays and in what goes
	at := func(p token.Pos) int { return files.Position(p).Offset }
	for _, d := range file.Decls {
		if is(d) {
			from := d.Pos()
			if doc := d.(*ast.FuncDecl).Doc; doc != nil {
				from = doc.Pos()
			}
			cut = append(cut, part{at(from), at(d.End()) + 1})
			names(d, gone)
			continue
		}
		names(d, used)
	}
	if len(cut) == 0 {
		return text, nil
	}
	for _, i := range file.Imports {
		of, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(of)
		if major.MatchString(name) {
			name = path.Base(path.Dir(of))
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		if gone[name] && !used[name] { // where a package has another name than its path, its import stays
			cut = append(cut, part{at(i.Pos()), at(i.End()) + 1})
		}
	}
	slices.SortFunc(cut, func(a, b part) int { return b.from - a.from })
	text = slices.Clone(text)
	for _, c := range cut {
		text = slices.Delete(text, c.from, min(c.to, len(text)))
	}
	return format.Source(text)
}

// names notes what stands before a dot.
func names(in ast.Node, to map[string]bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok {
				to[x.Name] = true
			}
		}
		return true
	})
}

// uncalled are the functions of a package, neither exported nor methods, that nothing in it names.
func uncalled(dir string) (map[string]bool, error) {
	names, err := sources(dir)
	if err != nil {
		return nil, err
	}
	declared, named := make(map[string]bool), make(map[string]int)
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if !n.Name.IsExported() && n.Name.Name != "init" && n.Name.Name != "main" && !strings.HasSuffix(name, "_test.go") {
					declared[nameOf(n)] = true
				}
			case *ast.Ident:
				named[n.Name]++
			}
			return true
		})
	}
	for f := range declared {
		if _, short, method := strings.Cut(f, "."); method && named[short] > 1 || !method && named[f] > 1 {
			delete(declared, f)
		}
	}
	return declared, nil
}

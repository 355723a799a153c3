// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What our functions use of the library is there. OCM's packages are not, so that nothing is said about what they are used for.
func TestReplacementsFitTheLibrary(t *testing.T) {
	names, err := filepath.Glob("replacements/*.go.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	var imported []string
	for _, name := range names {
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		for _, i := range file.Imports {
			imported = append(imported, unquoted(t, i))
		}
	}
	slices.Sort(imported)
	known := libraryImporter(t, files, slices.Compact(imported))
	ours := regexp.MustCompile(`\b(` + strings.Join(known.ours(), "|") + `)\.[A-Z]`)
	for _, file := range parsed {
		check := types.Config{Importer: known, Error: func(err error) {
			if ours.MatchString(err.Error()) {
				t.Error(err)
			}
		}}
		_, _ = check.Check(file.Name.Name, files, []*ast.File{file}, nil)
	}
}

func unquoted(t *testing.T, i *ast.ImportSpec) string {
	t.Helper()
	of, err := strconv.Unquote(i.Path.Value)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// someImporter knows the packages that the library's module knows. All others are empty.
type someImporter struct {
	types.Importer
	exports map[string]string // by path: the file with what a package exports
}

// Import imports a package.
func (s someImporter) Import(of string) (*types.Package, error) {
	if s.exports[of] != "" {
		return s.Importer.Import(of)
	}
	empty := types.NewPackage(of, path.Base(of))
	empty.MarkComplete()
	return empty, nil
}

// ours are the names of the library's packages, as an error has them.
func (s someImporter) ours() (names []string) {
	for of := range s.exports {
		if strings.HasPrefix(of, module+"/") && !strings.Contains(of, "/sdkgo/") {
			names = append(names, path.Base(of))
		}
	}
	return names
}

func libraryImporter(t *testing.T, files *token.FileSet, imported []string) someImporter {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, imported...)...)
	list.Dir = "../../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		of, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[of] = file
	}
	if exports[module+"/rollout"] == "" {
		t.Fatal("the library is not among what was listed")
	}
	open := func(of string) (io.ReadCloser, error) { return os.Open(exports[of]) }
	return someImporter{importer.ForCompiler(files, "gc", open), exports}
}

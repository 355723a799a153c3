// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// field is one that our functions need in a type of a package.
type field struct {
	dir, of, line string
}

// add puts the field at the end of its type.
func (f field) add(checkout string) error {
	names, err := sources(filepath.Join(checkout, f.dir))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		end := token.NoPos
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == f.of {
				if s, ok := spec.Type.(*ast.StructType); ok {
					end = s.Fields.Closing
				}
			}
			return true
		})
		if end == token.NoPos {
			continue
		}
		return rewrite(name, text, []insertion{{files.Position(end).Offset, "\n" + f.line + "\n"}})
	}
	return fmt.Errorf("no struct %s in %s", f.of, f.dir)
}

// insertion is text to put into a file.
type insertion struct {
	at   int
	text string
}

// rewrite puts texts into a file, and formats it.
func rewrite(name string, text []byte, texts []insertion) error {
	slices.SortFunc(texts, func(a, b insertion) int { return b.at - a.at })
	for _, in := range texts {
		text = slices.Concat(text[:in.at], []byte(in.text), text[in.at:])
	}
	formatted, err := format.Source(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, formatted, 0o644)
}

// noteStatus gives each Placement in the cases of a test the number of its clusters, as a scheduler writes it: those in the decisions of
// the same case that have its label. A case is a literal that has both.
func noteStatus(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, 0)
	if err != nil {
		return err
	}
	var texts []insertion
	ast.Inspect(file, func(n ast.Node) bool {
		of, is := n.(*ast.CompositeLit)
		if !is || value(of, "placements") == nil || value(of, "placementDecisions") == nil {
			return true
		}
		clusters := make(map[string]int) // by Placement
		for _, decision := range literals(value(of, "placementDecisions"), "PlacementDecision") {
			ast.Inspect(decision, func(n ast.Node) bool {
				if pair, ok := n.(*ast.KeyValueExpr); ok && source(text, files, pair.Key) == "ClusterName" {
					clusters[labelOf(text, files, decision)]++
				}
				return true
			})
		}
		for _, placement := range literals(value(of, "placements"), "Placement") {
			count := clusters[nameOfObject(text, files, placement)]
			if count > 0 && value(placement, "Status") == nil {
				status := "Status: clusterv1beta1.PlacementStatus{NumberOfSelectedClusters: " + strconv.Itoa(count) + "}"
				at := files.Position(placement.Rbrace).Offset
				if bytes.HasSuffix(bytes.TrimSpace(text[:at]), []byte(",")) {
					status += ",\n"
				} else {
					status = ", " + status
				}
				texts = append(texts, insertion{at, status})
			}
		}
		return false
	})
	if len(texts) == 0 {
		return fmt.Errorf("no Placement in %s lacks its status", name)
	}
	return rewrite(name, text, texts)
}

// value is that of a key in a literal, or nil.
func value(of *ast.CompositeLit, key string) ast.Expr {
	for _, element := range of.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if k, ok := pair.Key.(*ast.Ident); ok && k.Name == key {
				return pair.Value
			}
		}
	}
	return nil
}

// literals are those of a type, in whatever package, in an expression.
func literals(in ast.Expr, of string) (found []*ast.CompositeLit) {
	ast.Inspect(in, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok {
			if t, ok := literal.Type.(*ast.SelectorExpr); ok && t.Sel.Name == of {
				found = append(found, literal)
			}
		}
		return true
	})
	return found
}

func source(text []byte, files *token.FileSet, n ast.Node) string {
	return string(bytes.TrimSpace(text[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset]))
}

// labelOf is the first value in the labels of an object's literal: its Placement's name, with quotes.
func labelOf(text []byte, files *token.FileSet, object *ast.CompositeLit) (label string) {
	return find(text, files, object, func(key string) bool { return strings.HasSuffix(key, "PlacementLabel") })
}

func nameOfObject(text []byte, files *token.FileSet, object *ast.CompositeLit) string {
	return find(text, files, object, func(key string) bool { return key == "Name" })
}

// find is the value of the first key that is meant, as it is written.
func find(text []byte, files *token.FileSet, in ast.Node, meant func(key string) bool) (found string) {
	ast.Inspect(in, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok && found == "" && meant(source(text, files, pair.Key)) {
			found = source(text, files, pair.Value)
		}
		return true
	})
	return found
}

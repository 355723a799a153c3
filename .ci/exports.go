// SPDX-License-Identifier: Apache-2.0

//go:build ignore

// Exports counts the exported identifiers of packages, as CHANGELOG.md does: top-level ones and methods, without String,
// and the methods of encoding/json and of errors. With -names it lists them.
//
//	go run .ci/exports.go [-names] DIRECTORY…
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	list := flag.Bool("names", false, "list the names")
	flag.Parse()
	total := 0
	for _, directory := range flag.Args() {
		names, err := exports(directory)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(directory, len(names))
		if *list {
			fmt.Println(" ", strings.Join(names, " "))
		}
		total += len(names)
	}
	fmt.Println("in total", total)
}

// exports gives the names that the package in the directory exports, in order.
func exports(directory string) (names []string, err error) {
	files, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(directory, file.Name()), nil, 0)
		if err != nil {
			return nil, err
		}
		for _, declaration := range parsed.Decls {
			names = append(names, declared(declaration)...)
		}
	}
	slices.Sort(names)
	return names, nil
}

func declared(declaration ast.Decl) (names []string) {
	add := func(of string, name *ast.Ident) {
		if name.IsExported() {
			names = append(names, of+name.Name)
		}
	}
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add("", d.Name)
		} else if of, ok := receiver(d.Recv.List[0].Type).(*ast.Ident); ok && of.IsExported() && !slices.Contains([]string{"String", "MarshalJSON", "Error", "Unwrap"}, d.Name.Name) {
			add(of.Name+".", d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				add("", s.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add("", name)
				}
			}
		}
	}
	return names
}

// receiver is the type that a method belongs to, which is no name where it is generic: the library exports none such.
func receiver(t ast.Expr) ast.Expr {
	if pointer, ok := t.(*ast.StarExpr); ok {
		return pointer.X
	}
	return t
}

// SPDX-License-Identifier: Apache-2.0

// Package manifest reads the files of Kubernetes objects that the example programs take.
//
// A file holds YAML or JSON in any number of documents. A document is one object or a list of them
// (kind List, or what an API server returns for a collection), and a list's items become objects of
// their own. JSON objects may follow one another without a separator, as jq prints them. Documents without content are
// skipped; nothing else is. Text that belongs to no object is an error, and so is a truncated list. A file may be in
// UTF-16, as Windows PowerShell writes it, or compressed by gzip. Other content that is no text is an error that says so.
//
// Every object keeps the position where it was read, so that a fault that is found later can be reported in one line with
// file, object and field (see [Object.Fault]).
//
// For kinds with a hundred thousand objects, a [Reader] that knows the kind decodes them while it reads, item by item and
// in parallel, and drops unused fields. YAML and JSON are left to the libraries of Kubernetes. README.md has the cost.
//
//	var files manifest.Files
//	flag.Var(&files, "f", "file to read, - for standard input; may be repeated")
//	flag.Parse()
//	objects, err := manifest.Read(os.Stdin, append(files, flag.Args()...)...)
package manifest

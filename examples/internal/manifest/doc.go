// Package manifest reads the files of Kubernetes objects that the example programs take.
//
// A file holds YAML or JSON in any number of documents. A document is one object or a list of them
// (kind List, or what an API server returns for a collection), and a list's items become objects of
// their own. Objects of JSON may follow one another without a separator, as jq prints them. Documents without content are
// passed over; nothing else is. Text that belongs to no object is an error, and so is a list of which only a part is
// there. A file may be in UTF-16, as Windows PowerShell writes it.
//
// Every object keeps the place it was read from, so that whoever finds a fault in it later can say in
// one line which file, which object and which field (see [Object.Fault]).
//
// Where there may be a hundred thousand objects of a kind, a [Reader] that knows the kind decodes them while it
// reads, item by item and next to one another, and drops what nobody looks at. YAML and JSON are left to the libraries
// of Kubernetes. README.md says what that costs.
//
//	var files manifest.Files
//	flag.Var(&files, "f", "file to read, - for standard input; may be repeated")
//	flag.Parse()
//	objects, err := manifest.Read(os.Stdin, append(files, flag.Args()...)...)
package manifest

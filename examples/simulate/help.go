package main

import (
	"flag"
	"fmt"
	"io"
)

// section is some flags of the help text.
type section struct {
	title string
	names []string
}

// printSections writes what the flags are, under titles.
func printSections(w io.Writer, set *flag.FlagSet, sections []section) {
	for _, s := range sections {
		fmt.Fprintf(w, "\n%s:\n", s.title)
		part := flag.NewFlagSet("", flag.ContinueOnError)
		part.SetOutput(w)
		for _, name := range s.names {
			if f := set.Lookup(name); f != nil {
				part.Var(f.Value, f.Name, f.Usage)
			}
		}
		part.PrintDefaults()
	}
}

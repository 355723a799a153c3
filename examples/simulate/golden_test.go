package main

import (
	"flag"
	"strings"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the files in testdata that the tests compare with")

func lineDiff(want, got string) string {
	return cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
}

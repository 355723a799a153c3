// SPDX-License-Identifier: Apache-2.0

// Command ratios reads the output of this module's benchmarks and prints what they say as a Markdown table of ratios:
// how many times as much time and allocations sdk-go takes as Cohort.
//
//	go test -run '^$' -bench . -benchtime 100ms -count 3 . | go run ./cmd/ratios
//
// Of several runs of a benchmark the fastest counts, since what disturbs a run only makes it slower.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	results, err := parse(in)
	if err != nil {
		return err
	}
	rows, err := pair(results)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, table(rows))
	return err
}

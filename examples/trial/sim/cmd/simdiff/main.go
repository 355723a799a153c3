// SPDX-License-Identifier: Apache-2.0

// Command simdiff prints where two logs of plays of one seed diverge: that does not depend on the seed.
//
//	go run github.com/cohort-ocm/cohort/examples/trial/sim/cmd/simdiff A B
//
// It exits with 1 if they differ.
package main

import (
	"fmt"
	"os"

	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

func main() {
	different, err := run(os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "simdiff:", err)
		os.Exit(2)
	case different != "":
		fmt.Print(different)
		os.Exit(1)
	}
}

func run(files []string) (string, error) {
	if len(files) != 2 {
		return "", fmt.Errorf("found %d arguments, expected two files", len(files))
	}
	a, err := os.Open(files[0])
	if err != nil {
		return "", err
	}
	defer a.Close()
	b, err := os.Open(files[1])
	if err != nil {
		return "", err
	}
	defer b.Close()
	return sim.Diff(a, b)
}

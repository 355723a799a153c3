// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// result is one benchmark's cost of an operation.
type result struct {
	what   string // without "Benchmark"
	n      int
	side   string // cohort or sdkgo
	time   time.Duration
	allocs int
}

// parse reads the results among the lines of `go test -bench`. A benchmark is named
// Benchmark<What>/n=<size>/<side>, with -<GOMAXPROCS> behind it where there are several processors.
func parse(in io.Reader) ([]result, error) {
	var results []result
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		r, err := parseName(fields[0])
		if err != nil {
			return nil, err
		}
		if err := r.measure(fields[2:]); err != nil {
			return nil, fmt.Errorf("%s: %w", fields[0], err)
		}
		results = append(results, r)
	}
	return results, lines.Err()
}

func parseName(name string) (result, error) {
	parts := strings.Split(strings.TrimPrefix(name, "Benchmark"), "/")
	if len(parts) == 3 {
		side, _, _ := strings.Cut(parts[2], "-")
		n, err := strconv.Atoi(strings.TrimPrefix(parts[1], "n="))
		if err == nil && (side == cohort || side == sdkgo) {
			return result{what: parts[0], n: n, side: side}, nil
		}
	}
	return result{}, fmt.Errorf("found a benchmark named %s, expected Benchmark<What>/n=<size>/<%s|%s>", name, cohort, sdkgo)
}

// measure reads pairs of a number and its unit.
func (r *result) measure(fields []string) error {
	found := 0
	for i := 0; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return fmt.Errorf("found %q, expected a number before %s", fields[i], fields[i+1])
		}
		switch fields[i+1] {
		case "ns/op":
			r.time = time.Duration(value)
			found++
		case "allocs/op":
			r.allocs = int(value)
			found++
		}
	}
	if found != 2 {
		return fmt.Errorf("found %q, expected ns/op and allocs/op", strings.Join(fields, " "))
	}
	return nil
}

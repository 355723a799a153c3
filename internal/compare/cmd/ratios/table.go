// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	cohort = "cohort"
	sdkgo  = "sdkgo"
)

// row is one size of one benchmark, on both sides.
type row struct {
	what          string
	n             int
	cohort, sdkgo result
}

// pair puts the fastest results of the two sides together, in the order in which they come.
func pair(results []result) ([]row, error) {
	var rows []row
	for _, r := range results {
		i := slices.IndexFunc(rows, func(row row) bool { return row.what == r.what && row.n == r.n })
		if i < 0 {
			i = len(rows)
			rows = append(rows, row{what: r.what, n: r.n})
		}
		side := &rows[i].cohort
		if r.side == sdkgo {
			side = &rows[i].sdkgo
		}
		if side.time == 0 || r.time < side.time {
			*side = r
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("found no benchmark")
	}
	for _, r := range rows {
		if r.cohort.time == 0 || r.sdkgo.time == 0 {
			return nil, fmt.Errorf("found only one side of Benchmark%s/n=%d", r.what, r.n)
		}
	}
	return rows, nil
}

// table is the rows in Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| | clusters | sdk-go | cohort | faster | allocations, sdk-go | cohort | fewer |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %v | %v | **%s×** | %s | %s | %s× |\n",
			r.what, thousands(r.n), short(r.sdkgo.time), short(r.cohort.time), ratio(float64(r.sdkgo.time), float64(r.cohort.time)),
			thousands(r.sdkgo.allocs), thousands(r.cohort.allocs), ratio(float64(r.sdkgo.allocs), float64(r.cohort.allocs)))
	}
	return b.String()
}

// short is a duration in three digits or so.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// ratio is a/b in two digits where it is small, and whole where it is not.
func ratio(a, b float64) string {
	if a/b < 9.95 {
		return fmt.Sprintf("%.1f", a/max(b, 1))
	}
	return thousands(int(a / max(b, 1)))
}

// thousands is a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

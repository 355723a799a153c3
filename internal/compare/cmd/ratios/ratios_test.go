// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
BenchmarkPlan/n=100/sdkgo-2      	    1000	    250000 ns/op	  129585 B/op	     275 allocs/op
BenchmarkPlan/n=100/sdkgo-2      	    1000	    240000 ns/op	  129585 B/op	     275 allocs/op
BenchmarkPlan/n=100/cohort-2     	   26523	      8000.5 ns/op	    5544 B/op	      16 allocs/op
BenchmarkPlan/n=100000/sdkgo     	       1	11470209594 ns/op	137503576 B/op	   58974 allocs/op
BenchmarkPlan/n=100000/cohort    	      13	   3000000 ns/op	 3025097 B/op	      16 allocs/op
PASS
`

func TestTableOfRatios(t *testing.T) {
	var b strings.Builder
	if err := run(strings.NewReader(output), &b); err != nil {
		t.Fatal(err)
	}
	want := `| | clusters | sdk-go | cohort | faster | allocations, sdk-go | cohort | fewer |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| Plan | 100 | 240µs | 8µs | **30×** | 275 | 16 | 17× |
| Plan | 100,000 | 11.5s | 3ms | **3,823×** | 58,974 | 16 | 3,685× |
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestErrorsSayWhatWasFound(t *testing.T) {
	for _, tt := range []struct{ why, output, want string }{
		{"a benchmark that is not a comparison", "BenchmarkX/n=5 1 5 ns/op 0 allocs/op", "found a benchmark named BenchmarkX/n=5, expected Benchmark<What>/n=<size>/<cohort|sdkgo>"},
		{"half of one", "BenchmarkX/n=5/cohort 1 5 ns/op 0 allocs/op", "found only one side of BenchmarkX/n=5"},
		{"no allocations reported", "BenchmarkX/n=5/cohort 1 5 ns/op", `BenchmarkX/n=5/cohort: found "5 ns/op", expected ns/op and allocs/op`},
		{"no number", "BenchmarkX/n=5/cohort 1 five ns/op", `BenchmarkX/n=5/cohort: found "five", expected a number before ns/op`},
		{"a failed build", "FAIL compare [build failed]", "found no benchmark"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			err := run(strings.NewReader(tt.output), new(strings.Builder))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// The tests of internal/limit stand here, so that one binary less is linked.

// R16, G2: what is read, and the count it stands for.
func TestLimitIsParsed(t *testing.T) {
	for _, test := range []struct {
		why   string
		in    intstr.IntOrString
		total int
		want  int
	}{
		{"a count stands for itself", intstr.FromInt32(3), 10, 3},
		{"a count may exceed the total", intstr.FromInt32(30), 10, 30},
		{"no floating point: 7% of 100 is 7, not 8", intstr.FromString("7%"), 100, 7},
		{"rounded up", intstr.FromString("1%"), 101, 2},
		{"rounded up from next to nothing", intstr.FromString("1%"), 1, 1},
		{"nothing of something is nothing", intstr.FromString("0%"), 10, 0},
		{"everything", intstr.FromString("100%"), 7, 7},
		{"anything of nothing is nothing", intstr.FromString("50%"), 0, 0},
		{"leading zeros are decimal digits", intstr.FromString("007%"), 100, 7},
		{"no total overflows, also where an int has 32 bits", intstr.FromString("99%"), math.MaxInt32, 2126008811},
		{"nor the largest one", intstr.FromString("100%"), math.MaxInt, math.MaxInt},
	} {
		got, err := limit.Parse(nil, test.in)
		if err != nil {
			t.Errorf("%s: Parse(%v): %v", test.why, test.in.String(), err)
		} else if got := got.Of(test.total); got != test.want {
			t.Errorf("%s: %v of %d = %d, want %d", test.why, test.in.String(), test.total, got, test.want)
		}
	}
}

// R16: nonsense is an error that says where, what was found and what was expected.
func TestParseLimitRejects(t *testing.T) {
	path := field.NewPath("progressive", "maxFailures")
	for _, s := range []string{
		"", "%", "7", "101%", "-5%", "+5%", " 5%", "5 %", "5% ", "5%%", "5.5%", "1e3%", "NaN%", "Inf%", "0x5%", "٣%",
		"18446744073709551617%", "99999999999999999999999999999999%",
	} {
		_, err := limit.Parse(path, intstr.FromString(s))
		if err == nil {
			t.Errorf("Parse(%q) gave no error", s)
		} else if err.Field != path.String() || err.BadValue != s || !strings.Contains(err.Detail, "0% to 100%") {
			t.Errorf("Parse(%q): %v: want the path, the value and what was expected", s, err)
		}
	}
	if _, err := limit.Parse(path, intstr.FromInt32(-1)); err == nil {
		t.Error("Parse(-1) gave no error")
	}
	if _, err := limit.Parse(path, intstr.IntOrString{Type: 7}); err == nil {
		t.Error("Parse of an unknown type gave no error")
	}
}

// R16: what a limit says of itself.
func TestLimitKinds(t *testing.T) {
	parse := func(v intstr.IntOrString) limit.Limit {
		l, err := limit.Parse(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, test := range []struct {
		limit         limit.Limit
		zero, percent bool
	}{
		{limit.Limit{}, true, false},
		{limit.Count(0), true, false},
		{limit.Count(3), false, false},
		{parse(intstr.FromInt32(0)), true, false},
		{parse(intstr.FromString("0%")), true, true},
		{parse(intstr.FromString("3%")), false, true},
	} {
		if test.limit.IsZero() != test.zero || test.limit.IsPercent() != test.percent {
			t.Errorf("%+v: zero %v, percentage %v", test.limit, test.limit.IsZero(), test.limit.IsPercent())
		}
	}
	if limit.Count(3) != parse(intstr.FromInt32(3)) || limit.Count(3).Of(2) != 3 {
		t.Error("Count(3) is not the count 3")
	}
}

// FuzzParseLimit checks Parse against a regular expression and arbitrary precision (R16).
func FuzzParseLimit(f *testing.F) {
	for _, s := range []string{"7%", "100%", "101%", "NaN%", "", "٣%", "00000000000000000000001%"} {
		f.Add(s, 100)
	}
	percent := regexp.MustCompile(`^0*(100|[0-9]{1,2})%$`)
	f.Fuzz(func(t *testing.T, s string, total int) {
		got, err := limit.Parse(nil, intstr.FromString(s))
		match := percent.FindStringSubmatch(s)
		if (err == nil) != (match != nil) {
			t.Fatalf("Parse(%q): error %v, want one: %v", s, err, match == nil)
		}
		if err != nil || total < 0 {
			return
		}
		// ceil(total × percent / 100)
		value, _ := new(big.Int).SetString(match[1], 10)
		value.Mul(value, big.NewInt(int64(total)))
		value.Add(value, big.NewInt(99)).Div(value, big.NewInt(100))
		if got.Of(total) != int(value.Int64()) {
			t.Fatalf("%q of %d = %d, want %v", s, total, got.Of(total), value)
		}
	})
}

func TestParseLimitOfConcurrency(t *testing.T) {
	path := field.NewPath("maxConcurrency")
	for _, test := range []struct {
		why  string
		v    intstr.IntOrString
		of10 int // 0: unset
		err  string
	}{
		{"the integer 0 is how the API holds what is unset", intstr.FromInt32(0), 0, ""},
		{"a count", intstr.FromInt32(3), 3, ""},
		{"a percentage", intstr.FromString("15%"), 2, ""},
		{"of no cluster at a time nothing would come", intstr.FromString("0%"), 0, `maxConcurrency: Invalid value: "0%": must be above 0%: no cluster would ever start`},
		{"above everything", intstr.FromString("101%"), 0, `maxConcurrency: Invalid value: "101%": must be a count of at least 0, as an integer, or a percentage from 1% to 100% in decimal digits`},
		{"what is no limit", intstr.FromInt32(-1), 0, `maxConcurrency: Invalid value: -1: must be a count of at least 0, as an integer, or a percentage from 1% to 100% in decimal digits`},
	} {
		got, err := limit.ParseConcurrency(path, test.v)
		switch {
		case test.err != "":
			if err == nil || err.Error() != test.err {
				t.Errorf("%s: error %v, want %s", test.why, err, test.err)
			}
		case err != nil:
			t.Errorf("%s: error %v", test.why, err)
		case test.of10 == 0:
			if got != nil {
				t.Errorf("%s: got %v, want nil", test.why, *got)
			}
		case got == nil || got.Of(10) != test.of10:
			t.Errorf("%s: got %v, want %d of 10", test.why, got, test.of10)
		}
	}
}

// R42: a limit is written as it is read.
func TestLimitAsIntOrString(t *testing.T) {
	for _, v := range []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(7), intstr.FromString("0%"), intstr.FromString("34%")} {
		l, err := limit.Parse(nil, v)
		if got := l.IntOrString(); got != v || err != nil {
			t.Errorf("%v becomes %v, %v", v.String(), got.String(), err)
		}
	}
}

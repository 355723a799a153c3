// SPDX-License-Identifier: Apache-2.0

// Package limit reads the limits of OCM's strategies: a count, or a percentage of some total.
package limit

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limit is a count, or a percentage of a total that is known later. The zero Limit is the count 0.
type Limit struct {
	value   int
	percent bool
}

// Count gives the limit of n, which must not be negative.
func Count(n int) Limit { return Limit{value: n} }

// Parse reads a limit as strategies have it: a count of at least 0, or decimal digits followed by "%"
// for a percentage of 0 to 100. Anything else is an error at path.
func Parse(path *field.Path, intOrString intstr.IntOrString) (Limit, *field.Error) {
	return parse(path, intOrString, "must be a count of at least 0, as an integer, or a percentage from 0% to 100% in decimal digits")
}

// parse does what Parse does; want is the text of its errors.
func parse(path *field.Path, intOrString intstr.IntOrString, want string) (Limit, *field.Error) {
	switch intOrString.Type {
	case intstr.Int:
		if intOrString.IntVal < 0 {
			return Limit{}, field.Invalid(path, intOrString.IntVal, want)
		}
		return Limit{value: int(intOrString.IntVal)}, nil
	case intstr.String:
		percent, ok := parsePercent(intOrString.StrVal)
		if !ok {
			return Limit{}, field.Invalid(path, intOrString.StrVal, want)
		}
		return Limit{value: percent, percent: true}, nil
	default:
		return Limit{}, field.Invalid(path, intOrString.Type, "must be an integer or a string")
	}
}

// parsePercent reads digits and "%" with a value of at most 100.
func parsePercent(text string) (int, bool) {
	last := len(text) - 1
	if last < 1 || text[last] != '%' {
		return 0, false
	}
	percent := 0
	for _, c := range []byte(text[:last]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		if percent = percent*10 + int(c-'0'); percent > 100 {
			return 0, false
		}
	}
	return percent, true
}

// IsZero says whether the limit is 0 or 0%, whatever the total.
func (l Limit) IsZero() bool { return l.value == 0 }

// IsPercent says whether the limit is a percentage.
func (l Limit) IsPercent() bool { return l.percent }

// Of gives the limit as a count, for a total of at least 0. A percentage is rounded up, in integers: 7% of 100 is 7. A
// count may exceed the total.
func (l Limit) Of(total int) int {
	if !l.percent {
		return l.value
	}
	// In two parts, so that no total overflows.
	return total/100*l.value + (total%100*l.value+99)/100
}

// Within gives the limit for n of all clusters, as a count of at most all: a percentage is of n, and 100% means all.
func (l Limit) Within(n, all int) int {
	if l.percent && l.value == 100 {
		return all
	}
	return min(l.Of(n), all)
}

// ParseConcurrency reads how many clusters may be in flight at a time: nil where v is unset, which the API holds as the
// integer 0. It is an error if [Parse] refuses v, or if v is 0%, with which nothing would ever be done.
func ParseConcurrency(path *field.Path, intOrString intstr.IntOrString) (*Limit, *field.Error) {
	if intOrString == (intstr.IntOrString{}) {
		return nil, nil
	}
	limit, err := parse(path, intOrString, "must be a count of at least 0, as an integer, or a percentage from 1% to 100% in decimal digits")
	if err != nil {
		return nil, err
	}
	if limit.IsZero() {
		return nil, field.Invalid(path, intOrString.String(), "must be above 0%: no cluster would ever start")
	}
	return &limit, nil
}

// IntOrString gives the limit as the API has it.
func (l Limit) IntOrString() intstr.IntOrString {
	if l.percent {
		return intstr.FromString(strconv.Itoa(l.value) + "%")
	}
	return intstr.FromInt32(int32(l.value))
}

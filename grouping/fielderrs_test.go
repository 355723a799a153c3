// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// The tests of internal/fielderrs stand here, so that one binary less is linked.

func TestErrorsAreJoined(t *testing.T) {
	if err := fielderrs.Join(nil); err != nil {
		t.Errorf("Join(nil) = %v, want nil", err)
	}

	first := field.Invalid(field.NewPath("a"), 1, "too small")
	second := field.Required(field.NewPath("b"), "")
	err := fielderrs.Join(field.ErrorList{first, second})
	if want := first.Error() + "\n" + second.Error(); err.Error() != want {
		t.Errorf("Join says %q, want %q", err, want)
	}
	var got *field.Error
	if !errors.As(err, &got) || got != first {
		t.Errorf("errors.As found %v, want %v", got, first)
	}
}

func TestDuplicatesAreFound(t *testing.T) {
	for _, test := range []struct {
		sorted, want string
		why          string
	}{
		{"", "", "nothing"},
		{"a", "", "one"},
		{"a b c", "", "none twice"},
		{"a a", "a", "twice"},
		{"a a a a", "a", "four times, reported once"},
		{"a a b b c d d d", "a b d", "several"},
		{"a b b", "b", "at the end"},
	} {
		var got []string
		for _, err := range fielderrs.Duplicates(strings.Fields(test.sorted), strings.Compare, func(name string) *field.Error {
			return field.Duplicate(field.NewPath("names").Key(name), name)
		}) {
			got = append(got, err.BadValue.(string))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: of %q reported %q, want %q", test.why, test.sorted, got, test.want)
		}
	}
}

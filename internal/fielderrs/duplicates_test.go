package fielderrs_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

func TestDuplicates(t *testing.T) {
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

package fielderrs_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

func TestJoin(t *testing.T) {
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

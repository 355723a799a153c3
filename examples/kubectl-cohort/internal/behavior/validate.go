// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"math/big"
	"path"
	"strings"
	"time"

	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// longest is the longest time that a rule may give: a year. Sums of a few stay far from overflowing.
const longest = 365 * 24 * time.Hour

// Validate says what is wrong with the rules, with paths below at.
func (s Spec) Validate(at *field.Path) (errs field.ErrorList) {
	if s.Lease != nil && (s.Lease.Duration <= 0 || s.Lease.Duration > longest) {
		errs = append(errs, field.Invalid(at.Child("lease"), s.Lease.Duration.String(), "must be above 0s and not above "+short.Duration(longest)))
	}
	for i, rule := range s.Clusters {
		errs = append(errs, rule.Validate(at.Child("clusters").Index(i))...)
	}
	return errs
}

// Validate says what is wrong with the rule, with paths below at.
func (r Rule) Validate(at *field.Path) (errs field.ErrorList) {
	for i, pattern := range r.Names {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			errs = append(errs, field.Invalid(at.Child("names").Index(i), pattern, "must be a name or a pattern such as lab-* or edge-0[1-5]"))
		}
	}
	if r.Selector != nil {
		errs = append(errs, metavalidation.ValidateLabelSelector(r.Selector, metavalidation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
	}
	if r.Share != nil {
		if _, ok := sizeOf(*r.Share, 0); !ok {
			errs = append(errs, field.Invalid(at.Child("share"), r.Share.String(), "must be a count, or a percentage from 0% to 100% such as 5% or 0.3%"))
		}
	}
	if r.Share != nil && r.Rate != nil {
		errs = append(errs, field.Forbidden(at.Child("rate"), "must not be given with a share"))
	}
	errs = append(errs, ValidateTime(at.Child("after"), r.After)...)
	errs = append(errs, ValidateTime(at.Child("validatedAfter"), r.ValidatedAfter)...)
	errs = append(errs, ValidateTime(at.Child("recoversAfter"), r.RecoversAfter)...)
	return append(errs, r.validateOutcome(at)...)
}

func (r Rule) validateOutcome(at *field.Path) (errs field.ErrorList) {
	if r.Attempts < 0 {
		errs = append(errs, field.Invalid(at.Child("attempts"), r.Attempts, "must not be negative"))
	}
	switch r.Outcome {
	case "", Succeeds:
		if r.RecoversAfter != nil {
			errs = append(errs, field.Forbidden(at.Child("recoversAfter"), "must be left out unless the outcome is Fails, NeverAnswers, NotGood or NeverValidated"))
		}
		if r.Attempts != 0 {
			errs = append(errs, field.Forbidden(at.Child("attempts"), "must be left out unless the outcome is Fails, NeverAnswers, NotGood or NeverValidated"))
		}
	case Fails, NotGood:
	case NeverValidated:
		if r.ValidatedAfter != nil {
			errs = append(errs, field.Forbidden(at.Child("validatedAfter"), "must be left out where the outcome is NeverValidated; recoversAfter may be given"))
		}
	case CutOff:
		errs = append(errs, r.validateCutOff(at)...)
	case NeverAnswers:
		if r.After != nil {
			errs = append(errs, field.Forbidden(at.Child("after"), "must be left out where the outcome is NeverAnswers; recoversAfter may be given"))
		}
	default:
		errs = append(errs, field.NotSupported(at.Child("outcome"), r.Outcome, outcomes()))
	}
	return errs
}

// validateCutOff refuses what a cluster would need an agent for.
func (r Rule) validateCutOff(at *field.Path) (errs field.ErrorList) {
	for _, given := range []struct {
		name string
		is   bool
	}{{"after", r.After != nil}, {"validatedAfter", r.ValidatedAfter != nil}, {"recoversAfter", r.RecoversAfter != nil}, {"attempts", r.Attempts != 0}} {
		if given.is {
			errs = append(errs, field.Forbidden(at.Child(given.name), "must be left out where the outcome is CutOff"))
		}
	}
	return errs
}

// ValidateTime says what is wrong with the times that a cluster may take; nil is fine.
func ValidateTime(at *field.Path, d *chance.Range) field.ErrorList {
	if d == nil || d.Least >= 0 && d.Most <= longest {
		return nil
	}
	return field.ErrorList{field.Invalid(at, d.String(), "must be from 0s to "+short.Duration(longest))}
}

// sizeOf is a share of n clusters, rounded up and not above n, and whether the share is a valid one.
func sizeOf(share intstr.IntOrString, n int) (int, bool) {
	if share.Type == intstr.Int {
		return min(int(share.IntVal), n), share.IntVal >= 0
	}
	digits, found := strings.CutSuffix(share.StrVal, "%")
	if !found || digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	percent, ok := new(big.Rat).SetString(digits)
	if !ok || percent.Cmp(big.NewRat(100, 1)) > 0 {
		return 0, false
	}
	size := percent.Mul(percent, big.NewRat(int64(n), 100))
	whole, rest := new(big.Int).QuoRem(size.Num(), size.Denom(), new(big.Int))
	return int(whole.Int64()) + rest.Sign(), true
}

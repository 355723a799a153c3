// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/limit"
	"github.com/cohort-ocm/cohort/status"
)

// Validate reports what is wrong with a strategy, for a webhook to return. The errors have the paths of its JSON, such as
// progressive.maxConcurrency, below path, which may be nil. Only the fields of the chosen type are checked; an empty type is
// All. [Plan] refuses a strategy exactly where the list is not empty.
func Validate(strategy clusterv1alpha1.RolloutStrategy, path *field.Path) field.ErrorList {
	_, errs := parse(strategy, path)
	return errs
}

// compile checks everything but the reports.
func compile(strategy clusterv1alpha1.RolloutStrategy, opts *Options) (rules, options, field.ErrorList) {
	rules, errs := parse(strategy, nil)
	o, wrong := opts.compile(nil)
	return rules, o, append(errs, wrong...)
}

// nameless gives an error for each report without a cluster (R1).
func nameless(reports []status.Report, path *field.Path) (errs field.ErrorList) {
	for i := range reports {
		if reports[i].Cluster == "" {
			errs = append(errs, field.Required(path.Index(i).Child("cluster"), "must be the name of a ManagedCluster"))
		}
	}
	return errs
}

// parse reads the fields that the strategy's type has, and warns of the others (R18).
func parse(s clusterv1alpha1.RolloutStrategy, path *field.Path) (r rules, errs field.ErrorList) {
	switch s.Type {
	case clusterv1alpha1.All, "":
		r.typ = clusterv1alpha1.All
		// All has neither a soak time nor a budget (R5).
		errs = r.parse(clusterv1alpha1.RolloutConfig{ProgressDeadline: deref(s.All).ProgressDeadline}, intstr.IntOrString{}, path, "all")
	case clusterv1alpha1.Progressive:
		p := deref(s.Progressive)
		r.typ, r.mandatory = s.Type, p.MandatoryDecisionGroups.MandatoryDecisionGroups
		errs = r.parse(p.RolloutConfig, p.MaxConcurrency, path, "progressive")
	case clusterv1alpha1.ProgressivePerGroup:
		p := deref(s.ProgressivePerGroup)
		r.typ, r.mandatory = s.Type, p.MandatoryDecisionGroups.MandatoryDecisionGroups
		errs = r.parse(p.RolloutConfig, intstr.IntOrString{}, path, "progressivePerGroup")
	default:
		errs = field.ErrorList{field.NotSupported(path.Child("type"), s.Type, []clusterv1alpha1.RolloutType{
			clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup})}
	}
	r.warnings = ignoredFields(s)
	return r, errs
}

// parse reads the times and limits of a type's block. It makes a path only for what is wrong.
func (r *rules) parse(c clusterv1alpha1.RolloutConfig, concurrency intstr.IntOrString, path *field.Path, block string) (errs field.ErrorList) {
	check := func(name string, err *field.Error) {
		if err != nil {
			err.Field = path.Child(block, name).String()
			errs = append(errs, err)
		}
	}
	if r.minSuccessTime = c.MinSuccessTime.Duration; r.minSuccessTime < 0 {
		check("minSuccessTime", field.Invalid(nil, c.MinSuccessTime.Duration.String(), "must not be negative"))
	}
	var err *field.Error
	r.deadline, err = parseDeadline(c.ProgressDeadline)
	check("progressDeadline", err)
	r.maxFailures, err = limit.Parse(nil, c.MaxFailures)
	check("maxFailures", err)
	r.maxConcurrency, err = limit.ParseConcurrency(nil, concurrency)
	check("maxConcurrency", err)
	return errs
}

// parseDeadline reads a ProgressDeadline: nil where there is none (R17). It reads what time.ParseDuration reads, except
// for signs, fractions, and units below a second.
func parseDeadline(s string) (*time.Duration, *field.Error) {
	if s == "" || s == noDeadline {
		return nil, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second || strings.Trim(s, "0123456789hms") != "" || strings.Contains(s, "ms") {
		return nil, field.Invalid(nil, s, "must be None for no deadline, or at least one second in hours, minutes and seconds, such as 2h, 90m, 360s or 1h30m")
	}
	return &d, nil
}

// noDeadline is what the API server fills in where the strategy has no progressDeadline.
const noDeadline = "None"

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// ignoredFields warns of the fields of a strategy that are set and have no effect under its type, in the order of the API
// (R5, R18). A field that has the API's default is not set: the API server fills it in.
func ignoredFields(s clusterv1alpha1.RolloutStrategy) (warnings []Warning) {
	add := func(block, name string, set bool) {
		if set {
			warnings = append(warnings, Warning{Type: WarningFieldIgnored, Field: block + "." + name})
		}
	}
	config := func(block string, c *clusterv1alpha1.RolloutConfig, deadline string) {
		add(block, "minSuccessTime", c.MinSuccessTime.Duration != 0)
		add(block, "progressDeadline", deadline != "" && deadline != noDeadline)
		add(block, "maxFailures", c.MaxFailures != intstr.IntOrString{})
	}
	if s.All != nil {
		deadline := s.All.ProgressDeadline
		if s.Type == clusterv1alpha1.All || s.Type == "" {
			deadline = ""
		}
		config("all", &s.All.RolloutConfig, deadline)
	}
	if p := s.Progressive; p != nil && s.Type != clusterv1alpha1.Progressive {
		config("progressive", &p.RolloutConfig, p.ProgressDeadline)
		add("progressive", "mandatoryDecisionGroups", len(p.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0)
		add("progressive", "maxConcurrency", p.MaxConcurrency != intstr.IntOrString{})
	}
	if p := s.ProgressivePerGroup; p != nil && s.Type != clusterv1alpha1.ProgressivePerGroup {
		config("progressivePerGroup", &p.RolloutConfig, p.ProgressDeadline)
		add("progressivePerGroup", "mandatoryDecisionGroups", len(p.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0)
	}
	return warnings
}

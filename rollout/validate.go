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
	options, wrong := opts.compile(nil)
	return rules, options, append(errs, wrong...)
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
func parse(strategy clusterv1alpha1.RolloutStrategy, path *field.Path) (rules rules, errs field.ErrorList) {
	switch strategy.Type {
	case clusterv1alpha1.All, "":
		rules.typ = clusterv1alpha1.All
		// All has neither a soak time nor a budget (R5).
		errs = rules.parse(clusterv1alpha1.RolloutConfig{ProgressDeadline: deref(strategy.All).ProgressDeadline}, intstr.IntOrString{}, path, "all")
	case clusterv1alpha1.Progressive:
		progressive := deref(strategy.Progressive)
		rules.typ, rules.mandatory = strategy.Type, progressive.MandatoryDecisionGroups.MandatoryDecisionGroups
		errs = rules.parse(progressive.RolloutConfig, progressive.MaxConcurrency, path, "progressive")
	case clusterv1alpha1.ProgressivePerGroup:
		perGroup := deref(strategy.ProgressivePerGroup)
		rules.typ, rules.mandatory = strategy.Type, perGroup.MandatoryDecisionGroups.MandatoryDecisionGroups
		errs = rules.parse(perGroup.RolloutConfig, intstr.IntOrString{}, path, "progressivePerGroup")
	default:
		errs = field.ErrorList{field.NotSupported(path.Child("type"), strategy.Type, []clusterv1alpha1.RolloutType{
			clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup})}
	}
	rules.warnings = ignoredFields(strategy)
	return rules, errs
}

// parse reads the times and limits of a type's block. It makes a path only for what is wrong.
func (parsed *rules) parse(config clusterv1alpha1.RolloutConfig, concurrency intstr.IntOrString, path *field.Path, block string) (errs field.ErrorList) {
	check := func(name string, err *field.Error) {
		if err != nil {
			err.Field = path.Child(block, name).String()
			errs = append(errs, err)
		}
	}
	if parsed.minSuccessTime = config.MinSuccessTime.Duration; parsed.minSuccessTime < 0 {
		check("minSuccessTime", field.Invalid(nil, config.MinSuccessTime.Duration.String(), "must not be negative"))
	}
	var err *field.Error
	parsed.deadline, err = parseDeadline(config.ProgressDeadline)
	check("progressDeadline", err)
	parsed.maxFailures, err = limit.Parse(nil, config.MaxFailures)
	check("maxFailures", err)
	parsed.maxConcurrency, err = limit.ParseConcurrency(nil, concurrency)
	check("maxConcurrency", err)
	return errs
}

// parseDeadline reads a ProgressDeadline: nil where there is none (R17). It reads what time.ParseDuration reads, except
// for signs, fractions, and units below a second.
func parseDeadline(text string) (*time.Duration, *field.Error) {
	if text == "" || text == noDeadline {
		return nil, nil
	}
	deadline, err := time.ParseDuration(text)
	if err != nil || deadline < time.Second || strings.Trim(text, "0123456789hms") != "" || strings.Contains(text, "ms") {
		return nil, field.Invalid(nil, text, "must be None for no deadline, or at least one second in hours, minutes and seconds, such as 2h, 90m, 360s or 1h30m")
	}
	return &deadline, nil
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
func ignoredFields(strategy clusterv1alpha1.RolloutStrategy) (warnings []Warning) {
	add := func(block, name string, set bool) {
		if set {
			warnings = append(warnings, Warning{Type: WarningFieldIgnored, Field: block + "." + name})
		}
	}
	config := func(block string, given *clusterv1alpha1.RolloutConfig, deadline string) {
		add(block, "minSuccessTime", given.MinSuccessTime.Duration != 0)
		add(block, "progressDeadline", deadline != "" && deadline != noDeadline)
		add(block, "maxFailures", given.MaxFailures != intstr.IntOrString{})
	}
	if strategy.All != nil {
		deadline := strategy.All.ProgressDeadline
		if strategy.Type == clusterv1alpha1.All || strategy.Type == "" {
			deadline = ""
		}
		config("all", &strategy.All.RolloutConfig, deadline)
	}
	if progressive := strategy.Progressive; progressive != nil && strategy.Type != clusterv1alpha1.Progressive {
		config("progressive", &progressive.RolloutConfig, progressive.ProgressDeadline)
		add("progressive", "mandatoryDecisionGroups", len(progressive.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0)
		add("progressive", "maxConcurrency", progressive.MaxConcurrency != intstr.IntOrString{})
	}
	if perGroup := strategy.ProgressivePerGroup; perGroup != nil && strategy.Type != clusterv1alpha1.ProgressivePerGroup {
		config("progressivePerGroup", &perGroup.RolloutConfig, perGroup.ProgressDeadline)
		add("progressivePerGroup", "mandatoryDecisionGroups", len(perGroup.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0)
	}
	return warnings
}

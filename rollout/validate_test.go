// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R16: which limits are accepted.
func TestLimitsAreValidated(t *testing.T) {
	for _, c := range []struct {
		name             string
		value            intstr.IntOrString
		concurrency, max bool // accepted as MaxConcurrency, as MaxFailures
	}{
		{"R16 a count", intstr.FromInt32(3), true, true},
		{"R14 R15 unset", intstr.FromInt32(0), true, true},
		{"R16 the highest count", intstr.FromInt32(1<<31 - 1), true, true},
		{"R16 a percentage", intstr.FromString("7%"), true, true},
		{"R16 the highest", intstr.FromString("100%"), true, true},
		{"R16 leading zeros are digits", intstr.FromString("007%"), true, true},
		{"R16 no cluster at a time", intstr.FromString("0%"), false, true},
		{"R16 nor in more digits", intstr.FromString("000%"), false, true},
		{"R16 a negative count", intstr.FromInt32(-1), false, false},
		{"R16 above 100%", intstr.FromString("101%"), false, false},
		{"R16 above what fits an integer", intstr.FromString("18446744073709551617%"), false, false},
		{"R16 NaN", intstr.FromString("NaN%"), false, false},
		{"R16 an exponent", intstr.FromString("1e3%"), false, false},
		{"R16 a plus sign", intstr.FromString("+5%"), false, false},
		{"R16 a minus sign", intstr.FromString("-5%"), false, false},
		{"R16 a space before", intstr.FromString(" 5%"), false, false},
		{"R16 a space between", intstr.FromString("5 %"), false, false},
		{"R16 a space behind", intstr.FromString("5% "), false, false},
		{"R16 a fraction", intstr.FromString("1.5%"), false, false},
		{"R16 twice", intstr.FromString("5%%"), false, false},
		{"R16 digits that are not ASCII", intstr.FromString("٥%"), false, false},
		{"R16 no digits", intstr.FromString("%"), false, false},
		{"R16 an empty string", intstr.FromString(""), false, false},
		{"R16 a count in quotes", intstr.FromString("5"), false, false},
		{"R16 neither integer nor string", intstr.IntOrString{Type: 7}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := progressive("", config("", "", 0))
			s.Progressive.MaxConcurrency = c.value
			accepts(t, s, c.concurrency, "progressive.maxConcurrency")

			s = progressive("", config("", "", 0))
			s.Progressive.MaxFailures = c.value
			accepts(t, s, c.max, "progressive.maxFailures")

			s = perGroup(config("", "", 0))
			s.ProgressivePerGroup.MaxFailures = c.value
			accepts(t, s, c.max, "progressivePerGroup.maxFailures")
		})
	}
}

// accepts says whether Validate and Plan do what they should, the latter with one error at the path.
func accepts(t *testing.T, s clusterv1alpha1.RolloutStrategy, want bool, path string) {
	t.Helper()
	errs := rollout.Validate(s, nil)
	result, err := rollout.Plan(s, nil, nil, now, rollout.Options{})
	if want {
		if len(errs) > 0 || err != nil {
			t.Errorf("%s: refused with %v; %v", path, errs, err)
		}
		return
	}
	if len(errs) != 1 || errs[0].Field != path || errs[0].Type != field.ErrorTypeInvalid || errs[0].Detail == "" {
		t.Errorf("Validate = %v, want one at %s", errs, path)
	}
	var fieldErr *field.Error
	if result != nil || !errors.As(err, &fieldErr) || fieldErr.Field != path {
		t.Errorf("Plan = %v, %v, want an error at %s", result, err, path)
	}
}

// R17: which deadlines are accepted.
func TestDeadlinesAreValidated(t *testing.T) {
	hour := time.Hour
	second := time.Second
	for _, c := range []struct {
		name, text string
		want       *time.Duration
		refused    bool
	}{
		{name: "R17 empty", text: ""},
		{name: "R17 None", text: "None"},
		{name: "R17 hours", text: "1h", want: &hour},
		{name: "R17 minutes", text: "60m", want: &hour},
		{name: "R17 seconds", text: "3600s", want: &hour},
		{name: "R17 several", text: "0h59m60s", want: &hour},
		{name: "R17 in any order", text: "60s59m", want: &hour},
		{name: "R17 at least a second", text: "1s", want: &second},
		{name: "R17 zero", text: "0s", refused: true},
		{name: "R17 a bare zero", text: "0", refused: true},
		{name: "R17 negative", text: "-1s", refused: true},
		{name: "R17 negative zero", text: "-0s", refused: true},
		{name: "R17 a plus sign", text: "+5m", refused: true},
		{name: "R17 fractions", text: "1.5h", refused: true},
		{name: "R17 other units", text: "1s500ms", refused: true},
		{name: "R17 below a second", text: "1ns", refused: true},
		{name: "R17 another case", text: "none", refused: true},
		{name: "R17 no unit", text: "60", refused: true},
		{name: "R17 days", text: "1d", refused: true},
		{name: "R17 spaces", text: " 1h", refused: true},
		{name: "R17 what the API's pattern lets through by mistake", text: "5|", refused: true},
		{name: "R17 and this", text: "5m, or more", refused: true},
		{name: "R17 and this, which begins with nonsense", text: "after None", refused: true},
		{name: "R17 longer than a Duration", text: "9999999h", refused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for path, s := range map[string]clusterv1alpha1.RolloutStrategy{
				"all.progressDeadline":                 all(c.text),
				"progressive.progressDeadline":         progressive("", config("", c.text, 0)),
				"progressivePerGroup.progressDeadline": perGroup(config("", c.text, 0)),
			} {
				accepts(t, s, !c.refused, path)
				if c.refused {
					continue
				}
				got := plan(t, planned{strategy: s}).Schedule.ProgressDeadline
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("%s: %s", path, d)
				}
			}
		})
	}
}

// R18: fields that are set and have no effect are warned of, with their path; the API's defaults are not set.
func TestIgnoredFieldsAreWarnedOf(t *testing.T) {
	full := config("1", "5m", time.Minute)
	mandatory := progressive("", config("", "", 0), "canary").Progressive.MandatoryDecisionGroups
	everything := clusterv1alpha1.RolloutStrategy{
		All:                 &clusterv1alpha1.RolloutAll{RolloutConfig: full},
		Progressive:         &clusterv1alpha1.RolloutProgressive{RolloutConfig: full, MandatoryDecisionGroups: mandatory, MaxConcurrency: intstr.FromInt32(1)},
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: full, MandatoryDecisionGroups: mandatory},
	}
	all := []string{"all.minSuccessTime", "all.progressDeadline", "all.maxFailures"}
	inProgressive := []string{"progressive.minSuccessTime", "progressive.progressDeadline", "progressive.maxFailures",
		"progressive.mandatoryDecisionGroups", "progressive.maxConcurrency"}
	inPerGroup := []string{"progressivePerGroup.minSuccessTime", "progressivePerGroup.progressDeadline", "progressivePerGroup.maxFailures",
		"progressivePerGroup.mandatoryDecisionGroups"}
	for typ, want := range map[clusterv1alpha1.RolloutType][]string{
		"":                                  slices.Concat([]string{"all.minSuccessTime", "all.maxFailures"}, inProgressive, inPerGroup),
		clusterv1alpha1.All:                 slices.Concat([]string{"all.minSuccessTime", "all.maxFailures"}, inProgressive, inPerGroup),
		clusterv1alpha1.Progressive:         slices.Concat(all, inPerGroup),
		clusterv1alpha1.ProgressivePerGroup: slices.Concat(all, inProgressive),
	} {
		everything.Type = typ
		var got []string
		for _, w := range plan(t, planned{strategy: everything, groups: []string{"canary: a"}}).Warnings {
			if w.Type != rollout.WarningFieldIgnored {
				t.Errorf("%v", w)
			}
			got = append(got, w.Field)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", typ, d)
		}
	}
	t.Run("R18 not of what the API server fills in", func(t *testing.T) {
		defaults := config("", "None", 0)
		s := clusterv1alpha1.RolloutStrategy{
			All:         &clusterv1alpha1.RolloutAll{RolloutConfig: defaults},
			Progressive: &clusterv1alpha1.RolloutProgressive{RolloutConfig: defaults}, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{},
		}
		if warnings := plan(t, planned{strategy: s, groups: []string{"a"}}).Warnings; len(warnings) > 0 {
			t.Error(warnings)
		}
	})
	t.Run("R18 in words", func(t *testing.T) {
		w := rollout.Warning{Type: rollout.WarningFieldIgnored, Field: "progressive.maxConcurrency"}
		if got, want := w.String(), "progressive.maxConcurrency has no effect: only a rollout strategy of type Progressive uses it"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// R17: all faults are found, at the paths of the strategy's JSON, so that a webhook can return them.
func TestValidateReportsEveryFaultAtItsPath(t *testing.T) {
	const limit = "must be a count of at least 0, as an integer, or a percentage from 0% to 100% in decimal digits"
	const deadline = "must be None for no deadline, or at least one second in hours, minutes and seconds, such as 2h, 90m, 360s or 1h30m"
	path := field.NewPath("spec", "placementRefs").Index(1).Child("rolloutStrategy")
	bad := clusterv1alpha1.RolloutConfig{
		MaxFailures: intstr.FromString("half"), ProgressDeadline: "soon", MinSuccessTime: config("", "", -time.Minute).MinSuccessTime,
	}
	s := clusterv1alpha1.RolloutStrategy{
		All:                 &clusterv1alpha1.RolloutAll{RolloutConfig: bad},
		Progressive:         &clusterv1alpha1.RolloutProgressive{RolloutConfig: bad, MaxConcurrency: intstr.FromString("0%")},
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: bad},
	}
	for _, c := range []struct {
		name string
		typ  clusterv1alpha1.RolloutType
		path *field.Path
		want []string
	}{
		{"R17 Progressive", clusterv1alpha1.Progressive, path, []string{
			`spec.placementRefs[1].rolloutStrategy.progressive.minSuccessTime: Invalid value: "-1m0s": must not be negative`,
			`spec.placementRefs[1].rolloutStrategy.progressive.progressDeadline: Invalid value: "soon": ` + deadline,
			`spec.placementRefs[1].rolloutStrategy.progressive.maxFailures: Invalid value: "half": ` + limit,
			`spec.placementRefs[1].rolloutStrategy.progressive.maxConcurrency: Invalid value: "0%": must be above 0%: no cluster would ever start`,
		}},
		{"R18 ProgressivePerGroup does not look at Progressive's fields", clusterv1alpha1.ProgressivePerGroup, nil, []string{
			`progressivePerGroup.minSuccessTime: Invalid value: "-1m0s": must not be negative`,
			`progressivePerGroup.progressDeadline: Invalid value: "soon": ` + deadline,
			`progressivePerGroup.maxFailures: Invalid value: "half": ` + limit,
		}},
		{"R18 All does not look at what it ignores (R5)", clusterv1alpha1.All, nil, []string{
			`all.progressDeadline: Invalid value: "soon": ` + deadline,
		}},
		{"R18 empty is All", "", nil, []string{
			`all.progressDeadline: Invalid value: "soon": ` + deadline,
		}},
		{"R18 an unknown type", "progressive", path, []string{
			`spec.placementRefs[1].rolloutStrategy.type: Unsupported value: "progressive": supported values: "All", "Progressive", "ProgressivePerGroup"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Type = c.typ
			var got []string
			for _, err := range rollout.Validate(s, c.path) {
				got = append(got, err.Error())
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("R18 a type without its fields has the defaults", func(t *testing.T) {
		for _, typ := range []clusterv1alpha1.RolloutType{"", clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup} {
			if errs := rollout.Validate(clusterv1alpha1.RolloutStrategy{Type: typ}, path); len(errs) > 0 {
				t.Errorf("%q: %v", typ, errs)
			}
		}
	})
	t.Run("R17 Plan refuses what Validate does", func(t *testing.T) {
		s.Type = clusterv1alpha1.Progressive
		_, err := rollout.Plan(s, nil, nil, now, rollout.Options{})
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			t.Fatalf("got %v", err)
		}
		var got []string
		for _, err := range joined.Unwrap() {
			got = append(got, err.Error())
		}
		var want []string
		for _, err := range rollout.Validate(s, nil) {
			want = append(want, err.Error())
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// R1, R18: what is wrong with the strategy, the options and the reports is told at once.
func TestAllFaultsOfACallAreToldAtOnce(t *testing.T) {
	strategy, reports := clusterv1alpha1.RolloutStrategy{Type: "Sideways"}, []status.Report{{Cluster: "a"}, {}, {}}
	abort := rollout.Abort{Failed: reports, Before: reports}
	for name, c := range map[string]struct {
		call func() (*rollout.Result, error)
		want []string
	}{
		"Plan": {func() (*rollout.Result, error) {
			return rollout.Plan(strategy, nil, reports, now, rollout.Options{Ramp: ptr(0)})
		},
			[]string{"type", "ramp", "reports[1].cluster", "reports[2].cluster"}},
		"Plan with a strategy without fault": {func() (*rollout.Result, error) {
			return rollout.Plan(clusterv1alpha1.RolloutStrategy{}, nil, reports, now, rollout.Options{})
		},
			[]string{"reports[1].cluster", "reports[2].cluster"}},
		"Revert": {func() (*rollout.Result, error) {
			return rollout.Revert(strategy, nil, abort, now, rollout.Options{Ramp: ptr(0)})
		},
			[]string{"type", "ramp", "abort.time", "abort.failed[1].cluster", "abort.failed[2].cluster", "abort.before[1].cluster", "abort.before[2].cluster"}},
	} {
		result, err := c.call()
		joined, ok := err.(interface{ Unwrap() []error })
		if result != nil || !ok {
			t.Fatalf("%s: %v, %v", name, result, err)
		}
		var got []string
		for _, err := range joined.Unwrap() {
			var fault *field.Error
			if errors.As(err, &fault) {
				got = append(got, fault.Field)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

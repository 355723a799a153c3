package rollout

import (
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// Validate says what is wrong with a strategy, with paths as in its JSON below path, which
// may be nil: progressive.maxConcurrency. A webhook can return the list as it is; of strategies [Plan]
// refuses exactly what Validate does. Only the fields of the chosen type are looked at, and an empty type is All.
func Validate(strategy clusterv1alpha1.RolloutStrategy, path *field.Path) field.ErrorList {
	_, errs := parse(strategy, path)
	return errs
}

// rules is a checked RolloutStrategy.
type rules struct {
	typ            clusterv1alpha1.RolloutType
	minSuccessTime time.Duration
	deadline       *time.Duration // nil: none
	maxConcurrency *limit.Limit   // nil: unset
	maxFailures    limit.Limit
	mandatory      []clusterv1alpha1.MandatoryDecisionGroup
	warnings       []Warning // of fields that have no effect
}

// parse reads the fields that the strategy's type has, and warns of the others (R18).
func parse(s clusterv1alpha1.RolloutStrategy, path *field.Path) (rules, field.ErrorList) {
	r, errs := parseType(s, path)
	for _, ignored := range ignoredFields(s, path) {
		r.warnings = append(r.warnings, Warning{Type: WarningFieldIgnored, Field: ignored.String()})
	}
	return r, errs
}

func parseType(s clusterv1alpha1.RolloutStrategy, path *field.Path) (rules, field.ErrorList) {
	switch s.Type {
	case clusterv1alpha1.All, "":
		all := deref(s.All)
		return parseAll(all, path.Child("all"))
	case clusterv1alpha1.Progressive:
		p := deref(s.Progressive)
		path := path.Child("progressive")
		r, errs := parseConfig(p.RolloutConfig, path)
		r.typ, r.mandatory = s.Type, p.MandatoryDecisionGroups.MandatoryDecisionGroups
		concurrency, err := parseConcurrency(path.Child("maxConcurrency"), p.MaxConcurrency)
		if r.maxConcurrency = concurrency; err != nil {
			errs = append(errs, err)
		}
		return r, errs
	case clusterv1alpha1.ProgressivePerGroup:
		p := deref(s.ProgressivePerGroup)
		r, errs := parseConfig(p.RolloutConfig, path.Child("progressivePerGroup"))
		r.typ, r.mandatory = s.Type, p.MandatoryDecisionGroups.MandatoryDecisionGroups
		return r, errs
	default:
		return rules{}, field.ErrorList{field.NotSupported(path.Child("type"), s.Type, []clusterv1alpha1.RolloutType{
			clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup})}
	}
}

// parseAll reads the deadline alone: All ignores the soak time and the budget (R5).
func parseAll(all clusterv1alpha1.RolloutAll, path *field.Path) (rules, field.ErrorList) {
	r := rules{typ: clusterv1alpha1.All}
	deadline, err := parseDeadline(path.Child("progressDeadline"), all.ProgressDeadline)
	if err != nil {
		return r, field.ErrorList{err}
	}
	r.deadline = deadline
	return r, nil
}

func parseConfig(c clusterv1alpha1.RolloutConfig, path *field.Path) (r rules, errs field.ErrorList) {
	var err *field.Error
	if r.minSuccessTime = c.MinSuccessTime.Duration; r.minSuccessTime < 0 {
		errs = append(errs, field.Invalid(path.Child("minSuccessTime"), c.MinSuccessTime.Duration.String(), "must not be negative"))
	}
	if r.deadline, err = parseDeadline(path.Child("progressDeadline"), c.ProgressDeadline); err != nil {
		errs = append(errs, err)
	}
	if r.maxFailures, err = limit.Parse(path.Child("maxFailures"), c.MaxFailures); err != nil {
		errs = append(errs, err)
	}
	return r, errs
}

// parseConcurrency reads a MaxConcurrency: nil where it is unset, which the API holds as the integer 0
// (R14). Of no cluster at a time (0%) nothing would ever come (R16).
func parseConcurrency(path *field.Path, v intstr.IntOrString) (*limit.Limit, *field.Error) {
	if v == (intstr.IntOrString{}) {
		return nil, nil
	}
	l, err := limit.Parse(path, v)
	if err != nil {
		return nil, err
	}
	if l.IsZero() {
		return nil, field.Invalid(path, v.String(), "must be above 0%: no cluster would ever start")
	}
	return &l, nil
}

// parseDeadline reads a ProgressDeadline: nil where there is none (R17).
func parseDeadline(path *field.Path, s string) (*time.Duration, *field.Error) {
	if s == "" || s == noDeadline {
		return nil, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second || !deadlineSyntax.MatchString(s) {
		return nil, field.Invalid(path, s, "must be None for no deadline, or at least one second in hours, minutes and seconds, such as 2h, 90m, 360s or 1h30m")
	}
	return &d, nil
}

// noDeadline is what the API server fills in where the strategy has no progressDeadline.
const noDeadline = "None"

// deadlineSyntax leaves out what time.ParseDuration reads beside: signs, fractions, smaller units, and a bare 0.
var deadlineSyntax = regexp.MustCompile(`^([0-9]+[hms])+$`)

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

package rollout

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// ignoredFields are the fields of a strategy that are set and have no effect under its type, in the order of the API
// (R5, R18). A field that has the API's default is not set: the API server fills it in.
func ignoredFields(s clusterv1alpha1.RolloutStrategy, path *field.Path) (ignored []*field.Path) {
	add := func(path *field.Path, set bool) {
		if set {
			ignored = append(ignored, path)
		}
	}
	config := func(path *field.Path, c clusterv1alpha1.RolloutConfig) {
		add(path.Child("minSuccessTime"), c.MinSuccessTime.Duration != 0)
		add(path.Child("progressDeadline"), c.ProgressDeadline != "" && c.ProgressDeadline != noDeadline)
		add(path.Child("maxFailures"), c.MaxFailures != intstr.IntOrString{})
	}
	if s.All != nil {
		c := s.All.RolloutConfig
		if s.Type == clusterv1alpha1.All || s.Type == "" {
			c.ProgressDeadline = ""
		}
		config(path.Child("all"), c)
	}
	if p := s.Progressive; p != nil && s.Type != clusterv1alpha1.Progressive {
		path := path.Child("progressive")
		config(path, p.RolloutConfig)
		add(path.Child("mandatoryDecisionGroups"), len(p.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0)
		add(path.Child("maxConcurrency"), p.MaxConcurrency != intstr.IntOrString{})
	}
	if p := s.ProgressivePerGroup; p != nil && s.Type != clusterv1alpha1.ProgressivePerGroup {
		path := path.Child("progressivePerGroup")
		config(path, p.RolloutConfig)
		add(path.Child("mandatoryDecisionGroups"), len(p.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0)
	}
	return ignored
}

// checkOptions warns of the options that have no effect under the strategy's type, in the order of their names (R18).
func (s *schedule) checkOptions() {
	perGroup := s.Type == clusterv1alpha1.ProgressivePerGroup
	for _, option := range []struct {
		name    string
		ignored bool
	}{
		{"groupOrder", s.options.groupOrder != nil && !perGroup},
		{"maxConcurrencyPerGroup", s.options.groupConcurrency != nil && !perGroup},
		{"waitBetweenGroups", s.options.wait > 0 && s.wait == 0},
	} {
		if option.ignored {
			s.warn(Warning{Type: WarningFieldIgnored, Field: option.name})
		}
	}
}

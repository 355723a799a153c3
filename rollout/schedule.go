package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Schedule is the strategy that took effect: defaults filled in and limits resolved to counts (R21).
type Schedule struct {
	// Type is the strategy's; All where it was empty.
	Type clusterv1alpha1.RolloutType `json:"type"`
	// MinSuccessTime is how long a succeeded cluster soaks; 0 for All.
	MinSuccessTime time.Duration `json:"minSuccessTime"`
	// ProgressDeadline is how long a cluster may be Progressing or Failed; nil for ever.
	ProgressDeadline *time.Duration `json:"progressDeadline,omitempty"`
	// MaxFailures is the budget over all selected clusters; that of no breach where it is their number. Only
	// Progressive has a smaller one; groups have their own in Stages.
	MaxFailures int `json:"maxFailures"`
	// Stages are gone through in order.
	Stages []Stage `json:"stages"`
}

// Stage is the groups that are rolled out together.
type Stage struct {
	// Groups are in the order of their index.
	Groups []grouping.Key `json:"groups"`
	// Mandatory says that this is a mandatory group.
	Mandatory bool `json:"mandatory,omitempty"`
	// Clusters is the number of clusters in Groups.
	Clusters int `json:"clusters"`
	// MaxConcurrency is how many of them may be in flight or started at a time, at most Clusters. A percentage
	// is one of these clusters: under Progressive of those outside the mandatory groups.
	MaxConcurrency int `json:"maxConcurrency"`
	// MaxFailures is how many of them may fail; Clusters where any number may.
	MaxFailures int `json:"maxFailures"`
}

// WarningType is the kind of a [Warning], in the form of a condition's reason.
type WarningType string

const (
	// MandatoryGroupEmpty: a mandatory group selects no cluster and is skipped (R12).
	MandatoryGroupEmpty WarningType = "MandatoryGroupEmpty"
	// GateWithoutGroup: the gate is before a group that does not exist, and holds nothing (R23).
	GateWithoutGroup WarningType = "GateWithoutGroup"
)

// Warning says that a part of the strategy or an option has no effect. Warnings are comparable.
type Warning struct {
	Type WarningType `json:"type"`
	// Mandatory is the strategy's entry (MandatoryGroupEmpty).
	Mandatory clusterv1alpha1.MandatoryDecisionGroup `json:"mandatoryDecisionGroup,omitzero"`
	// Group is the one that does not exist (GateWithoutGroup).
	Group grouping.Key `json:"group,omitzero"`
}

// String is a sentence fit for an event.
func (w Warning) String() string {
	if w.Type == GateWithoutGroup {
		return fmt.Sprintf("the gate before %v holds nothing: there is no such group", w.Group)
	}
	if w.Mandatory.GroupName != "" {
		return fmt.Sprintf("mandatory decision group %q selects no cluster and is skipped", w.Mandatory.GroupName)
	}
	return fmt.Sprintf("mandatory decision group with index %d selects no cluster and is skipped", w.Mandatory.GroupIndex)
}

// schedule is what of a rollout depends on the strategy and the groups alone.
type schedule struct {
	Schedule
	rules    rules
	options  options
	groups   *grouping.Groups
	stageOf  []int32 // of each group
	warnings []Warning
}

// newSchedule arranges the groups in stages, as doc.go draws them.
func newSchedule(r rules, o options, groups *grouping.Groups) *schedule {
	s := &schedule{rules: r, options: o, groups: groups, stageOf: make([]int32, groups.Len())}
	total := groups.NumClusters()
	s.Schedule = Schedule{Type: r.typ, MinSuccessTime: r.minSuccessTime, ProgressDeadline: r.deadline, MaxFailures: total}

	// The groups in the order in which they are rolled out; stages take theirs from it.
	keys := make([]grouping.Key, 0, groups.Len())
	addStage := func(members []int32, stage Stage) {
		for _, i := range members {
			keys = append(keys, groups.Key(int(i)))
			stage.Clusters += groups.Size(int(i))
			s.stageOf[i] = int32(len(s.Stages))
		}
		stage.Groups = keys[len(keys)-len(members) : len(keys) : len(keys)]
		s.Stages = append(s.Stages, s.limits(stage))
	}

	mandatory, others := s.split()
	s.checkGates()
	s.Stages = make([]Stage, 0, len(mandatory)+len(others))
	for i := range mandatory {
		addStage(mandatory[i:i+1], Stage{Mandatory: true})
	}
	switch r.typ {
	case clusterv1alpha1.ProgressivePerGroup:
		for i := range others {
			addStage(others[i:i+1], Stage{})
		}
	case clusterv1alpha1.Progressive:
		s.MaxFailures = min(r.maxFailures.Of(total), total)
		fallthrough
	default:
		if len(others) > 0 {
			addStage(others, Stage{})
		}
	}
	return s
}

// limits fills in the limits of a stage, whose Clusters and Mandatory are set.
func (s *schedule) limits(stage Stage) Stage {
	n := stage.Clusters
	stage.MaxConcurrency, stage.MaxFailures = n, n
	switch s.Type {
	case clusterv1alpha1.Progressive:
		if stage.Mandatory {
			break
		}
		if s.rules.maxConcurrency != nil {
			stage.MaxConcurrency = s.rules.maxConcurrency.Of(n)
		} else if s.options.defaultConcurrency != nil {
			stage.MaxConcurrency = s.options.defaultConcurrency.Of(s.groups.NumClusters())
		}
	case clusterv1alpha1.ProgressivePerGroup:
		stage.MaxFailures = s.rules.maxFailures.Of(n)
		if s.options.groupConcurrency != nil {
			stage.MaxConcurrency = s.options.groupConcurrency.Of(n)
		}
	}
	if stage.Mandatory {
		stage.MaxFailures = 0
	}
	stage.MaxConcurrency, stage.MaxFailures = min(stage.MaxConcurrency, n), min(stage.MaxFailures, n)
	return stage
}

// split gives the mandatory groups and the others, both in the order of their index, and warns of
// mandatory groups without clusters (R12).
func (s *schedule) split() (mandatory, others []int32) {
	isMandatory := make([]bool, s.groups.Len())
	for _, m := range s.rules.mandatory {
		clusters := 0
		for i := range isMandatory {
			if matches(m, s.groups.Key(i)) {
				isMandatory[i] = true
				clusters += s.groups.Size(i)
			}
		}
		if clusters == 0 {
			if w := (Warning{Type: MandatoryGroupEmpty, Mandatory: m}); !slices.Contains(s.warnings, w) {
				s.warnings = append(s.warnings, w)
			}
		}
	}
	all := make([]int32, 0, len(isMandatory))
	for _, want := range []bool{true, false} {
		for i, is := range isMandatory {
			if is == want {
				all = append(all, int32(i))
			}
		}
		if want {
			mandatory = all
		}
	}
	return mandatory, all[len(mandatory):]
}

// checkGates warns of gates before groups that do not exist: a mistyped name must not start what it was
// meant to hold unseen.
func (s *schedule) checkGates() {
	if len(s.options.gates) == 0 {
		return
	}
	known := make(map[grouping.Key]bool, s.groups.Len())
	for i := range s.groups.Len() {
		known[s.groups.Key(i)] = true
	}
	for _, key := range slices.SortedFunc(maps.Keys(s.options.gates), grouping.Key.Compare) {
		if !known[key] {
			s.warnings = append(s.warnings, Warning{Type: GateWithoutGroup, Group: key})
		}
	}
}

// matches says whether a strategy's mandatory group means the group: by its name, or without one by its
// index.
func matches(m clusterv1alpha1.MandatoryDecisionGroup, key grouping.Key) bool {
	if m.GroupName != "" {
		return m.GroupName == key.Name
	}
	return m.GroupIndex == key.Index
}

// cluster is the one at a position, in the given state.
func (s *schedule) cluster(position int, st state) Cluster {
	return Cluster{s.groups.Cluster(position), s.groups.Key(s.groups.GroupAt(position)), st.status()}
}

// clone shares nothing with s.
func (s Schedule) clone() Schedule {
	n := 0
	for i := range s.Stages {
		n += len(s.Stages[i].Groups)
	}
	s.Stages = slices.Clone(s.Stages)
	keys := make([]grouping.Key, 0, n)
	for i := range s.Stages {
		groups := &s.Stages[i].Groups
		keys = append(keys, *groups...)
		*groups = keys[len(keys)-len(*groups) : len(keys) : len(keys)]
	}
	if s.ProgressDeadline != nil {
		deadline := *s.ProgressDeadline
		s.ProgressDeadline = &deadline
	}
	return s
}

// String is the stages in one line: `[group 0 "canary"] → [group 1, group 2: 5 at a time]`.
func (s Schedule) String() string {
	var stages []string
	for _, stage := range s.Stages {
		stages = append(stages, stage.String())
	}
	return strings.Join(stages, " → ")
}

// String is the groups, and how many clusters may be in flight at a time where that is not all.
func (s Stage) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, key := range s.Groups {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key.String())
	}
	if s.MaxConcurrency < s.Clusters {
		fmt.Fprintf(&b, ": %d at a time", s.MaxConcurrency)
	}
	b.WriteByte(']')
	return b.String()
}

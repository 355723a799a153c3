package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/limit"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Schedule is the strategy as it took effect, with defaults filled in and limits resolved to counts.
type Schedule struct {
	// Type is the type of the strategy; All where the strategy has none.
	Type clusterv1alpha1.RolloutType `json:"type"`
	// MinSuccessTime is how long a succeeded cluster soaks; 0 for All.
	MinSuccessTime time.Duration `json:"minSuccessTime"`
	// ProgressDeadline is how long a cluster may be Progressing, or Failed; nil for ever. It runs from the later of Applied and
	// LastTransitionTime of its report, so it starts over when the cluster fails.
	ProgressDeadline *time.Duration `json:"progressDeadline,omitempty"`
	// MaxFailures is how many of all selected clusters may fail. Only Progressive limits this; under the other types it is
	// the number of selected clusters. The budget of each group is in Stages.
	MaxFailures int `json:"maxFailures"`
	// ConcurrencySource names the source of the stages' MaxConcurrency: the strategy's field "maxConcurrency", the
	// Placement's field "clustersPerDecisionGroup" where the strategy has none, or the option "maxConcurrencyPerGroup",
	// the only one that limits mandatory stages, too. It is empty where there is no limit.
	ConcurrencySource string `json:"concurrencySource,omitempty"`
	// Stages are the stages, in the order of the rollout unless After says otherwise.
	Stages []Stage `json:"stages"`
	// After has for each stage the stages that it comes directly after, as indexes of Stages; these are lower than its own.
	// It is nil where each stage comes after the one before it, as it always does without [GroupOrder]. Stages that come after
	// the same ones share a slice.
	After [][]int `json:"after,omitempty"`
}

// Stage has the groups that are rolled out together.
type Stage struct {
	// Groups are in the order of their index.
	Groups []grouping.Key `json:"groups"`
	// Mandatory says that this is a mandatory group.
	Mandatory bool `json:"mandatory,omitempty"`
	// Clusters is the number of clusters in Groups, with the deselected ones that still count.
	Clusters int `json:"clusters"`
	// Ignored is how many of these clusters are ignored. The limits below are for the others.
	Ignored int `json:"ignored,omitempty"`
	// Deselected is how many of these clusters are not selected any more, and still count.
	Deselected int `json:"deselected,omitempty"`
	// MaxConcurrency is how many clusters may be in flight or started at a time; at most all that count. A percentage
	// in the strategy's maxConcurrency or in [Options].MaxConcurrencyPerGroup is a share of those that count and are selected in Groups.
	MaxConcurrency int `json:"maxConcurrency"`
	// MaxFailures is how many clusters may fail; all that count where any number may.
	MaxFailures int `json:"maxFailures"`
}

// schedule has the part of a rollout that depends only on the strategy, the options and the groups. It never changes
// once it is made.
type schedule struct {
	fleet.Roster
	rules       rules
	options     options
	missing     string        // what the groups lack; empty where they are complete
	limits      []stageLimits // of each stage
	maxFailures int           // of all clusters
	places      places
	awaited     []bool // for each stage whether one with clusters comes after it; only with a wait
	warnings    []Warning
	names       string // what known gave, once it was asked
}

// stageLimits is what a [Stage] has beside its groups. A result has a copy of each stage for its caller, so these are small.
type stageLimits struct {
	clusters       int
	maxConcurrency int
}

// newSchedule arranges the groups in stages, as in the drawing in doc.go. Where names the clusters in these groups that left or
// moved.
func newSchedule(r *rules, o *options, groups *grouping.Groups, where fleet.FormerGroups) *schedule {
	s := &schedule{rules: *r, options: *o, missing: groups.Incomplete()}
	s.Members = fleet.Members{Groups: groups}
	s.Layout = stages.Layout{
		Mandatory: stages.NewMandatory(r.mandatory), Single: r.typ == clusterv1alpha1.ProgressivePerGroup, Order: o.groupOrder, Reversed: o.rollback != nil,
	}
	s.Graph = stages.New(groups, s.Layout)
	s.FormerMembers = fleet.NewFormerMembers(s.Members, where)
	if named := o.named; named != nil {
		s.Exceptions = fleet.NewExceptions(s.Members, named.ignored, named.failedBefore)
		s.Freezes = fleet.NewFreezes(s.Members, named.freezes, named.isAllowed())
	}
	s.warnings = slices.Clip(r.warnings)
	s.limits, s.Budgets = make([]stageLimits, s.Graph.Len()), make([]int, s.Graph.Len())
	for stage := range s.Graph.Len() {
		s.limits[stage], s.Budgets[stage] = s.limitsOf(stage)
	}
	if s.maxFailures = s.numCounted(); r.typ == clusterv1alpha1.Progressive && !o.rollback.isTolerant() {
		s.maxFailures = r.maxFailures.Within(s.maxFailures-len(s.Deselected), s.maxFailures)
	}
	s.countPlacesKept()
	s.countBaseline()
	s.waitBetween()
	s.Record, s.Span = o.entries(), o.starts.Per
	if o.isOrdered() {
		s.Compare = s.compare
	}
	s.Phases = s.phasesOf()
	s.Timeless = s.timelessKinds()
	s.check()
	return s
}

// keyOf gives the key of the first group of a stage.
func (s *schedule) keyOf(stage stages.Stage) grouping.Key {
	return s.KeyOf(s.Graph.First(stage))
}

// phasesOf says how time and attempts make states of what is reported.
func (s *schedule) phasesOf() fleet.Phases {
	return fleet.Phases{
		MinSuccess: s.rules.minSuccessTime, Deadline: s.rules.deadline, DatesSuccess: s.awaited != nil, Attempt: s.options.attempt, Rollback: s.options.rollback != nil,
	}
}

// timelessKinds gives the kinds that time changes nothing of, and that nothing is told or counted of by time.
func (s *schedule) timelessKinds() fleet.Kinds {
	switch {
	case s.options.starts.IsSet():
		return 0
	case s.rules.minSuccessTime != 0 || s.Wait != 0:
		return fleet.KindsOf(fleet.KindToApply, fleet.KindSkipped)
	default:
		return fleet.KindsOf(fleet.KindToApply, fleet.KindSkipped, fleet.KindSucceeded)
	}
}

// check warns of what has no effect.
func (s *schedule) check() {
	s.checkOptions()
	if s.missing != "" { // a group that seems not to exist may only be missing yet
		s.warn(Warning{Type: WarningGroupsIncomplete, Missing: s.missing})
		return
	}
	s.checkMandatory()
	s.checkGates()
	s.checkFreezes()
	s.checkGroupOrder()
}

// known names the existing groups, each once and at most ten: `"canary", 1, 2 and 7 more`. It is worked out once, and
// only where an entry or a gate names none of them.
func (s *schedule) known() string {
	const most = 10
	if s.names != "" {
		return s.names
	}
	var names []string
	seen := make(map[string]bool)
	for i := range s.Len() {
		key := s.Key(i)
		if key == fleet.UnknownGroup() {
			continue
		}
		name := strconv.Itoa(int(key.Index))
		if key.Name != "" {
			name = strconv.Quote(key.Name)
		}
		if !seen[name] && len(names) < most {
			names = append(names, name)
		}
		seen[name] = true
	}
	s.names = listed(names, len(seen))
	return s.names
}

// numCounted gives how many clusters count, the deselected ones included.
func (s *schedule) numCounted() int { return s.NumClusters() - len(s.Ignored) }

func (s *schedule) warn(w Warning) { s.warnings = append(s.warnings, w) }

// concurrency gives the limit on the clusters in flight in a stage, as a count or a percentage of the stage, and where it comes
// from: nowhere if there is none (R14, R24).
func (s *schedule) concurrency() (limit.Limit, string) {
	switch {
	case s.rules.typ == clusterv1alpha1.Progressive && s.rules.maxConcurrency != nil:
		return *s.rules.maxConcurrency, "maxConcurrency"
	case s.rules.typ == clusterv1alpha1.Progressive && s.ClustersPerDecisionGroup() > 0:
		return limit.Count(s.ClustersPerDecisionGroup()), "clustersPerDecisionGroup"
	case s.rules.typ == clusterv1alpha1.ProgressivePerGroup && s.options.groupConcurrency != nil:
		return *s.options.groupConcurrency, "maxConcurrencyPerGroup"
	default:
		return limit.Limit{}, ""
	}
}

// limitsOf gives the limits of a stage, and how many failures it tolerates.
func (s *schedule) limitsOf(stage stages.Stage) (l stageLimits, budget int) {
	clusters, ignored, elsewhere := 0, 0, 0
	for _, group := range s.Graph.Groups(stage) {
		clusters += s.SizeOf(group)
		ignored += s.IgnoredIn(group)
		elsewhere += s.DeselectedIn(group) + s.MovedIn(group)
	}
	all := clusters - ignored
	n := all - elsewhere // percentages are of those that are selected there (R46)
	l, budget = stageLimits{clusters: clusters, maxConcurrency: all}, all
	mandatory := s.Graph.IsMandatory(stage)
	concurrency, source := s.concurrency()
	switch {
	case mandatory && s.options.groupConcurrency != nil: // R24
		l.maxConcurrency = s.options.groupConcurrency.Within(n, all)
	case source != "" && !mandatory:
		l.maxConcurrency = concurrency.Within(n, all)
	}
	switch {
	case mandatory:
		budget = 0
	case s.rules.typ == clusterv1alpha1.ProgressivePerGroup && !s.options.rollback.isTolerant():
		budget = s.rules.maxFailures.Within(n, all)
	}
	return l, budget
}

// compare orders the positions of clusters that wait in the same state and stage by their turn (R8).
func (s *schedule) compare(a, b fleet.Position) int {
	if c := s.options.rollback.compare(a, b); c != 0 {
		return c
	}
	if s.options.order == nil {
		return cmp.Compare(a, b) // positions are in the order of the names
	}
	return s.compareNames(s.Cluster(a), s.Cluster(b))
}

// compareNames does what compare does, for the names of clusters.
func (s *schedule) compareNames(a, b string) int {
	if rollback := s.options.rollback; rollback != nil {
		p, _ := s.Position(a)
		q, _ := s.Position(b)
		if c := rollback.compare(p, q); c != 0 {
			return c
		}
	}
	if order := s.options.order; order != nil {
		if c := order(a, b); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

// addCluster appends the cluster at a position, in the given state and attempt, to clusters that have room.
func (s *schedule) addCluster(clusters []Cluster, position fleet.Position, st fleet.State, attempt int) []Cluster {
	clusters = clusters[:len(clusters)+1]
	c := &clusters[len(clusters)-1] // in place, since a Cluster is large
	c.Name, c.Group = s.Cluster(position), s.KeyOf(s.GroupOf(position))
	c.Status, c.Attempt = st.Status(), max(attempt, 0)
	return clusters
}

// show gives the Schedule of a result. It shares nothing with s.
func (s *schedule) show() Schedule {
	c := Schedule{Type: s.rules.typ, MinSuccessTime: s.rules.minSuccessTime, MaxFailures: s.maxFailures, Stages: make([]Stage, s.Graph.Len()), After: s.Graph.After()}
	_, c.ConcurrencySource = s.concurrency()
	keys := make([]grouping.Key, s.Graph.NumGroups())
	for stage := range s.Graph.Len() {
		from, to := &s.limits[stage], &c.Stages[stage]
		to.Mandatory, to.Clusters = s.Graph.IsMandatory(stage), from.clusters
		to.MaxConcurrency, to.MaxFailures = from.maxConcurrency, s.Budgets[stage]
		groups := s.Graph.Groups(stage)
		to.Groups, keys = keys[:len(groups):len(groups)], keys[len(groups):]
		for i, group := range groups {
			to.Groups[i] = s.KeyOf(group)
			to.Ignored += s.IgnoredIn(group)
			to.Deselected += s.DeselectedIn(group)
		}
	}
	if s.rules.deadline != nil {
		deadline := *s.rules.deadline
		c.ProgressDeadline = &deadline
	}
	return c
}

// String is the stages in one line: `[group 0 "canary"] → [group 1, group 2: 5 at a time]`. Where the stages are no chain, it
// says for each what it comes after: `[group 0 "eu"]; [group 1 "us"]; [group 2] after group 0 "eu" and group 1 "us"`.
func (s Schedule) String() string {
	var stages []string
	for _, stage := range s.Stages {
		stages = append(stages, stage.String())
	}
	if s.After == nil {
		return strings.Join(stages, " → ")
	}
	for i, after := range s.After {
		for j, before := range after {
			stages[i] += [2]string{" after ", " and "}[min(j, 1)] + s.Stages[before].Groups[0].String()
		}
	}
	return strings.Join(stages, "; ")
}

// String lists the groups, and how many clusters may be in flight at a time unless that is all.
func (s Stage) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, key := range s.Groups {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key.String())
	}
	if s.MaxConcurrency < s.Clusters-s.Ignored {
		fmt.Fprintf(&b, ": %d at a time", s.MaxConcurrency)
	}
	b.WriteByte(']')
	return b.String()
}

package override_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
)

// world is a hub with one root policy and the clusters that it is bound to. It does what Propagate asks
// for, lets clusters evaluate what they were given, and after every step compares who was enforced with the
// naive rules.
type world struct {
	t      rapid.TB
	now    time.Time
	policy *override.Policy
	limits naiveLimits
	// version is counted up by an edit.
	version int
	// bindings have no clusters where groups has those of their placement.
	bindings []override.Binding
	groups   map[string][]naiveGroup
	replicas map[string]*override.Replica
	root     status.PolicyStatus
	// content is the version that a cluster was last enforced to, so that an inform policy finds it compliant.
	content map[string]int
	// broken clusters do not comply, even enforced. silent ones evaluate nothing.
	broken, silent map[string]bool
	last           *override.Propagation
}

func newWorld(t rapid.TB, action override.RemediationAction, limits naiveLimits) *world {
	w := &world{
		t: t, now: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC), version: 1, limits: limits,
		groups: map[string][]naiveGroup{}, replicas: map[string]*override.Replica{}, content: map[string]int{},
		broken: map[string]bool{}, silent: map[string]bool{},
	}
	w.policy = policy(action, limits.typ)
	w.policy.Spec.RolloutStrategy = limits.strategy()
	return w
}

// strategy is the limits as the API has them.
func (l naiveLimits) strategy() clusterv1alpha1.RolloutStrategy {
	deadline := "None"
	if l.deadline > 0 {
		deadline = l.deadline.String()
	}
	config := clusterv1alpha1.RolloutConfig{
		ProgressDeadline: deadline, MinSuccessTime: metav1.Duration{Duration: l.soak}, MaxFailures: intstr.FromInt(l.maxFailures),
	}
	var mandatory clusterv1alpha1.MandatoryDecisionGroups
	if l.mandatory != "" {
		mandatory.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: l.mandatory}}
	}
	s := clusterv1alpha1.RolloutStrategy{Type: l.typ}
	switch l.typ {
	case clusterv1alpha1.Progressive:
		s.Progressive = &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MandatoryDecisionGroups: mandatory, MaxConcurrency: intstr.FromInt(l.maxConcurrency),
		}
	case clusterv1alpha1.ProgressivePerGroup:
		s.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config, MandatoryDecisionGroups: mandatory}
	case clusterv1alpha1.All:
		s.All = &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: deadline}}
	}
	return s
}

// bind adds a binding by a placement of groups, given as "canary: a b | : c d".
func (w *world) bind(name, groups string) {
	w.bindings = append(w.bindings, override.Binding{Name: name, PlacementRef: placement(name)})
	w.place(name, groups)
}

// place sets the groups that a binding's placement selects.
func (w *world) place(name, groups string) {
	w.groups[name] = nil
	for text := range strings.SplitSeq(groups, "|") {
		group, clusters, _ := strings.Cut(text, ":")
		w.groups[name] = append(w.groups[name], naiveGroup{name: strings.TrimSpace(group), clusters: strings.Fields(clusters)})
	}
}

// bound returns the bindings with their clusters.
func (w *world) bound() []override.Binding {
	bindings := slices.Clone(w.bindings)
	for i := range bindings {
		for _, g := range w.groups[bindings[i].Name] {
			bindings[i].Clusters = append(bindings[i].Clusters, g.clusters...)
		}
	}
	return bindings
}

// readGroups returns groups as a controller reads them.
func readGroups(t rapid.TB, groups []naiveGroup) *grouping.Groups {
	t.Helper()
	var decisions []*clusterv1beta1.PlacementDecision
	for i, g := range groups {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("d-", i), Labels: map[string]string{
			clusterv1beta1.DecisionGroupIndexLabel: fmt.Sprint(i), clusterv1beta1.DecisionGroupNameLabel: g.name,
		}}}
		for _, c := range g.clusters {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
		}
		decisions = append(decisions, d)
	}
	read, err := grouping.Read(nil, decisions)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func (w *world) versionName() string { return fmt.Sprint("v", w.version) }

// call asks what to write and checks it against the rules.
func (w *world) call() *override.Propagation {
	w.t.Helper()
	bound, err := override.Resolve(w.policy, w.bound())
	if err != nil {
		w.t.Fatal(err)
	}
	groups := w.joined()
	var replicas []override.Replica
	for _, r := range w.replicas {
		replicas = append(replicas, *r)
	}
	root := override.Root{Policy: w.policy, Version: w.versionName(), Bound: bound, Groups: groups, Status: w.root}
	p, err := override.Propagate(root, replicas, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.last = p
	w.check(bound, p)
	return p
}

// write does what a call asked for, but for the clusters named.
func (w *world) write(p *override.Propagation, except ...string) {
	for _, c := range p.Clusters {
		if slices.Contains(except, c.Name) {
			continue
		}
		r := w.replicas[c.Name]
		switch c.Write {
		case override.WriteCreate:
			r = &override.Replica{Cluster: c.Name}
			w.replicas[c.Name] = r
			fallthrough
		case override.WriteUpdate:
			r.Version, r.Action, r.WriteTime = w.versionName(), c.Action, w.now
			r.Generation++
			fallthrough
		case override.WriteStatus:
			r.RolloutStatus = c.RolloutStatus
		}
	}
	for _, name := range p.Delete {
		if !slices.Contains(except, name) {
			delete(w.replicas, name)
		}
	}
	w.root = p.Status
}

// settle calls and writes until nothing is asked for (O11), and says what each call asked.
func (w *world) settle() {
	w.t.Helper()
	firstPass := false
	for calls := 0; ; calls++ {
		p := w.call()
		if !p.Writes() {
			return
		}
		// Writes once done are not asked for again: the call after one that had a first pass may start clusters,
		// and the one after that asks for nothing.
		if calls > 1 || calls == 1 && !firstPass {
			w.t.Fatalf("O11: call %d still asks for %s", calls+1, p)
		}
		firstPass = w.pendingFirstPass()
		w.write(p)
	}
}

// pendingFirstPass says whether a bound cluster has no replica of the version.
func (w *world) pendingFirstPass() bool {
	for _, c := range w.last.Clusters {
		if r := w.replicas[c.Name]; r == nil || r.Version != w.versionName() {
			return true
		}
	}
	return false
}

// evaluate lets a cluster act on its replica and report.
func (w *world) evaluate(cluster string) {
	r := w.replicas[cluster]
	if r == nil || w.silent[cluster] {
		return
	}
	enforces := r.Action != override.Inform
	if enforces && !w.broken[cluster] {
		w.content[cluster] = w.version
	}
	compliance := "NonCompliant"
	if fmt.Sprint("v", w.content[cluster]) == r.Version && !(enforces && w.broken[cluster]) {
		compliance = "Compliant"
	}
	if compliance != r.Compliance {
		r.Compliance, r.ComplianceTime = compliance, w.now
	}
	r.LastEvaluatedGeneration = r.Generation
}

func (w *world) evaluateAll() {
	for _, c := range slices.Sorted(maps.Keys(w.replicas)) {
		w.evaluate(c)
	}
}

// started says whether the cluster has been started for this version.
func (w *world) started(cluster string) bool {
	r := w.replicas[cluster]
	return r != nil && r.Version == w.versionName() && r.Action == w.policy.Spec.RemediationAction
}

// check compares a call with the rules (O8, O9) in a world without overrides.
func (w *world) check(bound override.Result, p *override.Propagation) {
	w.t.Helper()
	own := w.policy.Spec.RemediationAction
	two := own != override.Inform && w.limits.typ != clusterv1alpha1.All && w.limits.typ != ""
	ready := func(c string) bool { return w.replicas[c] != nil && w.replicas[c].Version == w.versionName() }
	of := func(c string) (status.RolloutStatus, bool) {
		return w.limits.naiveStatus(w.replicas[c], w.versionName(), own, w.now)
	}
	joined := naiveGroups(w.bound(), w.groups)
	var starts, clusters []string
	if two {
		starts = w.limits.naiveStarts(joined, of, ready)
	}
	for _, g := range joined {
		clusters = append(clusters, g.clusters...)
	}
	slices.Sort(clusters)

	var got, want []string
	for _, c := range p.Clusters {
		got = append(got, fmt.Sprintf("%s: %s %s", c.Name, c.Action, c.RolloutStatus))
	}
	for _, c := range clusters {
		action, s := own, status.Progressing
		switch {
		case !two: // O8
			if r := w.replicas[c]; r != nil && r.Version == w.versionName() && r.Action == own {
				s = w.onePassStatus(r)
			}
		case slices.Contains(starts, c):
		case w.started(c): // O9: stays so for this version
			s, _ = of(c)
		default:
			action, s = override.Inform, status.ToApply
		}
		want = append(want, fmt.Sprintf("%s: %s %s", c, action, s))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("(-want +got):\n%sgroups %v, replicas %s", diff, joined, w.dump())
	}
	if gone := w.gone(clusters); !slices.Equal(gone, p.Delete) {
		w.t.Fatalf("to be deleted: %v, want %v", p.Delete, gone)
	}
	w.checkRoot(p)
}

// onePassStatus is that of a policy that informs or whose strategy is All (S3, R4).
func (w *world) onePassStatus(r *override.Replica) status.RolloutStatus {
	if w.policy.Spec.RemediationAction == override.Inform {
		if r.Generation == r.LastEvaluatedGeneration && r.Compliance != "" {
			return status.Succeeded
		}
		if w.limits.typ != clusterv1alpha1.All {
			return status.Progressing // the deadline of a strategy that is not followed does not count
		}
	}
	s, _ := w.limits.naiveStatus(r, w.versionName(), w.policy.Spec.RemediationAction, w.now)
	return s
}

// gone are the clusters with a replica that are not bound.
func (w *world) gone(bound []string) []string {
	var gone []string
	for _, c := range slices.Sorted(maps.Keys(w.replicas)) {
		if !slices.Contains(bound, c) {
			gone = append(gone, c)
		}
	}
	return gone
}

// checkRoot checks the root's status where it follows from the clusters alone: Progressing as long as any
// cluster waits or is under way, but for a breach.
func (w *world) checkRoot(p *override.Propagation) {
	w.t.Helper()
	counts := map[status.RolloutStatus]int{}
	for i, c := range p.Clusters {
		counts[c.RolloutStatus]++
		if row := p.Status.Status[i]; row.ClusterName != c.Name || row.ClusterNamespace != c.Name || row.RolloutStatus != c.RolloutStatus {
			w.t.Fatalf("the root's status has %+v for %v", row, c)
		}
	}
	aggregate := p.Status.RolloutStatus
	switch waits := counts[status.ToApply]+counts[status.Progressing] > 0; {
	case aggregate == status.Failed:
		if counts[status.Failed]+counts[status.TimeOut] == 0 {
			w.t.Fatalf("the root has Failed with %v", counts)
		}
	case aggregate == status.Succeeded:
		if waits || counts[status.Failed]+counts[status.TimeOut] > 0 {
			w.t.Fatalf("the root has Succeeded with %v", counts)
		}
	case aggregate != status.Progressing:
		w.t.Fatalf("the root is %q", aggregate)
	}
}

func (w *world) dump() string {
	var out []string
	for _, c := range slices.Sorted(maps.Keys(w.replicas)) {
		out = append(out, fmt.Sprintf("%+v", *w.replicas[c]))
	}
	return strings.Join(out, "\n")
}

// wave is the replicas and the root in a line: "a enforce Succeeded, b inform ToApply: Progressing".
func (w *world) wave() string {
	var out []string
	for _, c := range slices.Sorted(maps.Keys(w.replicas)) {
		r := w.replicas[c]
		action := string(r.Action)
		if action == "" {
			action = "unset"
		}
		out = append(out, fmt.Sprintf("%s %s %s", c, action, r.RolloutStatus))
	}
	return strings.Join(out, ", ") + ": " + string(w.root.RolloutStatus)
}

// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// world is a hub with one root policy and the clusters that it is bound to. It does what Propagate asks
// for, lets clusters evaluate what they were given, and after every step compares which clusters were enforced with the
// naive rules.
type world struct {
	t      rapid.TB
	now    time.Time
	policy *policyv1.Policy
	limits naiveLimits
	// version is counted up by an edit.
	version int
	// bindings have no clusters where groups has the groups of their placement.
	bindings []override.Binding
	groups   map[string][]naiveGroup
	replicas map[string]*passes.Replica
	root     policyv1.PolicyStatus
	// content is the version that a cluster was last enforced to, so that an inform policy finds it compliant.
	content map[string]int
	// broken clusters do not comply, even enforced. silent ones evaluate nothing.
	broken, silent map[string]bool
	// validates says that clusters are validated (O22).
	validates bool
	// lost are the bindings with groups that are unknown now.
	lost map[string]bool
	// record is the root's stored record of deselected clusters.
	record status.Record
	// memory is what the controller remembers, and former the groups in that; both are nil after a restart.
	memory *passes.Propagation
	former map[string]grouping.Key
	// formerHalf says that the groups in that were incomplete, and formerExposes how many clusters they expose (R66).
	formerHalf    bool
	formerExposes int
	// formerBreaches are the breaches that lasted there.
	formerBreaches []naiveBreach
	// ignored are the clusters that an operator ignored after they were deselected.
	ignored map[string]bool
	// owed are the clusters that counted in the call before, with the policy of owedOf.
	owed   map[string]bool
	owedOf string
	// unchecked worlds have what the naive rules do not know: overrides, options.
	unchecked bool

	// previous is the call before the last one.
	last, previous *passes.Propagation
	rootAfter      policyv1.PolicyStatus
	rootChanges    bool
}

func newWorld(t rapid.TB, action policyv1.RemediationAction, limits naiveLimits) *world {
	w := &world{
		t: t, now: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC), version: 1, limits: limits,
		groups: map[string][]naiveGroup{}, replicas: map[string]*passes.Replica{}, content: map[string]int{},
		broken: map[string]bool{}, silent: map[string]bool{}, lost: map[string]bool{}, ignored: map[string]bool{},
	}
	w.policy = policy(action, limits)
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

// resolve gives what Resolve says of the world's policy and bindings. A binding that is lost has no groups.
func (w *world) resolve() *override.Resolution {
	w.t.Helper()
	bindings := slices.Clone(w.bindings)
	for i := range bindings {
		if name := bindings[i].Name; !w.lost[name] {
			bindings[i].Groups = groupsOf(w.groups[name])
		}
	}
	r, err := override.Resolve(w.policy, bindings)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// known are the groups of the bindings that are not lost.
func (w *world) known() map[string][]naiveGroup {
	known := maps.Clone(w.groups)
	maps.DeleteFunc(known, func(name string, _ []naiveGroup) bool { return w.lost[name] })
	return known
}

func groupsOf(groups []naiveGroup) *grouping.Groups {
	names := map[grouping.Key][]string{}
	for i, g := range groups {
		names[grouping.Key{Index: int32(i), Name: g.name}] = g.clusters
	}
	made, err := grouping.FromNames(names)
	if err != nil {
		panic(err)
	}
	return made
}

func placement(name string) policyv1.PlacementRef {
	return policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: name}
}

func policy(action policyv1.RemediationAction, limits naiveLimits) *policyv1.Policy {
	p := &policyv1.Policy{
		ObjectMeta: metav1.ObjectMeta{Name: "policy", Namespace: "policies"},
		Spec:       policyv1.PolicySpec{RemediationAction: action, RolloutStrategy: limits.strategy()},
	}
	if limits.failAtOnce {
		p.Annotations = map[string]string{"cohort.open-cluster-management.io/fail-at-once": "true"}
	}
	return p
}

func (w *world) versionName() string { return "v" + strconv.Itoa(w.version) }

// call asks what to write and checks it against the rules.
func (w *world) call(opts rollout.Options) *passes.Propagation {
	w.t.Helper()
	var replicas []passes.Replica
	for _, r := range w.replicas {
		replicas = append(replicas, *r)
	}
	resolution := w.resolve()
	if !w.unchecked {
		w.unignoreBound(resolution)
		opts.Previous = w.memory.Remembered()
		opts.Ignored = nil
		for cluster, is := range w.ignored {
			if is {
				opts.Ignored = append(opts.Ignored, cluster)
			}
		}
	}
	p, err := passes.Propagate(resolution, w.versionName(), w.record, replicas, w.now, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.previous, w.last, w.memory, w.rootAfter = w.last, p, p, clone(w.root)
	w.rootChanges = p.SetStatus(&w.rootAfter)
	if !w.unchecked {
		w.check(p)
	}
	w.checkExplanations(p)
	w.checkReports(resolution)
	return p
}

func clone(st policyv1.PolicyStatus) policyv1.PolicyStatus {
	st.Status = slices.Clone(st.Status)
	return st
}

// restart makes the controller forget what it remembers.
func (w *world) restart() {
	w.memory, w.former, w.formerHalf, w.formerExposes, w.formerBreaches = nil, nil, false, 0, nil
}

// unignoreBound no longer ignores bound clusters: the naive rules only know ignored clusters that are deselected.
func (w *world) unignoreBound(resolution *override.Resolution) {
	for c := range resolution.Clusters() {
		delete(w.ignored, c.Name)
	}
}

// store stores the record in the root, as it is read back.
func (w *world) store(p *passes.Propagation) {
	w.t.Helper()
	var root metav1.ObjectMeta
	if _, err := (status.Records{"": p.Record}).Note(&root); err != nil {
		w.t.Fatal(err)
	}
	records, err := status.RecordsOf(&root)
	if err != nil {
		w.t.Fatal(err)
	}
	w.record = records[""]
}

// write does what a call asked for, but for the clusters named. Where one of them had to be taken back, nothing starts (O11).
func (w *world) write(p *passes.Propagation, except ...string) {
	w.store(p)
	notRolledBack := false
	for _, c := range p.Writes() {
		r := w.replicas[c.Name]
		if notRolledBack && c.Action != policyv1.Inform {
			break
		}
		if slices.Contains(except, c.Name) {
			notRolledBack = notRolledBack || c.Verb == passes.VerbUpdate
			continue
		}
		switch c.Verb {
		case passes.VerbCreate:
			r = &passes.Replica{Cluster: c.Name}
			if w.validates {
				r.Verdict = &status.Verdict{}
			}
			w.replicas[c.Name] = r
			fallthrough
		case passes.VerbUpdate:
			r.Version, r.Action, r.Applied = w.versionName(), c.Action, w.now
			r.Generation++
			fallthrough
		case passes.VerbUpdateStatus:
			r.RolloutStatus = c.RolloutStatus
		}
		w.checkOneVersion(c)
	}
	for _, name := range p.Removed {
		if !slices.Contains(except, name) {
			delete(w.replicas, name)
		}
	}
	w.root = w.rootAfter
}

// checkOneVersion checks after each write that starts a cluster that no bound cluster is enforced with another version, where
// the rollout is in two passes (O11).
func (w *world) checkOneVersion(c passes.Cluster) {
	w.t.Helper()
	own := w.policy.Spec.RemediationAction
	if c.Verb != passes.VerbUpdate || c.Action == policyv1.Inform || own == policyv1.Inform || w.limits.typ == clusterv1alpha1.All || w.limits.typ == "" {
		return
	}
	for _, other := range w.last.Clusters {
		goesOn := w.naiveStand(other.Name, true).goesOn() // O19: it has a slot
		if r := w.replicas[other.Name]; r != nil && r.Version != w.versionName() && r.Action != policyv1.Inform && !goesOn {
			w.t.Fatalf("O11: %s starts while %s is enforced with %s", c.Name, other.Name, r.Version)
		}
	}
}

// settle calls and writes until nothing is asked for (O11).
func (w *world) settle() {
	w.t.Helper()
	firstPass, recorded, removed, resumed := true, true, true, true
	for calls := 0; ; calls++ {
		p := w.call(rollout.Options{})
		records := fmt.Sprint(w.record.Deselected) != fmt.Sprint(p.Record.Deselected)
		if len(p.Removed)+len(p.Writes()) == 0 && !w.rootChanges && !records {
			return
		}
		// Writes once done are not asked for again. The call after a first pass may start clusters, the call after one that
		// changed the record may delete, the call after one that deleted may change the root's status, and the call after one
		// that resumed a cluster forgets its entry.
		if calls > 4 || records && !recorded && !resumed || len(p.Writes()) > 0 && !firstPass && !recorded || len(p.Removed) > 0 && !recorded || !firstPass && !recorded && !removed && !resumed {
			w.t.Fatalf("O11: call %d still asks for %s", calls+1, p)
		}
		firstPass, recorded, removed = w.pendingFirstPass(), records, len(p.Removed) > 0
		resumed = slices.ContainsFunc(p.Start, func(c string) bool { return w.naiveEntry(c) != nil })
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
	enforces := r.Action != policyv1.Inform
	if enforces && !w.broken[cluster] {
		w.content[cluster] = w.version
	}
	compliance := policyv1.NonCompliant
	if fmt.Sprint("v", w.content[cluster]) == r.Version && !(enforces && w.broken[cluster]) {
		compliance = policyv1.Compliant
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

// judge sets the verdict on a cluster's replica, if clusters are validated.
func (w *world) judge(cluster string, v status.Verdict) {
	if r := w.replicas[cluster]; r != nil && w.validates {
		r.Verdict = &v
	}
}

func (w *world) findAllGood() {
	for c := range w.replicas {
		w.judge(c, status.Verdict{Version: w.versionName(), Result: status.ValidationSucceeded, Time: w.now})
	}
}

// started says whether the cluster has been started for this version.
func (w *world) started(cluster string) bool {
	r := w.replicas[cluster]
	return r != nil && r.Version == w.versionName() && strings.EqualFold(string(r.Action), string(w.policy.Spec.RemediationAction))
}

// check compares a call with the rules (O8, O9) in a world without overrides.
func (w *world) check(p *passes.Propagation) {
	w.t.Helper()
	own, two := w.policy.Spec.RemediationAction, w.isTwo()
	joined := naiveGroups(w.bindings, w.known())
	if w.policy.Spec.Disabled { // O6
		joined = nil
	}
	var starts, clusters []string
	for _, g := range joined {
		clusters = append(clusters, g.clusters...)
	}
	slices.Sort(clusters)
	var left, placed map[string]grouping.Key // the deselected clusters, and with the moved ones
	if two {
		left, placed = w.naiveLeft(clusters), w.naiveMoved(joined)
		maps.Copy(placed, left)
	}
	fleet := w.naiveFleet(joined, clusters, placed)
	if two && len(w.lost) == 0 { // O14, R28
		starts = w.limits.naiveStarts(fleet)
	}

	var got, want []string
	for _, c := range p.Clusters {
		got = append(got, fmt.Sprintf("%s: %s %s", c.Name, c.Action, c.RolloutStatus))
	}
	for _, c := range clusters {
		action, s := own, status.Progressing
		switch {
		case !two && own != policyv1.Inform && len(w.lost) > 0 && !w.started(c): // R28
			action, s = policyv1.Inform, status.ToApply
		case !two: // O8
			if r := w.replicas[c]; r != nil && r.Version == w.versionName() && r.Action == own {
				s = w.onePassStatus(r)
			}
		case slices.Contains(starts, c):
		case w.started(c): // O9: stays so for this version
			s, _ = fleet.of(c)
		case w.naiveStand(c, true).goesOn(): // O19
			s = status.Progressing
		case w.naiveStand(c, true).fails(): // O19
			action = policyv1.Inform
			s, _ = fleet.of(c)
		default:
			action, s = policyv1.Inform, status.ToApply
		}
		shown := naiveShown(s, nil)
		if w.started(c) { // S3
			shown = naiveShown(s, w.replicas[c])
		}
		want = append(want, fmt.Sprintf("%s: %s %s", c, action, shown))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("(-want +got):\n%sgroups %v, former %v, g %v, replicas %s", diff, joined, w.former, p.Explain("g"), w.dump())
	}
	w.checkLeft(p, two, clusters, fleet)
	w.checkStart(p)
	w.checkRoot(p, left)
}

// explained says whether an explanation says anything.
func explained(e passes.Explanation) bool { return e.FirstPass || len(e.Rollout) > 0 }

// checkExplanations checks that a cluster has an explanation exactly where it waits, down to a link with a remedy or
// with a cluster that is waited for, and that Held gives its first link (O15).
func (w *world) checkExplanations(p *passes.Propagation) {
	w.t.Helper()
	blocked := map[string]passes.BlockReason{}
	for c, reason := range p.Blocked() {
		blocked[c.Name] = reason
	}
	for _, c := range p.Clusters {
		e := p.Explain(c.Name)
		reason, isBlocked := blocked[c.Name]
		r := w.replicas[c.Name]
		if w.naiveNotCompliant(c) != (e.InFlight != nil) {
			w.t.Fatalf("%s has the explanation %q", c, e)
		}
		if e.InFlight != nil {
			continue
		}
		if waits := c.RolloutStatus == status.ToApply; waits != explained(e) || waits != isBlocked || waits != (e.String() != "") {
			w.t.Fatalf("%s has the explanation %q", c, e)
		}
		two := w.policy.Spec.RemediationAction != policyv1.Inform && w.policy.Spec.RolloutStrategy.Type != clusterv1alpha1.All
		if first := two && explained(e) && (r == nil || r.Version != w.versionName()); first != e.FirstPass {
			w.t.Fatalf("%s has the explanation %q", c, e)
		}
		if !explained(e) || e.FirstPass {
			if reason != (passes.BlockReason{FirstPass: e.FirstPass}) {
				w.t.Fatalf("%s is blocked by %v, and explained by %q", c, reason, e)
			}
			continue
		}
		first := e.Rollout[0].Reason
		if first.Detail, reason.Rollout.Detail = "", ""; first.Type == "" || first != reason.Rollout { // later links say a part of it
			w.t.Fatalf("%s is blocked by %v, and explained by %q", c, reason, e)
		}
		if last := e.Rollout[len(e.Rollout)-1]; len(last.Blockers)+len(last.Remedies) == 0 {
			w.t.Fatalf("%s waits for no cluster: %q", c, e)
		}
		for _, l := range e.Rollout {
			for _, r := range l.Remedies {
				if r.Type == rollout.RemedyTryAgain || r.Type == rollout.RemedyRevert {
					w.t.Fatalf("%s has the explanation %q, and a policy cannot %v", c, e, r)
				}
			}
		}
	}
	if e := p.Explain("none of these"); explained(e) {
		w.t.Fatalf("a cluster that is not bound has the explanation %q", e)
	}
}

// naiveNotCompliant says whether a cluster is in flight and has reported that it does not comply with its version (O15). In
// these worlds the cluster reports on no single template.
func (w *world) naiveNotCompliant(c passes.Cluster) bool {
	r := w.replicas[c.Name]
	return c.RolloutStatus == status.Progressing && c.Verb != passes.VerbCreate && c.Verb != passes.VerbUpdate && c.Action != policyv1.Inform &&
		r != nil && r.Generation == r.LastEvaluatedGeneration && r.Compliance == policyv1.NonCompliant
}

// checkStart checks that the clusters are in the states that the result shows as started, timed out and blocked: no cluster
// starts that waits.
func (w *world) checkStart(p *passes.Propagation) {
	w.t.Helper()
	var started, waits []string
	for _, c := range p.Clusters {
		r := w.replicas[c.Name]
		had := r != nil && r.Version == w.versionName() && strings.EqualFold(string(r.Action), string(c.Action))
		if c.RolloutStatus == status.Progressing && !had {
			started = append(started, c.Name)
		}
		if c.RolloutStatus == status.ToApply {
			waits = append(waits, c.Name)
		}
	}
	var blocked []string
	for c, reason := range p.Blocked() {
		blocked = append(blocked, c.Name)
		if r := w.replicas[c.Name]; reason.String() == "" || reason.FirstPass && r != nil && r.Version == w.versionName() {
			w.t.Fatalf("%s is blocked: %+v", c, reason)
		}
	}
	if got := slices.Sorted(slices.Values(p.Start)); !slices.Equal(got, started) || !slices.Equal(blocked, waits) {
		w.t.Fatalf("starts %v and blocks %v, want %v and %v: %s", got, blocked, started, waits, p)
	}
	for _, name := range p.TimedOut {
		if c, _ := p.Find(name); c.RolloutStatus != status.TimeOut && c.RolloutStatus != naiveShown(status.TimeOut, w.replicas[name]) {
			w.t.Fatalf("timed out: %s", c)
		}
	}
}

// onePassStatus gives the status of a policy that informs or has strategy All (S3, R4).
func (w *world) onePassStatus(r *passes.Replica) status.RolloutStatus {
	if w.policy.Spec.RemediationAction == policyv1.Inform {
		s, since := status.Progressing, r.Applied
		if r.Generation == r.LastEvaluatedGeneration && r.Compliance != "" {
			if r.ComplianceTime.After(since) {
				since = r.ComplianceTime
			}
			s, since = naiveJudge(r, status.Succeeded, since) // O22
		}
		if w.limits.typ != clusterv1alpha1.All {
			return s // the deadline of a strategy that is not followed does not count
		}
		s, _ = w.limits.naiveLimit(s, since, w.now)
		return s
	}
	s, _ := w.limits.naiveStatus(r, w.versionName(), w.policy.Spec.RemediationAction, w.now)
	return s
}

// unboundReplicas are the clusters with a replica that are not bound.
func (w *world) unboundReplicas(bound []string) []string {
	var gone []string
	for _, c := range slices.Sorted(maps.Keys(w.replicas)) {
		if !slices.Contains(bound, c) {
			gone = append(gone, c)
		}
	}
	return gone
}

// checkRoot checks the root's status where it follows from the clusters alone: Progressing as long as any
// cluster waits or is under way, but for a breach. Left has the clusters that are not bound and count.
func (w *world) checkRoot(p *passes.Propagation, left map[string]grouping.Key) {
	w.t.Helper()
	counts := map[status.RolloutStatus]int{}
	want := map[string]status.RolloutStatus{}
	for _, c := range p.Clusters {
		want[c.Name] = c.RolloutStatus
		counts[c.RolloutStatus]++
	}
	for c := range left { // O16
		stands := w.naiveStand(c, false)
		if counts[naiveShown(stands.status, w.replicas[c])]++; stands.status == status.Succeeded {
			counts[status.Progressing]++ // it soaks
		}
		if _, removed := slices.BinarySearch(p.Removed, c); !removed || slices.ContainsFunc(p.Record.Deselected, func(e status.DeselectedCluster) bool { return e.Cluster == c }) {
			r := w.replicas[c]
			if removed {
				r = nil
			}
			want[c] = naiveShown(stands.status, r)
		}
	}
	for c, r := range w.replicas { // O14, O16: those that stay
		_, removed := slices.BinarySearch(p.Removed, c)
		if _, known := want[c]; !known && !removed {
			want[c] = r.RolloutStatus
		}
	}
	got := map[string]status.RolloutStatus{}
	for _, row := range w.rootAfter.Status {
		if got[row.ClusterName] = status.RolloutStatus(row.RolloutStatus); row.ClusterNamespace != row.ClusterName || len(left) > 0 && w.isTwo() && w.replicas[row.ClusterName] == nil && row.ComplianceState != "" {
			w.t.Fatalf("the root's status has %+v", row)
		}
	}
	ofOne := !w.isTwo() && len(got) > len(p.Clusters) // what these say is judged by no strategy
	if diff := cmp.Diff(want, got); diff != "" && !ofOne {
		w.t.Fatalf("the root's status (-want +got):\n%s for %s", diff, p)
	}
	fails := counts[status.Failed]+counts[status.TimeOut] > 0
	aggregate := status.RolloutStatus(w.rootAfter.RolloutStatus)
	switch waits := counts[status.ToApply]+counts[status.Progressing] > 0; {
	case aggregate == status.Failed:
		if !fails && w.isTwo() {
			w.t.Fatalf("the root has Failed with %v", counts)
		}
	case aggregate == status.Succeeded:
		if len(w.lost) > 0 && !w.policy.Spec.Disabled || waits || fails {
			w.t.Fatalf("the root has Succeeded with %v", counts)
		}
	case aggregate != status.Progressing:
		w.t.Fatalf("the root is %q", aggregate)
	}
	if w.rootAfter.ComplianceState == policyv1.Compliant && len(left) > 0 && slices.ContainsFunc(slices.Collect(maps.Keys(left)), func(c string) bool { return w.replicas[c] == nil }) {
		w.t.Fatal("the root is Compliant, and a deselected cluster is not done")
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
	return strings.Join(out, ", ") + ": " + w.root.RolloutStatus
}

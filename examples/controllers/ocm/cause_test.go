// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clocktesting "k8s.io/utils/clock/testing"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
	"open-cluster-management.io/sdk-go/pkg/apis/work/v1/applier"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// recordings are those of OCM's controllers, which the judge replays.
const recordings = "../../trial/judge/testdata/ocm"

// lagOfJudge is how far behind the truth a controller may be, and patience for how long nothing may happen, as OCM.md has them.
const (
	lagOfJudge = 2 * time.Second
	patience   = 5 * time.Second
)

var judged = judge.Options{Lag: lagOfJudge, Patience: patience, IgnoreAnnotation: "hub.test/ignore"}

// recording is what one shows, and in which world it was recorded.
type recording struct {
	class string // of worlds
	seed  uint64
	grade judge.Grade
	kind  judge.Kind
	fresh bool // the controller saw all that there was
}

// recorded are the recordings of OCM's controller of ManifestWorkReplicaSets, by name.
var recorded = map[string]recording{
	"group-size-unread":                    {"group size unread", 6000, judge.Broken, judge.Concurrency, true},
	"breached-group-started":               {"breached group started", 6000, judge.Broken, judge.Budget, false},
	"breach-behind":                        {"breach behind", 6001, judge.Broken, judge.Budget, false},
	"next-group-too-early":                 {"next group too early", 6003, judge.Broken, judge.Order, false},
	"generous-budget-read-as-none":         {"generous budget read as none", 6000, judge.Broken, judge.Stuck, true},
	"group-half-started":                   {"group half started", 6000, judge.Broken, judge.Stuck, true},
	"time-out-holds-the-rest":              {"time-out holds the rest", 6000, judge.Broken, judge.Stuck, true},
	"waves-behind-mandatory-groups":        {"behind mandatory groups, waves", 6000, judge.Broken, judge.Stuck, true},
	"silent-agent":                         {"silent agent", 6000, judge.Broken, judge.Stuck, true},
	"deselected-not-counted":               {"deselected not counted", 6001, judge.Broken, judge.Leavers, false},
	"outdated-work-of-a-cluster-that-left": {"an outdated work of a cluster that left", 6000, judge.Broken, judge.Left, true},
	"decisions-incomplete":                 {"", 6003, judge.Broken, judge.PartiallyObserved, false},
	"works-lost":                           {"", 6006, judge.Broken, judge.Kept, false},
	"counted-twice":                        {"an outdated work of a cluster that left", 6001, judge.Broken, judge.Once, false},
	"works-without-end":                    {"", 6004, judge.Broken, judge.Once, true},
}

func readRecording(t *testing.T, text []byte) ([]line, *judge.Recording) {
	t.Helper()
	lines, err := readLines(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := judge.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return lines, r
}

// line is a line of a recording with its object.
type line struct {
	at     time.Time
	gone   bool
	rv     int64
	id     string
	object metav1.Object // nil without one
}

// readLines reads a recording's lines.
func readLines(text []byte) (all []line, _ error) {
	for raw := range bytes.Lines(text) {
		var l judge.Line
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, err
		}
		next := line{at: l.At, gone: l.Type == "DELETED"}
		if len(l.Object) > 0 {
			var of metav1.TypeMeta
			if err := json.Unmarshal(l.Object, &of); err != nil {
				return nil, err
			}
			switch of.Kind {
			case "Placement":
				next.object = &clusterv1beta1.Placement{}
			case "PlacementDecision":
				next.object = &clusterv1beta1.PlacementDecision{}
			case "ManifestWorkReplicaSet":
				next.object = &workv1alpha1.ManifestWorkReplicaSet{}
			case "ManifestWork":
				next.object = &workv1.ManifestWork{}
			case "ClusterManagementAddOn":
				next.object = &addonv1beta1.ClusterManagementAddOn{}
			case "ManagedClusterAddOn":
				next.object = &addonv1beta1.ManagedClusterAddOn{}
			default:
				next.object = &metav1.PartialObjectMetadata{}
			}
			if err := json.Unmarshal(l.Object, next.object); err != nil {
				return nil, err
			}
			next.id = of.Kind + " " + next.object.GetNamespace() + "/" + next.object.GetName()
			next.rv, _ = strconv.ParseInt(next.object.GetResourceVersion(), 10, 64)
		}
		all = append(all, next)
	}
	return all, nil
}

// hub is what a controller sees.
type hub struct {
	now     time.Time
	objects map[string]metav1.Object
}

// after is the hub once some lines were written.
func after(lines []line) *hub {
	h, seen := &hub{objects: map[string]metav1.Object{}}, map[string]int64{}
	for _, l := range lines {
		if h.now = l.at; l.object == nil || l.rv < seen[l.id] {
			continue
		}
		if seen[l.id] = l.rv; l.gone {
			delete(h.objects, l.id)
		} else {
			h.objects[l.id] = l.object
		}
	}
	return h
}

// of are the objects of a type, by name.
func of[T metav1.Object](h *hub) (all []T) {
	for _, id := range slices.Sorted(maps.Keys(h.objects)) {
		if o, is := h.objects[id].(T); is {
			all = append(all, o)
		}
	}
	return all
}

// List are the decisions of a placement.
func (h *hub) List(selector labels.Selector, namespace string) (all []*clusterv1beta1.PlacementDecision, _ error) {
	for _, d := range of[*clusterv1beta1.PlacementDecision](h) {
		if d.Namespace == namespace && selector.Matches(labels.Set(d.Labels)) {
			all = append(all, d)
		}
	}
	return all, nil
}

// decision is what sdk-go's helper has a controller of ManifestWorkReplicaSets do: the clusters that get a work or a new template, and those that lose theirs.
type decision struct{ starts, removes map[string]bool }

// decide asks sdk-go's helper as OCM's controller does, for each placement of a set in its order. An error names what no controller can
// decide from.
func (h *hub) decide(owner string) (*decision, error) {
	for _, set := range of[*workv1alpha1.ManifestWorkReplicaSet](h) {
		if owner == "ManifestWorkReplicaSet "+set.Namespace+"/"+set.Name {
			return h.decideFor(set)
		}
	}
	for _, addon := range of[*addonv1beta1.ClusterManagementAddOn](h) {
		if owner == "ClusterManagementAddOn "+addon.Name || owner == "ClusterManagementAddOn /"+addon.Name {
			return h.decideAddons(addon)
		}
	}
	return nil, fmt.Errorf("there is no %s", owner)
}

func (h *hub) decideFor(set *workv1alpha1.ManifestWorkReplicaSet) (*decision, error) {
	was := sdkv1alpha1.RolloutClock
	sdkv1alpha1.RolloutClock = clocktesting.NewFakeClock(h.now)
	defer func() { sdkv1alpha1.RolloutClock = was }()
	d := &decision{map[string]bool{}, map[string]bool{}}
	for _, ref := range set.Spec.PlacementRefs {
		placement, is := h.objects["Placement "+set.Namespace+"/"+ref.Name].(*clusterv1beta1.Placement)
		if !is {
			return nil, fmt.Errorf("there is no Placement %s/%s", set.Namespace, ref.Name)
		}
		var existing []sdkv1alpha1.ClusterRolloutStatus
		for _, work := range of[*workv1.ManifestWork](h) {
			wanted := &workv1.ManifestWork{ObjectMeta: work.ObjectMeta, Spec: set.Spec.ManifestWorkTemplate}
			if work.Labels[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey] == set.Namespace+"."+set.Name &&
				work.Labels[workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey] == ref.Name && applier.ManifestWorkEqual(wanted, work) {
				existing = append(existing, statusOf(work))
			}
		}
		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, h, nil)
		handler, err := sdkv1alpha1.NewRolloutHandler(tracker, func(_ string, work *workv1.ManifestWork) (sdkv1alpha1.ClusterRolloutStatus, error) {
			return statusOf(work), nil
		})
		if err != nil {
			return nil, err
		}
		if err := tracker.Refresh(); err != nil {
			return nil, err
		}
		_, result, err := handler.GetRolloutCluster(ref.RolloutStrategy, existing)
		if err != nil {
			return nil, err
		}
		for _, c := range result.ClustersToRollout {
			if c.Status == sdkv1alpha1.ToApply {
				d.starts[c.ClusterName] = true
			}
		}
		for _, c := range result.ClustersRemoved {
			d.removes[c.ClusterName] = true
		}
	}
	return d, nil
}

// statusOf is what OCM's controller takes the conditions of a work for: nothing counts before the agent has applied its generation and said how
// it goes on; what is under way and degraded has failed.
func statusOf(work *workv1.ManifestWork) sdkv1alpha1.ClusterRolloutStatus {
	is := sdkv1alpha1.ClusterRolloutStatus{ClusterName: work.Namespace, Status: sdkv1alpha1.ToApply}
	of := func(kind string) *metav1.Condition { return meta.FindStatusCondition(work.Status.Conditions, kind) }
	applied, progressing, degraded := of(workv1.WorkApplied), of(workv1.WorkProgressing), of(workv1.WorkDegraded)
	switch {
	case applied == nil || applied.ObservedGeneration != work.Generation || applied.Status != metav1.ConditionTrue:
	case progressing == nil || progressing.ObservedGeneration != work.Generation:
	case degraded != nil && degraded.ObservedGeneration != work.Generation:
	case progressing.Status == metav1.ConditionFalse:
		is.Status, is.LastTransitionTime = sdkv1alpha1.Succeeded, &progressing.LastTransitionTime
	case progressing.Status == metav1.ConditionTrue && degraded != nil && degraded.Status == metav1.ConditionTrue:
		is.Status, is.LastTransitionTime = sdkv1alpha1.Failed, &degraded.LastTransitionTime
	default:
		is.Status, is.LastTransitionTime = sdkv1alpha1.Progressing, &progressing.LastTransitionTime
	}
	return is
}

// causes says whether sdk-go's helper has the controller do what a finding blames it for, on the lines up to that of the finding: "" if so. What the controller
// wrote it may have decided by what it saw up to the lag before; what it did not write no view of all the patience may ask for.
func (of *recording) causes(lines []line, f *judge.Finding) (problem string) {
	asks := func(d *decision, h *hub) bool { return d.starts[f.Cluster] }
	switch f.Kind {
	case judge.Stuck: // it starts none
		asks = func(d *decision, h *hub) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(d.starts)), func(c string) bool { return h.placementsWithWork(c) == 0 })
		}
	case judge.Kept, judge.Left:
		asks = func(d *decision, _ *hub) bool { return d.removes[f.Cluster] }
	case judge.Once:
		asks = func(d *decision, h *hub) bool { return d.starts[f.Cluster] && h.placementsWithWork(f.Cluster) != 1 }
	}
	last := len(lines) - 1
	missing := f.Kind == judge.Stuck || f.Kind == judge.Left // it is a write that is missing
	n, since := last, lines[last].at.Add(-lagOfJudge)
	switch {
	case missing:
		n, since = last+1, lines[last].at.Add(-patience)
	case of.fresh:
		since = lines[last].at
	}
	for until := lines[last].at; n > 0 && !until.Before(since); n-- {
		h := after(before(lines, n))
		if until = lines[n-1].at; !missing {
			h.now = lines[last].at
		}
		says := ""
		if d, err := h.decide(f.Owner); err != nil {
			says = err.Error()
		} else if asks(d, h) == missing {
			says = fmt.Sprintf("after %d of %d lines sdk-go's helper starts %v and removes %v", n, last+1, slices.Sorted(maps.Keys(d.starts)), slices.Sorted(maps.Keys(d.removes)))
		}
		if missing && says != "" {
			return says
		}
		if !missing && says == "" {
			return ""
		}
		problem = cmp.Or(problem, says)
	}
	return problem
}

// before are the first n lines, and the creation of the add-on that the next line has configured.
func before(lines []line, n int) []line {
	if n == len(lines) {
		return created(lines)
	}
	all := created(lines[:n+1])
	return all[:len(all)-1]
}

// placementsWithWork is for how many placements a cluster has a work. OCM's controller gives a cluster another work if it sees none, or if the work that it
// comes to last among those of the cluster is of another placement.
func (h *hub) placementsWithWork(cluster string) int {
	all := map[string]bool{}
	for _, w := range of[*workv1.ManifestWork](h) {
		if w.Namespace == cluster {
			all[w.Labels[workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey]] = true
		}
	}
	return len(all)
}

// A recording of OCM's controller of ManifestWorkReplicaSets has what made it decide: before the write that is blamed, sdk-go's helper says the write.
func TestEachRecordingHasItsCause(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	tested := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		if strings.HasPrefix(name, "addon-") || strings.HasPrefix(name, "placement-") {
			continue
		}
		tested++
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			of, is := recorded[name]
			if !is {
				t.Fatal("it is not among those that can be recorded anew")
			}
			if problem := of.problem(t, text); problem != "" {
				t.Error(problem)
			}
		})
	}
	if tested != len(recorded) {
		t.Errorf("%d recordings, expected %d", tested, len(recorded))
	}
}

// problem says what a recording lacks to show something with its cause, and "" if it does.
func (of *recording) problem(t *testing.T, text []byte) (problem string) {
	t.Helper()
	lines, r := readRecording(t, text)
	problem = fmt.Sprintf("it shows no %s %s", of.grade, of.kind)
	report := judge.Judge(r, judged)
	for i := range report.Findings {
		if f := &report.Findings[i]; of.shows(f) {
			if problem = of.causes(lines[:f.Line], f); problem == "" {
				return ""
			}
		}
	}
	return problem
}

func (of *recording) shows(f *judge.Finding) bool {
	return f.Grade == of.grade && (f.Kind == of.kind || slices.Contains(f.Also, of.kind))
}

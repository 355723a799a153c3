// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// This file reads the objects of a dump by OCM's documentation: it knows no stamp and does not call the library.

// aWhile is a progressDeadline and a minSuccessTime that no test waits for. Old dumps are dated after it.
const aWhile = time.Hour

// limits are the limits of a strategy.
type limits struct {
	kind                        string // pool, groups, mandatory or all
	maxConcurrency, maxFailures int
	deadline, soak              bool // whether they are set, to aWhile
}

func drawLimits(rng *rand.Rand, trouble string, clusters int) limits {
	l := limits{
		kind:           []string{"pool", "pool", "groups", "mandatory", "all"}[rng.IntN(5)],
		maxConcurrency: 1 + rng.IntN(4), maxFailures: rng.IntN(3), deadline: rng.IntN(2) == 0,
	}
	if trouble == "stops" || trouble == "leaves" {
		l.kind = []string{"pool", "pool", "groups", "mandatory"}[rng.IntN(4)]
		if l.kind != "pool" { // one failure too many may be in any group
			l.maxFailures = 0
		}
		l.maxConcurrency = max(l.maxConcurrency, l.maxFailures+1) // otherwise failed clusters take all slots
	}
	return l
}

// strategy is that of the object.
func (l limits) strategy() map[string]any {
	fields := map[string]any{}
	if l.deadline {
		fields["progressDeadline"] = "1h"
	}
	if l.kind == "all" {
		return map[string]any{"type": "All", "all": fields}
	}
	if l.soak {
		fields["minSuccessTime"] = "1h"
	}
	fields["maxFailures"] = int64(l.maxFailures)
	switch l.kind {
	case "groups":
		return map[string]any{"type": "ProgressivePerGroup", "progressivePerGroup": fields}
	case "mandatory":
		fields["mandatoryDecisionGroups"] = []any{map[string]any{"groupName": canary}}
	}
	fields["maxConcurrency"] = int64(l.maxConcurrency)
	return map[string]any{"type": "Progressive", "progressive": fields}
}

// stand is the state of a cluster with the version: Progressing, Succeeded, Failed or TimeOut, from when it counts (zero if
// unknown), and whether the dump says when the cluster got the version.
type stand struct {
	is      string
	since   time.Time
	undated bool
}

// Counts are the counts of all clusters.
type Counts struct{ ToApply, Progressing, Succeeded, Soaking, Failed, TimeOut, Left int }

// sight is the state of a rollout.
type sight struct {
	Counts
	Waits, Unsuccessful []string
	Stopped             bool // more failed than may
	MayStart            int  // the number of waiting clusters that may start; -1 if it is not checked
	AsksForFields       bool // because nothing says when clusters got the version
}

func (s sight) same(as sight) bool { return cmp.Equal(s, as) }

func (s sight) diff(said sight) string {
	if s.MayStart < 0 {
		said.MayStart = s.MayStart
	}
	if diff := cmp.Diff(s, said); diff != "" {
		return "(-as the objects +as the plugin says)\n" + diff
	}
	return ""
}

// reading is the state of a rollout that a dump shows.
func (s *story) reading(d dump) (r sight) {
	groups := groupsOf(d.objects)
	stands := s.of.read(d)
	inFlight, failed := map[string]int{}, map[string]int{}
	for cluster, st := range stands {
		group, selected := groups[cluster]
		r.AsksForFields = r.AsksForFields || st.undated
		since := d.now.Sub(st.since)
		if st.since.IsZero() {
			since = 0 // unknown: no deadline passes, and no soak ends
		}
		soaking := st.is == "Succeeded" && s.limits.soaks() && since < aWhile
		if s.limits.deadline && since >= aWhile && (st.is == "Progressing" || st.is == "Failed") {
			st.is = "TimeOut"
		}
		if !selected && (st.is == "Succeeded" && !soaking || !s.kind.stamps) { // OCM's controller does not count deselected clusters
			continue
		}
		if !selected {
			r.Left++
		}
		switch {
		case st.is == "Succeeded":
			r.Succeeded++
		case st.is == "Progressing":
			r.Progressing++
		case st.is == "Failed":
			r.Failed++
		default:
			r.TimeOut++
		}
		if soaking {
			r.Soaking++
		}
		if soaking || st.is == "Progressing" || st.is == "Failed" {
			inFlight[group]++
		}
		if st.is == "Failed" || st.is == "TimeOut" {
			failed[group]++
			r.Unsuccessful = append(r.Unsuccessful, cluster)
		}
	}
	for cluster := range groups {
		if _, has := stands[cluster]; !has {
			r.Waits = append(r.Waits, cluster)
		}
	}
	slices.Sort(r.Waits)
	slices.Sort(r.Unsuccessful)
	r.ToApply = len(r.Waits)
	stopped := s.limits.stopped(failed)
	r.Stopped = stopped && r.ToApply > 0
	r.MayStart = -1
	if s.kind.name != "policies" && r.Left == 0 { // a policy informs a cluster first
		r.MayStart = s.limits.mayStart(stopped, r.Waits, groups, inFlight)
	}
	return r
}

func (l limits) soaks() bool { return l.soak && l.kind != "all" }

// stopped says whether more clusters failed than are tolerated, by group.
func (l limits) stopped(failed map[string]int) bool {
	all, most := 0, 0
	for _, n := range failed {
		all, most = all+n, max(most, n)
	}
	switch l.kind {
	case "all":
		return false
	case "groups":
		return most > l.maxFailures
	case "mandatory":
		return failed[canary] > 0 || all > l.maxFailures
	}
	return all > l.maxFailures
}

// mayStart is how many of the waiting clusters may start now, in the canary group and after it.
func (l limits) mayStart(stopped bool, waits []string, groups map[string]string, inFlight map[string]int) int {
	of := map[string]int{}
	for _, cluster := range waits {
		of[groups[cluster]]++
	}
	canaries := of[canary] > 0 || inFlight[canary] > 0
	switch {
	case l.kind == "all":
		return len(waits)
	case stopped:
		return 0
	case l.kind != "pool" && canaries:
		return of[canary]
	case l.kind == "groups":
		return of[""]
	}
	return min(of[""], max(0, l.maxConcurrency-inFlight[""]))
}

// canary is the name of the first group, if there are two. The other one has no name.
const canary = "canary"

// groupsOf are the groups of the selected clusters.
func groupsOf(objects []unstructured.Unstructured) map[string]string {
	groups := map[string]string{}
	for i := range objects {
		if objects[i].GetKind() != "PlacementDecision" {
			continue
		}
		decisions, _, _ := unstructured.NestedSlice(objects[i].Object, "status", "decisions")
		for _, d := range decisions {
			groups[d.(map[string]any)["clusterName"].(string)] = objects[i].GetLabels()["cluster.open-cluster-management.io/decision-group-name"]
		}
	}
	return groups
}

// remembered is the owner's record of deselected clusters with the present version.
func (s *story) remembered(owner *unstructured.Unstructured) map[string]stand {
	var records map[string]struct {
		Left []struct {
			Cluster, Status             string
			Applied, LastTransitionTime time.Time
		}
	}
	stands := map[string]stand{}
	_ = json.Unmarshal([]byte(owner.GetAnnotations()["cohort.open-cluster-management.io/left"]), &records)
	for _, record := range records {
		for _, left := range record.Left {
			if is := left.Status; s.leftWith[left.Cluster] == s.version && is != "Skip" {
				if is == "ToApply" {
					is = "Progressing"
				}
				stands[left.Cluster] = stand{is: is, since: later(left.Applied, left.LastTransitionTime)}
			}
		}
	}
	return stands
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// written is the time of the last write to the spec, by the managed fields.
func written(o *unstructured.Unstructured) (at time.Time) {
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource == "" && entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.Raw), `"f:spec":`) {
			at = later(at, entry.Time.Time)
		}
	}
	return at
}

// sameJSON compares two values as JSON.
func sameJSON(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

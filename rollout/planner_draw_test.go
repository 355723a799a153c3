// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

var clusterNames = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

// start has a monotonic reading, as the clocks of controllers have.
var start = time.Now()

// ranAhead is t with a monotonic reading that has run d ahead of the wall clock, as after the clock was set back.
func ranAhead(t time.Time, d time.Duration) time.Time {
	// The second word of a time with a monotonic reading is the reading. Nothing else makes the two differ.
	if t != t.Round(0) {
		*(*int64)(unsafe.Add(unsafe.Pointer(&t), 8)) += int64(d)
	}
	return t
}

// drawTime gives a time around now, in seconds, with a monotonic reading of its own, or none.
func drawTime(t *rapid.T, what string, now time.Time, from, to int) time.Time {
	at := now.Add(time.Duration(rapid.IntRange(from, to).Draw(t, what)) * time.Second)
	at = at.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, what+"'s fraction")) * 300 * time.Millisecond)
	switch rapid.IntRange(0, 4).Draw(t, what+"'s clock") {
	case 0:
		return at.Round(0)
	case 1:
		return ranAhead(at, time.Duration(rapid.IntRange(-60, 60).Draw(t, "skew"))*time.Second)
	default:
		return at
	}
}

func drawGroups(t *rapid.T) *grouping.Groups {
	w := world{incomplete: rapid.IntRange(0, 5).Draw(t, "incomplete") == 5}
	if size := rapid.SampledFrom([]string{"", "1", "3", "50%"}).Draw(t, "size"); size != "" {
		w.size = ptr(intstr.Parse(size))
	}
	free := slices.Clone(clusterNames)
	index := 0
	for range rapid.IntRange(0, 4).Draw(t, "groups") {
		key := grouping.Key{Index: int32(index), Name: rapid.SampledFrom([]string{"", "canary"}).Draw(t, "name")}
		w.groups = append(w.groups, key)
		for range rapid.IntRange(0, min(len(free), 4)).Draw(t, "clusters") {
			i := rapid.IntRange(0, len(free)-1).Draw(t, "cluster")
			w.members = append(w.members, member{free[i], key})
			free = slices.Delete(free, i, i+1)
		}
		index += rapid.IntRange(1, 2).Draw(t, "gap") // Indexes may have gaps.
	}
	return w.read(t)
}

func drawStrategy(t *rapid.T) clusterv1alpha1.RolloutStrategy {
	config := clusterv1alpha1.RolloutConfig{
		ProgressDeadline: rapid.SampledFrom([]string{"None", "1s", "10s", "1m"}).Draw(t, "deadline"),
		MaxFailures:      rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(2), intstr.FromString("30%")}).Draw(t, "maxFailures"),
	}
	config.MinSuccessTime.Duration = rapid.SampledFrom([]time.Duration{0, 20 * time.Second}).Draw(t, "minSuccessTime")
	var mandatory clusterv1alpha1.MandatoryDecisionGroups
	if rapid.Bool().Draw(t, "mandatory") {
		mandatory.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	}
	switch rapid.IntRange(0, 2).Draw(t, "type") {
	case 0:
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: config}}
	case 1:
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MandatoryDecisionGroups: mandatory,
			MaxConcurrency: rapid.SampledFrom([]intstr.IntOrString{{}, intstr.FromInt32(1), intstr.FromInt32(3), intstr.FromString("25%")}).Draw(t, "maxConcurrency"),
		}}
	default:
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
			RolloutConfig: config, MandatoryDecisionGroups: mandatory,
		}}
	}
}

// drawNames gives a predicate of some of the clusters.
func drawNames(t *rapid.T, what string) (names []string) {
	some := rapid.IntRange(0, 1<<len(clusterNames)-1).Draw(t, what)
	for i, name := range clusterNames {
		if some>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return names
}

func drawOptions(t *rapid.T) rollout.Options {
	gate := rollout.Gate{Name: "window", Opens: drawTime(t, "opens", start, 0, 90)}
	bound := rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("30%")}).Draw(t, "maxRemoved")
	var chosen rollout.Options
	for _, o := range []struct {
		name   string
		option rollout.Options
	}{
		{"Paused", rollout.Options{Paused: true}},
		{"FailedFreesSlot", rollout.Options{FailedFreesSlot: true}},
		{"MaxConcurrencyPerGroup", rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1)}},
		{"Order", rollout.Options{Order: func(a, b string) int { return int(b[0])%3 - int(a[0])%3 }}},
		{"Closed until", rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 0}, Gate: gate}}}},
		{"Closed", rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 1, Name: "canary"}, Gate: rollout.Gate{Name: "approval"}}}}},
		{"Closed by index", rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 1}, Gate: rollout.Gate{Opens: gate.Opens.Add(10 * time.Second)}}}}},
		{"MaxRemoved", rollout.Options{MaxRemoved: ptr(bound)}},
		{"Ignored", rollout.Options{Ignored: drawNames(t, "ignored")}},
		{"FailedBefore", rollout.Options{FailedBefore: drawNames(t, "failed before")}},
		{"Freezes", rollout.Options{Freezes: []rollout.ClusterFreeze{
			{Cluster: "a", Reason: "site", Until: gate.Opens, Blocks: rapid.Bool().Draw(t, "blocks")}, {Cluster: rapid.SampledFrom(clusterNames).Draw(t, "frozen"), Until: gate.Opens.Add(-10 * time.Second)},
			{Cluster: "b", Blocks: rapid.Bool().Draw(t, "blocks for ever")},
		}}},
		{"Allowlist", rollout.Options{Allowlist: append([]string{"a", "b"}, drawNames(t, "allowed")...)}},
		{"GroupOrder", rollout.Options{GroupOrder: rapid.SampledFrom([]rollout.GroupOrder{{}, {"canary": {""}}, {"": {"canary"}}}).Draw(t, "group order")}},
		{"WaitBetweenGroups", rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Duration(rapid.IntRange(0, 90).Draw(t, "wait")) * time.Second}}},
		{"Ramp", rollout.Options{Ramp: ptr(rapid.IntRange(1, 3).Draw(t, "ramp"))}},
		{"MaxStarts", rollout.Options{MaxStarts: &rollout.StartLimit{Count: rapid.IntRange(1, 3).Draw(t, "starts"), Per: metav1.Duration{Duration: time.Duration(rapid.IntRange(1, 80).Draw(t, "per")) * time.Second}}}},
		{"Shares", rollout.Options{Shares: &rollout.Shares{Concurrency: rapid.IntRange(0, 3).Draw(t, "concurrency"), Failures: rapid.IntRange(0, 2).Draw(t, "failures")}}},
	} {
		if rapid.IntRange(0, 3).Draw(t, o.name) == 0 {
			chosen = merged(chosen, o.option)
		}
	}
	return chosen
}

func drawReport(t *rapid.T, cluster string, now time.Time) status.Report {
	r := status.Report{
		Cluster: cluster,
		Status: rapid.SampledFrom([]status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded,
			status.Validating, status.Failed, status.TimeOut, status.Skip, "Unheard of"}).Draw(t, "status"),
	}
	if rapid.IntRange(0, 3).Draw(t, "dated") > 0 {
		r.LastTransitionTime = drawTime(t, "transition", now, -70, 5)
	}
	if rapid.IntRange(0, 2).Draw(t, "knows its write") > 0 {
		r.Applied = drawTime(t, "applied", now, -70, 5)
	}
	if rapid.IntRange(0, 3).Draw(t, "answer is noted") == 0 {
		r.Answered = drawTime(t, "answered", now, -70, 5)
	}
	r.Attempt = max(0, rapid.IntRange(-2, 2).Draw(t, "attempt"))
	r.Reason = rapid.SampledFrom([]status.ReportReason{"", "", status.ReportUntracked, status.ReportRefused}).Draw(t, "reason")
	if rapid.IntRange(0, 3).Draw(t, "says something") == 0 {
		r.Message = cluster + " says so"
	}
	r.Deleting = rapid.IntRange(0, 3).Draw(t, "deleting") == 0
	return r
}

// drawRecord gives a record of some clusters, about a version that may be another one.
func drawRecord(t *rapid.T, now time.Time) status.Record {
	r := status.Record{Version: rapid.SampledFrom([]string{"v2", "v2", "v1"}).Draw(t, "version"), Attempt: rapid.IntRange(0, 1).Draw(t, "attempt of the record")}
	r.More = max(0, rapid.IntRange(-8, 1).Draw(t, "more"))
	for _, cluster := range clusterNames {
		if rapid.IntRange(0, 2).Draw(t, "recorded") == 0 {
			key := grouping.Key{Index: int32(rapid.IntRange(-1, 2).Draw(t, "index"))}
			r.Deselected = append(r.Deselected, status.DeselectedCluster{Report: drawReport(t, cluster, now), Group: key})
		}
	}
	return r
}

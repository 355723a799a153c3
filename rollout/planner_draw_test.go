package rollout_test

import (
	"slices"
	"time"
	"unsafe"

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
func drawNames(t *rapid.T, what string) func(string) bool {
	some := rapid.IntRange(0, 1<<len(clusterNames)-1).Draw(t, what)
	return func(name string) bool { return some>>slices.Index(clusterNames, name)&1 == 1 }
}

func drawOptions(t *rapid.T) []rollout.Option {
	gate := rollout.Gate{Name: "window", Opens: drawTime(t, "opens", start, 0, 90)}
	bound := rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("30%")}).Draw(t, "maxRemoved")
	var chosen []rollout.Option
	for _, o := range []struct {
		name   string
		option rollout.Option
	}{
		{"Paused", rollout.Paused()},
		{"FailedFreesSlot", rollout.FailedFreesSlot()},
		{"MaxConcurrencyPerGroup", rollout.MaxConcurrencyPerGroup(intstr.FromInt32(1))},
		{"Order", rollout.Order(func(a, b string) int { return int(b[0])%3 - int(a[0])%3 })},
		{"Closed until", rollout.Closed(grouping.Key{Index: 0}, gate)},
		{"Closed", rollout.Closed(grouping.Key{Index: 1, Name: "canary"}, rollout.Gate{Name: "approval"})},
		{"Closed by index", rollout.Closed(grouping.Key{Index: 1}, rollout.Gate{Opens: gate.Opens.Add(10 * time.Second)})},
		{"MaxRemoved", rollout.MaxRemoved(bound)},
		{"Uncounted", rollout.Uncounted(drawNames(t, "uncounted"))},
		{"FailedBefore", rollout.FailedBefore(drawNames(t, "failed before"))},
		{"GroupOrder", rollout.GroupOrder(rapid.SampledFrom([]map[string][]string{nil, {"canary": {""}}, {"": {"canary"}}}).Draw(t, "group order"))},
		{"WaitBetweenGroups", rollout.WaitBetweenGroups(time.Duration(rapid.IntRange(0, 90).Draw(t, "wait")) * time.Second)},
		{"Ramp", rollout.Ramp(rapid.IntRange(1, 3).Draw(t, "ramp"))},
		{"MaxStarts", rollout.MaxStarts(rapid.IntRange(1, 3).Draw(t, "starts"), time.Duration(rapid.IntRange(1, 80).Draw(t, "per"))*time.Second)},
	} {
		if rapid.IntRange(0, 3).Draw(t, o.name) == 0 {
			chosen = append(chosen, o.option)
		}
	}
	return chosen
}

func drawReport(t *rapid.T, cluster string, now time.Time) status.Report {
	r := status.Report{
		Cluster: cluster,
		Status: rapid.SampledFrom([]status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded,
			status.Failed, status.TimeOut, status.Skip, "Unheard of"}).Draw(t, "status"),
	}
	if rapid.IntRange(0, 3).Draw(t, "dated") > 0 {
		r.LastTransitionTime = drawTime(t, "transition", now, -70, 5)
	}
	if rapid.IntRange(0, 2).Draw(t, "knows its write") > 0 {
		r.Applied = drawTime(t, "applied", now, -70, 5)
	}
	r.Attempt = max(0, rapid.IntRange(-2, 2).Draw(t, "attempt"))
	return r
}

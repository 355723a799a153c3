// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// inCounts makes counts of all limits that are percentages.
func (w *world) inCounts() {
	count := func(v *intstr.IntOrString) {
		if v != nil && v.Type == intstr.String {
			*v = intstr.FromInt(1 + len(v.StrVal)%3)
		}
	}
	w.size = nil
	count(w.perGroup)
	if p := w.strategy.Progressive; p != nil {
		count(&p.MaxConcurrency)
		count(&p.MaxFailures)
	}
	if p := w.strategy.ProgressivePerGroup; p != nil {
		count(&p.MaxFailures)
	}
}

// R46: with limits in counts, that a cluster which counts leaves changes nothing for the others, which clusters start, which clusters are blocked and why,
// and what is breached, but that some wait by R65 or R66, and others start in their slots.
func TestDeselectingACountedClusterStartsNothing(t *testing.T) {
	left := 0
	rapid.Check(t, func(t *rapid.T) {
		pick := drawn(t)
		w := pick.world(12)
		w.inCounts()
		w.maxRemoved = nil
		w.incomplete = false // incomplete groups do not tell which one a cluster left
		before, err := w.plan(w.read(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range w.members {
			counts := slices.ContainsFunc(slices.Concat(before.InFlight, before.TimedOut, slices.Collect(before.Settled())), func(c rollout.Cluster) bool {
				settled := c.Status == status.Skip || c.Status == status.Succeeded && !slices.Contains(before.InFlight, c)
				return c.Name == m.name && !settled
			})
			if !counts || w.ignored != nil && w.ignored(m.name) {
				continue
			}
			left++
			without := w
			without.members = slices.DeleteFunc(slices.Clone(w.members), func(other member) bool { return other == m })
			without.former = &formerly{result: before}
			after, err := without.plan(without.read(t))
			if err != nil {
				t.Fatal(err)
			}
			more := len(after.Start) > len(before.Start) // a slot that R65 leaves free may go to another cluster
			if fault := differs(before, after, m.name, false); fault != "" && (more || !holdsByGroups(before) && !holdsByGroups(after)) {
				t.Fatalf("%s leaves: %s\nbefore %v\nafter %v\n%v", m.name, fault, before, after, w)
			}
		}
	})
	t.Logf("%d left", left)
}

// holdsByGroups says whether R65 or R66 holds a cluster.
func holdsByGroups(r *rollout.Result) bool {
	return slices.ContainsFunc(r.BlockCounts(), func(h rollout.BlockCount) bool {
		return h.Reason.Type == rollout.BlockPlaces || h.Reason.Type == rollout.BlockExposed
	})
}

// differs says what differs for the others where a cluster left; of which clusters start, which clusters are blocked and what is breached, where these alone
// count.
func differs(before, after *rollout.Result, left string, limits bool) string {
	var a, b answer
	a.observe(before)
	b.observe(after)
	of := func(list []rollout.Cluster) []rollout.Cluster {
		return slices.DeleteFunc(slices.Clone(list), func(c rollout.Cluster) bool { return c.Name == left })
	}
	var breaches [2]rollout.Breach
	for i, r := range []*rollout.Result{before, after} {
		if r.Breach != nil {
			breaches[i] = *r.Breach
			breaches[i].Deselected, breaches[i].Lost = nil, 0
		}
	}
	missing := func(blocked []blockedCluster) []blockedCluster { // how many are there is another number
		blocked = slices.Clone(blocked)
		for i := range blocked {
			blocked[i].Reason.Missing = ""
		}
		return blocked
	}
	was, is := before.Counts, after.Counts
	was.Deselected, is.Deselected = 0, 0
	switch {
	case !slices.Equal(of(a.Start), of(b.Start)):
		return "others start"
	case !slices.Equal(missing(a.Blocked), missing(b.Blocked)):
		return "others are blocked, or for another reason: " + fmt.Sprint(a.Blocked, b.Blocked)
	case !sameBreach(&breaches[0], &breaches[1]):
		return "another breach"
	case limits:
		return ""
	case !slices.Equal(of(a.InFlight), of(b.InFlight)) || !slices.Equal(of(a.TimedOut), of(b.TimedOut)) || !slices.Equal(of(a.Settled), of(b.Settled)):
		return "others stand otherwise"
	case was != is:
		return fmt.Sprintf("%+v are counted, and then %+v", was, is)
	case before.RecheckAfter != after.RecheckAfter:
		return "rechecked at another time"
	}
	return ""
}

// R40, R46 to R49: in random histories in which a version cuts clusters off, in which clusters fail, recover and come back, and in
// which the controller restarts, no more are exposed than Expose says, and nothing has succeeded while a cluster that has the
// version and is not done is missing.
func TestExposureHoldsWhereverClustersGo(t *testing.T) {
	for round := range exhaustive.Of(2, 20) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			exhaustive.Check(t, round, func(t *rapid.T) {
				n := rapid.IntRange(1, 8).Draw(t, "clusters")
				deadline := rapid.SampledFrom([]string{"", "3m", "10m"}).Draw(t, "deadline")
				soak := rapid.SampledFrom([]time.Duration{0, 4 * time.Minute}).Draw(t, "soak")
				strategy := progressive(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "maxConcurrency"),
					config(rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "maxFailures"), deadline, soak))
				if rapid.Bool().Draw(t, "per group") {
					strategy = perGroup(config(rapid.SampledFrom([]string{"0", "1"}).Draw(t, "maxFailures"), deadline, soak))
				}
				fates := map[string]func(time.Duration) (status.RolloutStatus, bool){}
				h := newCutting(n, strategy, func(cluster string, since time.Duration) (status.RolloutStatus, bool) { return fates[cluster](since) }, rollout.Options{})
				for _, cluster := range h.fleet {
					fates[cluster] = drawFate(t)
				}
				h.atOnce = rapid.Bool().Draw(t, "at once")
				h.dropped = rapid.SampledFrom([]time.Duration{0, 2 * time.Minute, 5 * time.Minute}).Draw(t, "dropped")
				h.exposes(t)
			})
		})
	}
}

// drawFate draws what the version does to a cluster: it works, it fails, it is cut off, one after the other.
func drawFate(t *rapid.T) func(time.Duration) (status.RolloutStatus, bool) {
	at := time.Duration(rapid.IntRange(0, 10).Draw(t, "cut off at")) * time.Minute
	cuts := rapid.IntRange(0, 1).Draw(t, "is cut off") == 1
	answers := time.Duration(rapid.IntRange(0, 10).Draw(t, "answers at")) * time.Minute
	says := rapid.SampledFrom([]status.RolloutStatus{status.Succeeded, status.Failed, status.Progressing}).Draw(t, "says")
	return func(since time.Duration) (status.RolloutStatus, bool) {
		cut := cuts && since >= at
		if since >= answers && (!cuts || answers < at) {
			return says, cut
		}
		return status.ToApply, cut
	}
}

// exposes plays, and looks at which clusters are exposed: got the version and did not succeed with it.
func (h *cutting) exposes(t *rapid.T) {
	exposure, err := exposure.Of(h.strategy, selecting(t, false, h.fleet...), exposure.Span{}, h.now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	soak := exposureSoak(h.strategy)
	succeeded := map[string]time.Time{} // as was reported
	for range 120 {
		h.restarts = rapid.IntRange(0, 3).Draw(t, "restarts") == 0
		for cluster, since := range h.works {
			if says, _ := h.fate(cluster, h.now.Sub(since)); says == status.Succeeded {
				succeeded[cluster] = since
			}
		}
		r := h.step(t)
		exposed := 0
		for cluster := range h.got {
			since, has := succeeded[cluster]
			if !has || h.now.Sub(since) < soak {
				exposed++
			}
		}
		if exposed > exposure.Exposed {
			t.Fatalf("%d are exposed, and at most %d may be: %v", exposed, exposure.Exposed, r)
		}
		if exposed > 0 && r.Summary().Aggregate() == status.Succeeded {
			t.Fatalf("%d are exposed, and the rollout has succeeded: %v", exposed, r)
		}
		h.now = h.now.Add(time.Duration(rapid.IntRange(1, 4).Draw(t, "half minutes")) * 30 * time.Second)
	}
}

func exposureSoak(s clusterv1alpha1.RolloutStrategy) time.Duration {
	if s.Type == clusterv1alpha1.Progressive {
		return s.Progressive.MinSuccessTime.Duration
	}
	return s.ProgressivePerGroup.MinSuccessTime.Duration
}

// R48: evidence is stored before it can go. Whoever is in Removed may vanish at once, and the next result says of the others what
// it would have said with the object.
func TestEvidenceIsStoredBeforeRemoval(t *testing.T) {
	removed := 0
	rapid.Check(t, func(t *rapid.T) {
		pick := drawn(t)
		w := pick.world(8)
		w.maxRemoved, w.incomplete = nil, false
		for i := range w.reports { // an agent that lives lets go of its object: nothing is in flight then
			w.reports[i].Deleting = false
		}
		w.storedRecord = &rollout.StoredRecord{Version: "v2", AtOnce: true}
		groups := w.read(t)
		var results []*rollout.Result
		for range 3 {
			if len(results) > 0 {
				w.storedRecord = &rollout.StoredRecord{Version: "v2", AtOnce: true, Record: results[len(results)-1].Record}
			}
			r, err := w.plan(groups)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		there := results[2]
		removed += len(there.Removed)
		gone := w
		gone.reports = slices.DeleteFunc(slices.Clone(w.reports), func(r status.Report) bool { return slices.Contains(there.Removed, r.Cluster) })
		after, err := gone.plan(groups)
		if err != nil {
			t.Fatal(err)
		}
		if fault := differs(there, after, "", true); fault != "" {
			t.Fatalf("%s go: %s\nbefore %v\nafter %v\n%v", strings.Join(there.Removed, " "), fault, there, after, w)
		}
	})
	t.Logf("%d removed", removed)
}

// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/binary"
	"math/big"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// FuzzLimits: a limit is accepted exactly if R16 says so, and counts what R14 to R16 say, whatever the
// number of clusters.
func FuzzLimits(f *testing.F) {
	for _, s := range []string{"", "%", "0%", "7%", "100%", "101%", "007%", "NaN%", "Inf%", "-5%", "+5%", "1e3%", " 1%", "1 %", "5", "18446744073709551617%", "٣%"} {
		f.Add(s, int32(1), true, uint8(100))
	}
	for _, n := range []int32{0, 1, -1, 1<<31 - 1, -1 << 31} {
		f.Add("", n, false, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, n int32, asText bool, clusters uint8) {
		v := intstr.FromInt32(n)
		if asText {
			v = intstr.FromString(text)
		}
		s := progressive("", config("", "", 0))
		s.Progressive.MaxConcurrency, s.Progressive.MaxFailures = v, v
		_, okFailures := r16(v, 0)
		okConcurrency := r16Concurrency(v)
		if errs := rollout.Validate(s, nil); (len(errs) == 0) != (okFailures && okConcurrency) {
			t.Fatalf("%#v: Validate = %v", v, errs)
		}
		if !okConcurrency { // 0% may still be MaxFailures
			s.Progressive.MaxConcurrency = intstr.IntOrString{}
		}

		fleet := newFleet(t)
		var names []string
		for i := range clusters {
			names = append(names, string([]byte{'c', 'a' + i/16, 'a' + i%16}))
		}
		result, err := rollout.Plan(s, fleet.group("", names...).read(), nil, now, rollout.Options{})
		if (err == nil) != okFailures {
			t.Fatalf("%#v: Plan says %v", v, err)
		}
		if err != nil {
			return
		}
		wantFailures := r46Share(v, int(clusters), int(clusters))
		wantConcurrency := int(clusters)
		if okConcurrency && v != (intstr.IntOrString{}) { // R14: unset means all
			wantConcurrency = r46Share(v, int(clusters), int(clusters))
		}
		if got := result.Schedule.MaxFailures; got != wantFailures {
			t.Errorf("%#v of %d clusters: MaxFailures %d, want %d", v, clusters, got, wantFailures)
		}
		if got := len(result.Start); got != wantConcurrency {
			t.Errorf("%#v of %d clusters: %d start, want %d", v, clusters, got, wantConcurrency)
		}
	})
}

// FuzzDeadline: a deadline is accepted exactly if R17 says so, and clusters time out at it and not a
// nanosecond before.
func FuzzDeadline(f *testing.F) {
	for _, s := range []string{"", "None", "none", "2h", "90m", "360s", "1h30m", "0s", "0", "-0s", "+5m", "1ns", "1500ms", "1.5h", "1s", "-1s", "5|", "5", "s", "h5", "1d", "1e3s", ".5h", "9999999h", "99999999999999999999s", "2562047h47m16.854775807s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, ok := r17(text)
		if n, shaped := documentedDeadline(text); shaped && n.IsInt64() && n.Int64() > 0 && (!ok || int64(*want) != n.Int64()) {
			t.Fatalf("the oracle reads %q, which is %v, as %v", text, n, want)
		}
		s := all(text)
		if errs := rollout.Validate(s, nil); (len(errs) == 0) != ok {
			t.Fatalf("%q: Validate = %v", text, errs)
		}
		reports := []status.Report{{Cluster: "a", Status: status.Progressing, LastTransitionTime: now}}
		groups := newFleet(t).group("", "a").read()
		result, err := rollout.Plan(s, groups, reports, now, rollout.Options{})
		if (err == nil) != ok {
			t.Fatalf("%q: Plan says %v", text, err)
		}
		if err != nil {
			return
		}
		if got := result.Schedule.ProgressDeadline; !same(got, want) {
			t.Fatalf("%q is read as %v", text, got)
		}
		if want == nil || *want == 0 {
			return
		}
		if result.RecheckAfter != *want {
			t.Errorf("%q: recheck after %v", text, result.RecheckAfter)
		}
		for _, c := range []struct {
			after    time.Duration
			timedOut int
		}{{*want - 1, 0}, {*want, 1}} {
			result, err := rollout.Plan(s, groups, reports, now.Add(c.after), rollout.Options{})
			if err != nil || len(result.TimedOut) != c.timedOut {
				t.Errorf("%q: after %v %v, %v", text, c.after, result, err)
			}
		}
	})
}

// documentedDeadline reads what the API documents, digits and one of h, m and s, as nanoseconds.
func documentedDeadline(s string) (*big.Int, bool) {
	if len(s) < 2 {
		return nil, false
	}
	unit, ok := map[byte]time.Duration{'h': time.Hour, 'm': time.Minute, 's': time.Second}[s[len(s)-1]]
	digits := s[:len(s)-1]
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}
	n, _ := new(big.Int).SetString(digits, 10)
	return n.Mul(n, big.NewInt(int64(unit))), true
}

// FuzzPlan: bytes make a fleet, a strategy, reports and options, with and without faults. Plan refuses
// those with a fault and agrees with the oracle on the others.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("the quick brown fox jumps over the lazy dog and does not stop before the end of the fleet is reached"))
	for seed := range byte(32) {
		long := make([]byte, 600)
		for i := range long {
			long[i] = byte(i*i)*seed + byte(i>>3)
		}
		f.Add(long)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pick := bytesPicker(data)
		faults := pick(16) // before the world, which may use up the bytes
		w := pick.world(40)
		pick.fault(&w, faults)
		groups, opts := w.read(t), w.options()
		if w.faulty() {
			if result, err := rollout.Plan(w.strategy, groups, w.reports, w.now, opts); err == nil || result != nil {
				t.Fatalf("no error for\n%v", w)
			}
			return
		}
		var j judge
		if fault := j.fault(w, groups); fault != "" {
			t.Fatalf("%v\n%s", w, fault)
		}
	})
}

// bytesPicker picks by two bytes at a time, and 0 when they are used up.
func bytesPicker(data []byte) picker {
	return func(n int) int {
		if len(data) < 2 {
			return 0
		}
		v := int(binary.LittleEndian.Uint16(data))
		data = data[2:]
		return v % n
	}
}

// fault puts one into w, or something that only looks like one; most worlds keep without.
func (pick picker) fault(w *world, which int) {
	config := &clusterv1alpha1.RolloutConfig{}
	if w.strategy.Type != "" {
		config = configOf(w.strategy)
	}
	limit := from(pick, intstr.FromString("NaN%"), intstr.FromInt32(-3), intstr.FromString("0%"), intstr.FromString("5"), intstr.FromString("000%"))
	switch which {
	case 15:
		w.reports = append(w.reports, status.Report{Cluster: "", Status: status.ToApply})
	case 14:
		config.MaxFailures = limit
	case 13:
		if w.strategy.Progressive != nil {
			w.strategy.Progressive.MaxConcurrency = limit
		}
	case 12:
		config.ProgressDeadline = from(pick, "soon", "-1s", "1d", "None ", "0")
	case 11:
		config.MinSuccessTime.Duration = -1
	case 10:
		w.strategy.Type = from[clusterv1alpha1.RolloutType](pick, "Canary", "all", clusterv1alpha1.ProgressivePerGroup)
	case 9:
		w.perGroup = &limit
	case 8:
		w.maxRemoved = &limit
	case 4:
		w.wait = from(pick, -1, 1, -time.Hour)
	case 6:
		w.ramp = from(pick, -1, 1, -1<<31)
	case 5:
		w.starts = from(pick, &startLimit{0, time.Hour}, &startLimit{1, 0}, &startLimit{-1, -1}, &startLimit{1, 1})
	case 3:
		w.shares = from(pick, &rollout.Shares{Concurrency: -1}, &rollout.Shares{Failures: -1}, &rollout.Shares{})
	case 7:
		w.ordered = from(pick, map[string][]string{"a": {"a"}}, map[string][]string{"a": {"b"}, "b": {"c", "canary"}, "canary": {"a"}}, map[string][]string{"a": {"b", "c"}, "b": {"c"}})
	}
}

// faulty is what R1 and R16 to R18 refuse.
func (w world) faulty() bool {
	ok := !r1Faulty(w.reports)
	config := func(c clusterv1alpha1.RolloutConfig) {
		_, okDeadline := r17(c.ProgressDeadline)
		_, okFailures := r16(c.MaxFailures, 0)
		ok = ok && okDeadline && okFailures && c.MinSuccessTime.Duration >= 0
	}
	switch s := w.strategy; s.Type {
	case "", clusterv1alpha1.All:
		if s.All != nil {
			config(clusterv1alpha1.RolloutConfig{ProgressDeadline: s.All.ProgressDeadline})
		}
	case clusterv1alpha1.Progressive:
		if s.Progressive != nil {
			config(s.Progressive.RolloutConfig)
			ok = ok && r16Concurrency(s.Progressive.MaxConcurrency)
		}
	case clusterv1alpha1.ProgressivePerGroup:
		if s.ProgressivePerGroup != nil {
			config(s.ProgressivePerGroup.RolloutConfig)
		}
	default:
		ok = false
	}
	if w.perGroup != nil {
		ok = ok && r16Concurrency(*w.perGroup)
	}
	if w.maxRemoved != nil {
		_, okRemoved := r16(*w.maxRemoved, 0)
		ok = ok && okRemoved
	}
	ok = ok && !r33Cycle(w.ordered) && w.ramp >= 0 && w.wait >= 0 && (w.starts == nil || w.starts.n > 0 && w.starts.per > 0) // R35, R36
	ok = ok && (w.shares == nil || w.shares.Concurrency >= 0 && w.shares.Failures >= 0)                                      // R57
	return !ok
}

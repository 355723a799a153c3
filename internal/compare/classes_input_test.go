// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

var (
	percentage = regexp.MustCompile(`^[0-9]+%$`)
	deadlines  = regexp.MustCompile(`^([0-9]+[hms])+$`)
	prefixes   = regexp.MustCompile(`^[0-9]+[hms]`) // of the deadlines that the reference reads
)

// inputClasses are the classes of worlds that one side refuses, or that it partly reads as something else.
func inputClasses() []class {
	return []class{
		{"clusters lost", (*view).clustersLost},
		{"nonsense accepted", (*view).nonsense},
		{"percentage off by one", (*view).percentageOffByOne},
		{"counted twice", (*view).countedTwice},
		{"type left out", func(v *view) bool { return v.strategy.Type == "" }},
		{"success in the future", (*view).successInFuture},
		{"time unknown", (*view).timeUnknown},
		{"silent agent", (*view).silentAgent},
		{"earlier version", (*view).earlierVersion},
		{"decisions incomplete", func(v *view) bool { return v.missing > 0 }},
		{"group size unread", (*view).groupSizeUnread},
		{"deselected not counted", func(v *view) bool { return v.left > 0 }},
	}
}

// clustersLost: the indexes of the groups are not 0, 1, 2 and so on, each once (G10). The reference counts
// its groups and looks for that many indexes from 0.
func (v *view) clustersLost() bool {
	seen := make(map[int32]bool)
	for _, g := range v.stored {
		if seen[g.key.Index] || int(g.key.Index) >= len(v.stored) {
			return true
		}
		seen[g.key.Index] = true
	}
	return false
}

// nonsense: a limit or a duration that R16 and R17 refuse and the reference reads.
func (v *view) nonsense() bool {
	return v.config.MinSuccessTime.Duration < 0 || invalid(v.config.MaxFailures) || invalid(v.config.maxConcurrency) ||
		invalidDeadline(v.config.ProgressDeadline) || v.config.maxConcurrency.Type == intstr.String && count(v.config.maxConcurrency, 100) == 0
}

func invalid(limit intstr.IntOrString) bool {
	if limit.Type == intstr.Int {
		return limit.IntVal < 0
	}
	if !percentage.MatchString(limit.StrVal) {
		return true
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(limit.StrVal, "%"))
	return err != nil || percent > 100
}

// invalidDeadline: what the reference reads begins with an amount of hours, minutes or seconds and is a Go duration, such
// as 0s or 1m500ms.
func invalidDeadline(deadline string) bool {
	d, err := time.ParseDuration(deadline)
	return err == nil && prefixes.MatchString(deadline) && (d < time.Second || !deadlines.MatchString(deadline))
}

// percentageOffByOne: the reference computes percentages as floats, and rounds up what is one part in
// 10^16 above a whole number (R16).
func (v *view) percentageOffByOne() bool {
	off := func(limit intstr.IntOrString, total int) bool {
		if limit.Type == intstr.Int || invalid(limit) {
			return false
		}
		percent, _ := strconv.Atoi(strings.TrimSuffix(limit.StrVal, "%"))
		return int(math.Ceil(float64(percent)/100*float64(total))) != count(limit, total)
	}
	for _, s := range v.stages {
		if !s.mandatory && (off(v.config.MaxFailures, s.size) || off(v.config.maxConcurrency, s.size)) {
			return true
		}
	}
	return off(v.config.MaxFailures, v.all.size)
}

// countedTwice: two reports for one cluster, which count as one, or one for none, which is an error (R1).
func (v *view) countedTwice() bool {
	seen := map[string]bool{"": true}
	for _, r := range v.reports {
		if seen[r.Cluster] {
			return true
		}
		seen[r.Cluster] = true
	}
	return false
}

// successInFuture: without a soak time a cluster soaks for the reference until its transition, if the clock
// that set it is ahead of ours. R5 has no soak then.
func (v *view) successInFuture() bool {
	return v.config.MinSuccessTime.Duration == 0 && v.anyReport(func(r status.Report) bool {
		return r.Status == status.Succeeded && r.LastTransitionTime.After(now)
	})
}

// timeUnknown: a deadline or a soak that began at an unknown time. The reference has it begin at each plan, and looks at it
// again when it would end. R4 and R5 have it never end, and warn.
func (v *view) timeUnknown() bool {
	deadline, err := time.ParseDuration(v.config.ProgressDeadline)
	return v.anyReport(func(r status.Report) bool {
		if !since(r).IsZero() {
			return false
		}
		switch r.Status {
		case status.ToApply, status.TimeOut, status.Skip:
			return false
		case status.Succeeded:
			return v.config.MinSuccessTime.Duration > 0
		}
		return err == nil && deadline > 0
	})
}

// silentAgent: the workload was written and the agent has not acknowledged it (R27). The reference has no status for that.
func (v *view) silentAgent() bool {
	return v.anyReport(func(r status.Report) bool { return r.Status == status.ToApply && !r.Applied.IsZero() })
}

// earlierVersion: what was observed last is older than the write of the present version (R27).
func (v *view) earlierVersion() bool {
	return v.anyReport(func(r status.Report) bool {
		return r.Status != status.ToApply && !r.Applied.IsZero() && !r.Applied.Equal(r.LastTransitionTime)
	})
}

// groupSizeUnread: without MaxConcurrency, R14 takes the size of a group that the Placement wants. The reference takes all.
func (v *view) groupSizeUnread() bool {
	return v.strategy.Type == clusterv1alpha1.Progressive && v.config.maxConcurrency == (intstr.IntOrString{}) &&
		v.perGroup > 0 && !v.allMandatory() && v.perGroup < v.stages[len(v.stages)-1].size
}

func (v *view) anyReport(is func(status.Report) bool) bool {
	for _, r := range v.reports {
		if is(r) {
			return true
		}
	}
	return false
}

package compare

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/status"
)

var (
	percentage     = regexp.MustCompile(`^[0-9]+%$`)
	deadlinePrefix = regexp.MustCompile(`^[0-9]+[hms]`)
)

// inputClasses are those of worlds that one side refuses, or of which it reads a part as something else.
func inputClasses() []class {
	return []class{
		{"clusters lost", (*view).clustersLost},
		{"nonsense accepted", (*view).nonsense},
		{"percentage off by one", (*view).percentageOffByOne},
		{"counted twice", (*view).countedTwice},
		{"type left out", func(v *view) bool { return v.strategy.Type == "" }},
		{"deadline refused", (*view).deadlineRefused},
		{"no time for a deadline of 0", (*view).deadlineOfZero},
		{"success in the future", (*view).successInFuture},
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
		v.config.maxConcurrency.Type == intstr.String && count(v.config.maxConcurrency, 100) == 0
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

// countedTwice: two reports for one cluster, or one for none (R1).
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

// deadlineRefused: a Go duration that doesn't begin with digits and one of h, m and s, such as 1.5h (R17).
func (v *view) deadlineRefused() bool {
	deadline := v.config.ProgressDeadline
	d, err := time.ParseDuration(deadline)
	return err == nil && d >= 0 && !deadlinePrefix.MatchString(deadline)
}

// deadlineOfZero: without a time of transition, a deadline of 0 has passed for the reference; R4 says
// never.
func (v *view) deadlineOfZero() bool {
	d, err := time.ParseDuration(v.config.ProgressDeadline)
	return err == nil && d == 0 && v.anyReport(func(r status.Report) bool {
		return r.LastTransitionTime.IsZero() && r.Status != status.ToApply && r.Status != status.Succeeded &&
			r.Status != status.TimeOut && r.Status != status.Skip
	})
}

// successInFuture: without a soak time a cluster soaks for the reference until its transition, if the clock
// that set it is ahead of ours. R5 has no soak then.
func (v *view) successInFuture() bool {
	return v.config.MinSuccessTime.Duration == 0 && v.anyReport(func(r status.Report) bool {
		return r.Status == status.Succeeded && r.LastTransitionTime.After(now)
	})
}

func (v *view) anyReport(is func(status.Report) bool) bool {
	for _, r := range v.reports {
		if is(r) {
			return true
		}
	}
	return false
}

package rollout_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R29, R38: the attempt to want is one after those that breach the budget, whatever attempt others are in.
func TestTryingAgainIsTheAttemptAfterThoseThatBreach(t *testing.T) {
	reports := []status.Report{
		{Cluster: "a", Status: status.TimeOut, Attempt: 5}, {Cluster: "b", Status: status.Succeeded, Attempt: 4}, {Cluster: "c", Status: status.TimeOut, Attempt: 3},
		{Cluster: "d", Status: status.TimeOut, Attempt: 2},
	}
	r, err := rollout.Plan(perGroup(config("", "", 0)), fleetOf(t, "a b d e", "c").read(), reports, now, rollout.FailedBefore(of("a")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Explain("e").String(), "try what failed again (attempt 3)"; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// R29, R43: a breach stops a way back where the caller asks for it. What can be done then is not to go back once more.
func TestABreachOfTheWayBackIsNotEndedByGoingBack(t *testing.T) {
	strategy := progressive("1", config("", "10m", 0))
	abort := rollout.Abort{
		Time:         now.Add(-time.Hour),
		Failed:       []status.Report{{Cluster: "b", Status: status.Succeeded, LastTransitionTime: now.Add(-2 * time.Hour)}},
		Before:       []status.Report{{Cluster: "a", Status: status.Failed, Applied: now.Add(-time.Minute), Attempt: 2}},
		StopAtBreach: true,
	}
	revert := func(opts ...rollout.Option) *rollout.Result {
		r, err := rollout.Revert(strategy, newFleet(t).group("", "a", "b").read(), abort, now, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const want = "stopped: a failed, maxFailures 0; goes on when none is failed; to do: mend a, or try what failed again (attempt 3), or raise maxFailures to 1"
	if got := revert().Explain("b").String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r := revert(rollout.Attempt(3)); r.Breach != nil || len(r.Start) != 1 || r.Start[0].Name != "b" {
		t.Errorf("after the advice %v", r)
	}
}

// R29: the remedies say of how many clusters a report has to tell the time, and how many have to be done. No more is to come from one
// that succeeded.
func TestARemedySaysHowManyItTakes(t *testing.T) {
	running := func(names ...string) (reports []status.Report) {
		for _, name := range names {
			reports = append(reports, status.Report{Cluster: name, Status: status.Progressing, LastTransitionTime: now})
		}
		return reports
	}
	undated := func(s status.RolloutStatus, names ...string) (reports []status.Report) {
		for _, name := range names {
			reports = append(reports, status.Report{Cluster: name, Status: s})
		}
		return reports
	}
	soak := func(strategy clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
		strategy.Progressive.MinSuccessTime = metav1.Duration{Duration: time.Minute}
		return strategy
	}
	one := soak(progressive("5", config("", "10m", 0)))
	two := soak(progressive("2", config("", "", 0)))
	ramp := []rollout.Option{rollout.Ramp(1)}
	for _, c := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		opts     []rollout.Option
		groups   []string
		reports  []status.Report
		want     string
	}{
		{"the only one", progressive("1", config("", "", 0)), nil, []string{"a z"}, running("a"), "wait until a is done, or set a progressDeadline"},
		{"any of two", progressive("2", config("", "", 0)), nil, []string{"a b z"}, running("a", "b"), "wait until 1 of a, b is done, or set a progressDeadline"},
		{"a whole group", perGroup(config("", "", 0)), nil, []string{"a b", "z"}, running("a", "b"), "wait until a, b are done, or set a progressDeadline"},
		{"one that succeeded is done, but for its time", two, nil, []string{"a b z"},
			append(running("a"), undated(status.Succeeded, "b")...), "wait for a report that says when b succeeded, or wait until a is done"},
		{"the others are enough, and the time of one that succeeded is not", two, nil, []string{"a b c z"},
			append(running("a", "b"), undated(status.Succeeded, "c")...), "wait until a, b are done"},
		{"the others are not enough, nor is the time of one that succeeded", soak(progressive("1", config("", "", 0))), nil, []string{"a b z"},
			append(running("a"), undated(status.Succeeded, "b")...), "wait for a report that says when b succeeded"},
		{"each that soaks gives back a slot of the ramp and adds one", one, ramp, []string{"a b c z"},
			undated(status.Succeeded, "a", "b", "c"), "wait for a report that says when 2 of a, b, c succeeded"},
		{"it may be the time of the one that soaks that is reported last", one, ramp, []string{"a b c z"},
			append(undated(status.Progressing, "a", "b"), undated(status.Succeeded, "c")...), "wait for a report that says since when a, b, c are in flight, or wait until a, b are done"},
	} {
		r, err := rollout.Plan(c.strategy, fleetOf(t, c.groups...).read(), c.reports, now, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, link := range r.Explain("z") {
			for _, remedy := range link.Remedies {
				got = append(got, remedy.String())
			}
		}
		if got := strings.Join(got, ", or "); got != c.want {
			t.Errorf("%s: to do is\n%s, want\n%s", c.why, got, c.want)
		}
	}
}

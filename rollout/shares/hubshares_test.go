// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
	"github.com/cohort-ocm/cohort/status"
)

func TestMain(m *testing.M) { exhaustive.Main(m) }

// lasting has times that are long beside those of the tests.
var lasting = shares.Timing{Lease: time.Hour, ClockError: time.Minute, SlowestWrite: 2 * time.Minute, Every: 10 * time.Second}

func in(d time.Duration) metav1.Time { return metav1.NewTime(epoch.Add(d)) }

// holding is the HubShares of a hub that has taken all that it was granted, and has the report that it sent last.
func holding(hub string, start, fail int, use shares.Use) shares.HubShares {
	held := rollout.Shares{Concurrency: start, Failures: fail}
	return shares.HubShares{
		Hub:    hub,
		Grant:  shares.Grant{Number: 1, Shares: held, Expires: in(time.Hour)},
		Report: shares.Report{Number: 1, Grant: 1, Taken: held, Use: use, Time: in(0)},
	}
}

// shown is what a process of the coordinator hub has sent, where all HubShares show it.
func shown(accounts ...shares.HubShares) map[string]shares.Grant {
	sent := map[string]shares.Grant{}
	for _, a := range accounts {
		sent[a.Hub] = a.Grant
	}
	return sent
}

func progressive(maxConcurrency, maxFailures string) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig:  clusterv1alpha1.RolloutConfig{MaxFailures: intstr.Parse(maxFailures), ProgressDeadline: "1h"},
			MaxConcurrency: intstr.Parse(maxConcurrency),
		},
	}
}

// Rules H5, H9 and H15, case by case.
func TestMay(t *testing.T) {
	account := holding("eu", 3, 1, shares.Use{Clusters: 5, Waiting: 5})
	all, none := rollout.Shares{Concurrency: 3, Failures: 1}, rollout.Shares{}
	last := time.Hour - time.Minute - 2*time.Minute - time.Second // before the expiry, less clock error and slowest write
	for _, tt := range []struct {
		name   string
		change func(a *shares.HubShares, sent *shares.Report)
		at     time.Duration
		want   rollout.Shares
	}{
		{"what it has taken", nil, 0, all},
		{"until a start might land too late", nil, last, all},
		{"and not from then on", nil, last + time.Second, none},
		{"a new process has sent nothing yet", func(_ *shares.HubShares, sent *shares.Report) { *sent = shares.Report{} }, 0, none},
		{"the last report does not show", func(_ *shares.HubShares, sent *shares.Report) { sent.Number++ }, 0, none},
		{"a report of another process has the same number", func(_ *shares.HubShares, sent *shares.Report) { sent.Taken.Concurrency-- }, 0, none},
		{"the rollout was stopped", func(a *shares.HubShares, _ *shares.Report) { a.Grant.Stopped = "2 failed" }, 0, none},
		{"some is asked back", func(a *shares.HubShares, _ *shares.Report) { a.Grant.Concurrency = 2 }, 0, rollout.Shares{Concurrency: 2, Failures: 1}},
		{"more was granted and is not taken", func(a *shares.HubShares, _ *shares.Report) { a.Grant.Concurrency = 9 }, 0, all},
		{"a burnt right is asked back", func(a *shares.HubShares, _ *shares.Report) { a.Grant.Failures = 0 }, 0, all},
		{"the account is gone", func(a *shares.HubShares, _ *shares.Report) { *a = shares.HubShares{} }, 0, none},
		{"the zero account", func(a *shares.HubShares, sent *shares.Report) { *a, *sent = shares.HubShares{}, shares.Report{} }, 0, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, sent := account, account.Report
			if tt.change != nil {
				tt.change(&a, &sent)
			}
			if got := a.May(sent, epoch.Add(tt.at), lasting); got != tt.want {
				t.Errorf("may %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Rules H6 and H7: what a hub takes and keeps.
func TestTaken(t *testing.T) {
	for _, tt := range []struct {
		name           string
		granted, taken rollout.Shares
		use            shares.Use
		want           rollout.Shares
	}{
		{"what it is granted and can use", rollout.Shares{Concurrency: 3, Failures: 1}, rollout.Shares{}, shares.Use{Waiting: 9}, rollout.Shares{Concurrency: 3, Failures: 1}},
		{"no more than it can use", rollout.Shares{Concurrency: 3, Failures: 9}, rollout.Shares{}, shares.Use{Waiting: 1, InFlight: 1}, rollout.Shares{Concurrency: 2, Failures: 2}},
		{"nothing at the end", rollout.Shares{Concurrency: 3, Failures: 1}, rollout.Shares{Concurrency: 3, Failures: 1}, shares.Use{}, rollout.Shares{}},
		{"asked back, and free", rollout.Shares{Concurrency: 1}, rollout.Shares{Concurrency: 3}, shares.Use{Waiting: 9, InFlight: 1}, rollout.Shares{Concurrency: 1}},
		{"asked back, and spent", rollout.Shares{Concurrency: 1}, rollout.Shares{Concurrency: 3}, shares.Use{Waiting: 9, InFlight: 3}, rollout.Shares{Concurrency: 3}},
		{"burnt", rollout.Shares{Failures: 0}, rollout.Shares{Concurrency: 1, Failures: 1}, shares.Use{Failed: 1, TimedOut: 1}, rollout.Shares{Failures: 1}},
		{"a failure without a right keeps its right to start", rollout.Shares{Concurrency: 1}, rollout.Shares{Concurrency: 1}, shares.Use{Failed: 1, TimedOut: 1}, rollout.Shares{Concurrency: 1}},
		{"and gives it back when it is granted a right to fail", rollout.Shares{Concurrency: 1, Failures: 1}, rollout.Shares{Concurrency: 1}, shares.Use{Failed: 1, TimedOut: 1}, rollout.Shares{Failures: 1}},
		{"a failure in flight has both", rollout.Shares{Concurrency: 1, Failures: 1}, rollout.Shares{Concurrency: 1, Failures: 1}, shares.Use{InFlight: 1, Failed: 1}, rollout.Shares{Concurrency: 1, Failures: 1}},
		{"beside a timed out cluster another is in flight again", rollout.Shares{Concurrency: 1}, rollout.Shares{Concurrency: 1, Failures: 2}, shares.Use{InFlight: 2, Failed: 1, TimedOut: 1}, rollout.Shares{Concurrency: 2, Failures: 2}},
		{"a timed out cluster is in flight again beside another", rollout.Shares{Concurrency: 1}, rollout.Shares{Concurrency: 1, Failures: 1}, shares.Use{InFlight: 2}, rollout.Shares{Concurrency: 2, Failures: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := shares.HubShares{Hub: "eu", Grant: shares.Grant{Number: 2, Shares: tt.granted, Expires: in(time.Hour)}, Report: shares.Report{Number: 1, Grant: 1, Taken: tt.taken}}
			if got, must := a.Next(a.Report, tt.use, epoch, lasting); !must || got.Taken != tt.want {
				t.Errorf("takes %+v (%v), want %+v", got.Taken, must, tt.want)
			}
		})
	}
}

// Rule H12: what must not wait is reported at once, other news after a time, and nothing else ever.
func TestNextReports(t *testing.T) {
	use := shares.Use{Clusters: 9, Waiting: 6, InFlight: 3}
	account := holding("eu", 3, 0, use)
	account.Report.Since = in(0)
	reports := epoch.Add(lasting.Every)
	for _, tt := range []struct {
		name   string
		change func(a *shares.HubShares, sent *shares.Report, use *shares.Use)
		soon   bool // at once
		later  bool // after Every
		since  time.Time
	}{
		{"nothing", func(*shares.HubShares, *shares.Report, *shares.Use) {}, false, false, time.Time{}},
		{"clusters that come and go", func(_ *shares.HubShares, _ *shares.Report, u *shares.Use) { u.Waiting-- }, false, false, time.Time{}},
		{"a grant", func(a *shares.HubShares, _ *shares.Report, _ *shares.Use) { a.Grant.Number++ }, true, true, epoch},
		{"a new process", func(_ *shares.HubShares, sent *shares.Report, _ *shares.Use) { *sent = shares.Report{} }, true, true, epoch},
		{"shares that are not needed", func(_ *shares.HubShares, _ *shares.Report, u *shares.Use) { u.Waiting, u.InFlight = 0, 2 }, false, true, reports},
		{"shares enough for the clusters that wait", func(_ *shares.HubShares, _ *shares.Report, u *shares.Use) { u.Waiting, u.InFlight = 1, 2 }, false, true, reports},
		{"it wants no more", func(_ *shares.HubShares, _ *shares.Report, u *shares.Use) { u.Waiting = 0 }, false, true, time.Time{}},
		{"nor where one that is used was asked back", func(a *shares.HubShares, _ *shares.Report, u *shares.Use) { a.Grant.Concurrency, u.Waiting = 2, 0 }, false, true, time.Time{}},
		{"a failure", func(_ *shares.HubShares, _ *shares.Report, u *shares.Use) { u.Failed++ }, false, true, epoch},
		{"a cluster joins", func(_ *shares.HubShares, _ *shares.Report, u *shares.Use) { u.Clusters++ }, false, true, epoch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, sent, use := account, account.Report, use
			tt.change(&a, &sent, &use)
			_, soon := a.Next(sent, use, epoch.Add(lasting.Every-time.Second), lasting)
			r, later := a.Next(sent, use, epoch.Add(lasting.Every), lasting)
			if soon != tt.soon || later != tt.later {
				t.Errorf("at once %v, later %v; want %v, %v", soon, later, tt.soon, tt.later)
			}
			if later && (r.Number != 2 || r.Grant != a.Grant.Number || r.Use != use || !r.Time.Equal(&metav1.Time{Time: reports}) || !r.Since.Time.Equal(tt.since)) {
				t.Errorf("reports %+v", r)
			}
		})
	}
}

// Rules H2, H3, H4, H8, H9 and H15, case by case: what each hub is granted, as start/fail, where it gets a grant.
func TestDivide(t *testing.T) {
	waiting := func(n int) shares.Use { return shares.Use{Clusters: n, Waiting: n} }
	silent := func(a shares.HubShares) shares.HubShares {
		a.Grant.Number, a.Grant.Expires = 2, in(-time.Minute)
		return a
	}
	for _, tt := range []struct {
		name     string
		total    rollout.Shares
		accounts []shares.HubShares
		sent     func(map[string]shares.Grant)
		want     map[string]rollout.Shares
	}{
		{
			"in proportion to what is to be done", rollout.Shares{Concurrency: 10}, []shares.HubShares{holding("eu", 0, 0, waiting(30)), holding("us", 0, 0, waiting(10))}, nil,
			map[string]rollout.Shares{"eu": {Concurrency: 8}, "us": {Concurrency: 2}},
		},
		{
			"no more than a hub can use", rollout.Shares{Concurrency: 10}, []shares.HubShares{holding("eu", 0, 0, waiting(3)), holding("us", 0, 0, waiting(2))}, nil,
			map[string]rollout.Shares{"eu": {Concurrency: 3}, "us": {Concurrency: 2}},
		},
		{
			"what is taken is not free, whatever is granted", rollout.Shares{Concurrency: 3}, []shares.HubShares{asked(holding("eu", 3, 0, waiting(9)), 0), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{},
		},
		{
			"what is not used is asked back first", rollout.Shares{Concurrency: 3}, []shares.HubShares{holding("eu", 3, 0, shares.Use{InFlight: 1}), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{"eu": {Concurrency: 1}},
		},
		{
			"a hub with less than half of its share is given to", rollout.Shares{Concurrency: 8}, []shares.HubShares{holding("eu", 8, 0, waiting(20)), holding("us", 0, 0, waiting(20))}, nil,
			map[string]rollout.Shares{"eu": {Concurrency: 4}},
		},
		{
			"one with more is not", rollout.Shares{Concurrency: 8}, []shares.HubShares{holding("eu", 6, 0, waiting(20)), holding("us", 2, 0, waiting(20))}, nil,
			map[string]rollout.Shares{},
		},
		{
			"a new process writes what is there, and grants nothing", rollout.Shares{Concurrency: 8}, []shares.HubShares{holding("eu", 3, 1, waiting(9)), holding("us", 0, 0, waiting(9))},
			func(sent map[string]shares.Grant) { clear(sent) },
			map[string]rollout.Shares{"eu": {Concurrency: 3, Failures: 1}, "us": {}},
		},
		{
			"while one grant does not show, none is raised", rollout.Shares{Concurrency: 8}, []shares.HubShares{holding("eu", 0, 0, waiting(9)), holding("us", 0, 0, waiting(9))},
			func(sent map[string]shares.Grant) {
				sent["us"] = shares.Grant{Number: 2, Shares: rollout.Shares{Concurrency: 5}}
			},
			map[string]rollout.Shares{"us": {Concurrency: 5}},
		},
		{
			"another process wrote with the same number: what is there is written, and nothing granted", rollout.Shares{Concurrency: 8}, []shares.HubShares{holding("eu", 3, 1, waiting(9))},
			func(sent map[string]shares.Grant) {
				sent["eu"] = shares.Grant{Number: sent["eu"].Number, Shares: rollout.Shares{Concurrency: 5}}
			},
			map[string]rollout.Shares{"eu": {Concurrency: 3, Failures: 1}},
		},
		{
			"an account is missing", rollout.Shares{Concurrency: 8}, []shares.HubShares{holding("eu", 0, 0, waiting(9))},
			func(sent map[string]shares.Grant) { sent["us"] = shares.Grant{Number: 2} },
			map[string]rollout.Shares{},
		},
		{
			"a hub that joined is written to first", rollout.Shares{Concurrency: 8}, []shares.HubShares{holding("eu", 0, 0, waiting(9)), {Hub: "us"}},
			func(sent map[string]shares.Grant) { delete(sent, "us") },
			map[string]rollout.Shares{"us": {}},
		},
		{
			"a silent hub keeps what it has taken, and no other gets that", rollout.Shares{Concurrency: 3}, []shares.HubShares{silent(holding("eu", 3, 0, waiting(9))), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{"eu": {}},
		},
		{
			"and others get the rest", rollout.Shares{Concurrency: 5}, []shares.HubShares{asked(silent(holding("eu", 3, 0, waiting(9))), 0), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{"us": {Concurrency: 2}},
		},
		{
			"or all that a person has not seen there", rollout.Shares{Concurrency: 3}, []shares.HubShares{seen(asked(silent(holding("eu", 3, 0, waiting(9))), 0), 1, 0), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{"us": {Concurrency: 2}},
		},
		{
			"unless the person looked too early", rollout.Shares{Concurrency: 3}, []shares.HubShares{seen(asked(silent(holding("eu", 3, 0, waiting(9))), 0), 1, -2*time.Minute), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{},
		},
		{
			"or the hub has reported since", rollout.Shares{Concurrency: 3}, []shares.HubShares{reported(seen(asked(silent(holding("eu", 3, 0, waiting(9))), 0), 1, 0)), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{},
		},
		{
			"a failure that a person has seen has its right to fail", rollout.Shares{Concurrency: 3, Failures: 1},
			[]shares.HubShares{failing(seen(burnt(asked(silent(holding("eu", 3, 1, waiting(9))), 0)), 1, 0)), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{"us": {Concurrency: 2}},
		},
		{
			"a hub that has not read its last grant is asked for nothing", rollout.Shares{Failures: 1},
			[]shares.HubShares{holding("eu", 0, 0, shares.Use{Waiting: 3, Failed: 1, TimedOut: 1}), unread(holding("us", 0, 1, waiting(3)))}, nil,
			map[string]rollout.Shares{},
		},
		{
			"a lowered budget is taken back", rollout.Shares{Failures: 1}, []shares.HubShares{holding("eu", 0, 2, waiting(3)), holding("us", 0, 1, waiting(3))}, nil,
			map[string]rollout.Shares{"eu": {}},
		},
		{
			"a failure gets a right", rollout.Shares{Failures: 2}, []shares.HubShares{holding("eu", 0, 0, shares.Use{Waiting: 3, Failed: 1, TimedOut: 1}), holding("us", 0, 0, waiting(3))}, nil,
			map[string]rollout.Shares{"eu": {Failures: 1}},
		},
		{
			"one that another hub has not burnt", rollout.Shares{Failures: 1}, []shares.HubShares{holding("eu", 0, 0, shares.Use{Waiting: 3, Failed: 1, TimedOut: 1}), holding("us", 0, 1, waiting(3))}, nil,
			map[string]rollout.Shares{"us": {}},
		},
		{
			"a burnt right goes nowhere", rollout.Shares{Failures: 2}, []shares.HubShares{holding("eu", 0, 0, shares.Use{Waiting: 3, Failed: 1, TimedOut: 1}), holding("us", 0, 2, shares.Use{Waiting: 3, Failed: 1, TimedOut: 1})}, nil,
			map[string]rollout.Shares{"us": {Failures: 1}},
		},
		{
			"what is taken beyond the grant is missing from the share of failures", rollout.Shares{Concurrency: 2, Failures: 1}, []shares.HubShares{
				asked(holding("eu", 2, 0, shares.Use{InFlight: 2}), 1), holding("us", 1, 0, shares.Use{Failed: 1, TimedOut: 1, Waiting: 1}),
			}, nil,
			map[string]rollout.Shares{},
		},
		{
			"where fewer are free than failures need, the rest is asked back, and no more", rollout.Shares{Failures: 3},
			[]shares.HubShares{failed("eu", 0, 1), failed("us", 0, 1), holding("ru", 0, 2, waiting(9))}, nil,
			map[string]rollout.Shares{"eu": {Failures: 1}, "ru": {Failures: 1}},
		},
		{
			"the hub with most that are not burnt gives", rollout.Shares{Failures: 5},
			[]shares.HubShares{failed("eu", 3, 2), holding("us", 0, 2, waiting(3)), failed("ru", 0, 1)}, nil,
			map[string]rollout.Shares{"us": {Failures: 1}},
		},
		{
			"also where it is the first", rollout.Shares{Failures: 6},
			[]shares.HubShares{failed("eu", 3, 1), failed("us", 3, 2), failed("ru", 0, 1)}, nil,
			map[string]rollout.Shares{"eu": {Failures: 2}},
		},
		{
			"of a lowered budget what is burnt stays", rollout.Shares{Failures: 2}, []shares.HubShares{failed("eu", 3, 2), holding("us", 0, 1, waiting(3))}, nil,
			map[string]rollout.Shares{"eu": {Failures: 2}, "us": {}},
		},
		{
			"a hub with a failure gets its share of the others", rollout.Shares{Failures: 4}, []shares.HubShares{failed("eu", 0, 1)}, nil,
			map[string]rollout.Shares{"eu": {Failures: 4}},
		},
		{
			"as many too many to fail are missing from those to start", rollout.Shares{Concurrency: 4, Failures: 1}, []shares.HubShares{holding("eu", 0, 3, waiting(0)), holding("us", 0, 0, waiting(9))}, nil,
			map[string]rollout.Shares{"eu": {}, "us": {Concurrency: 2}},
		},
		{
			"the hub that lacks most is given to first", rollout.Shares{Concurrency: 12}, []shares.HubShares{holding("eu", 1, 0, waiting(20)), holding("us", 0, 0, waiting(20)), holding("ru", 9, 0, waiting(20))}, nil,
			map[string]rollout.Shares{"us": {Concurrency: 2}},
		},
		{
			"also where it is the first", rollout.Shares{Concurrency: 12}, []shares.HubShares{holding("eu", 0, 0, waiting(20)), holding("us", 1, 0, waiting(20)), holding("ru", 9, 0, waiting(20))}, nil,
			map[string]rollout.Shares{"eu": {Concurrency: 2}},
		},
		{
			"the hub that lost most by rounding gets what it left", rollout.Shares{Concurrency: 10}, []shares.HubShares{holding("eu", 0, 0, waiting(20)), holding("us", 0, 0, waiting(13))}, nil,
			map[string]rollout.Shares{"eu": {Concurrency: 6}, "us": {Concurrency: 4}},
		},
		{
			"a lowered limit is taken back", rollout.Shares{Concurrency: 4}, []shares.HubShares{holding("eu", 5, 0, waiting(9)), holding("us", 5, 0, waiting(9))}, nil,
			map[string]rollout.Shares{"eu": {Concurrency: 2}, "us": {Concurrency: 2}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := shown(tt.accounts...)
			if tt.sent != nil {
				tt.sent(sent)
			}
			d, err := shares.Divide(tt.total, tt.accounts, sent, epoch, lasting)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]rollout.Shares{}
			for hub, g := range d.Grants {
				got[hub] = g.Shares
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("grants %v, want %v", got, tt.want)
			}
		})
	}
}

// failed is a HubShares with shares of failures, of a hub on which clusters timed out and three wait.
func failed(hub string, held, n int) shares.HubShares {
	return holding(hub, 0, held, shares.Use{Waiting: 3, Failed: n, TimedOut: n})
}

// asked is a HubShares with shares of concurrency that were asked back, up to n.
func asked(a shares.HubShares, n int) shares.HubShares {
	a.Grant.Concurrency = n
	return a
}

func unread(a shares.HubShares) shares.HubShares {
	a.Grant.Number++
	return a
}

func reported(a shares.HubShares) shares.HubShares {
	a.Report.Number++
	return a
}

func failing(a shares.HubShares) shares.HubShares {
	a.Seen.Failed++
	return a
}

// used is a HubShares with shares of failures that were asked back.
func burnt(a shares.HubShares) shares.HubShares {
	a.Grant.Failures = 0
	return a
}

func seen(a shares.HubShares, inFlight int, at time.Duration) shares.HubShares {
	a.Seen = &shares.Seen{Report: a.Report.Number, InFlight: inFlight, Time: in(at)}
	return a
}

// Rule H10.
func TestStop(t *testing.T) {
	failed := shares.Use{Clusters: 9, Waiting: 6, Failed: 2, TimedOut: 2}
	accounts := []shares.HubShares{holding("eu", 2, 1, failed), holding("us", 2, 0, shares.Use{Clusters: 9, Waiting: 9})}
	d, err := shares.Divide(rollout.Shares{Concurrency: 4, Failures: 1}, accounts, shown(accounts...), epoch, lasting)
	if err != nil {
		t.Fatal(err)
	}
	if want := "2 failed over all hubs, and at most 1 may"; d.Stopped != want || d.Grants["eu"].Stopped != want || d.Grants["us"].Stopped != want {
		t.Errorf("got %+v", d)
	}
	for i := range accounts {
		accounts[i].Grant = d.Grants[accounts[i].Hub]
	}
	accounts[0].Report.Failed, accounts[0].Report.TimedOut = 1, 1 // one recovered
	silent := unread(accounts[1])
	silent.Grant.Expires = in(-time.Minute)
	silent = failing(seen(silent, 0, 0))
	if d, err := shares.Divide(rollout.Shares{Concurrency: 4, Failures: 1}, []shares.HubShares{accounts[0], silent}, nil, epoch, lasting); err != nil || d.Stopped != "2 failed over all hubs, and at most 1 may" {
		t.Errorf("with one that a person has seen: %+v, %v", d, err)
	}
	again, err := shares.Divide(rollout.Shares{Concurrency: 4, Failures: 1}, accounts, shown(accounts...), epoch, lasting)
	if err != nil || again.Stopped != "" || again.Grants["us"].Stopped != "" || again.Grants["us"].Number != 3 {
		t.Errorf("got %+v, %v", again, err)
	}
}

// Rule H9: a grant is renewed at half of its lease if the hub has read the last one, and says when to look again.
func TestRenewal(t *testing.T) {
	a := holding("eu", 2, 0, shares.Use{Clusters: 9, Waiting: 7, InFlight: 2})
	divide := func(a shares.HubShares, at time.Duration) shares.Division {
		t.Helper()
		d, err := shares.Divide(rollout.Shares{Concurrency: 2}, []shares.HubShares{a}, shown(a), epoch.Add(at), lasting)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := divide(a, 0); len(d.Grants) != 0 || d.RecheckAfter != 30*time.Minute {
		t.Errorf("at first: %+v", d)
	}
	d := divide(a, 30*time.Minute)
	if g := d.Grants["eu"]; g.Number != 2 || !g.Expires.Time.Equal(epoch.Add(90*time.Minute)) || g.Shares != a.Grant.Shares {
		t.Errorf("after half of the lease: %+v", d)
	}
	a.Grant = d.Grants["eu"] // which the hub does not read
	if d := divide(a, 60*time.Minute); len(d.Grants) != 0 || d.RecheckAfter != 30*time.Minute {
		t.Errorf("while it is silent: %+v", d)
	}
	if d := divide(a, 90*time.Minute); d.Grants["eu"].Shares != (rollout.Shares{}) || !d.Grants["eu"].Expires.Time.Equal(a.Grant.Expires.Time) {
		t.Errorf("when it has expired: %+v", d)
	}
	sooner, later := holding("ap", 0, 0, shares.Use{}), holding("us", 0, 0, shares.Use{})
	sooner.Grant.Expires, later.Grant.Expires = in(50*time.Minute), in(2*time.Hour)
	for _, both := range [][]shares.HubShares{{sooner, later}, {later, sooner}} {
		if d, err := shares.Divide(rollout.Shares{}, both, shown(both...), epoch, lasting); err != nil || d.RecheckAfter != 20*time.Minute {
			t.Errorf("of two hubs the first to be renewed: %+v, %v", d, err)
		}
	}
}

// Rules H2, H8 and H15: a hub that joins gets its share, one that is done gives it back and may go, and the others have it then. At no moment
// may the hubs hold more than there is.
func TestHubsJoinAndLeave(t *testing.T) {
	const all = 12
	accounts, uses, sent := map[string]*shares.HubShares{}, map[string]shares.Use{}, map[string]shares.Grant{}
	join := func(hub string) {
		accounts[hub], uses[hub] = &shares.HubShares{Hub: hub}, shares.Use{Clusters: 20, Waiting: 20}
	}
	reported, now := map[string]shares.Report{}, epoch
	settle := func(want map[string]int) {
		t.Helper()
		for range 8 {
			now = now.Add(lasting.Every)
			var list []shares.HubShares
			for _, a := range accounts {
				list = append(list, *a)
			}
			d, err := shares.Divide(rollout.Shares{Concurrency: all}, list, sent, now, lasting)
			if err != nil {
				t.Fatal(err)
			}
			held := 0
			for hub, a := range accounts {
				if g, ok := d.Grants[hub]; ok {
					sent[hub], a.Grant = g, g
				}
				if r, must := a.Next(reported[hub], uses[hub], now, lasting); must {
					reported[hub], a.Report = r, r
				}
				held += max(a.Grant.Concurrency, a.Report.Taken.Concurrency)
			}
			if held > all {
				t.Fatalf("%d units are held", held)
			}
		}
		for hub, n := range want {
			if may := accounts[hub].May(reported[hub], now, lasting); may.Concurrency != n {
				t.Errorf("%s may start %d, want %d", hub, may.Concurrency, n)
			}
		}
	}
	join("eu")
	join("us")
	settle(map[string]int{"eu": 6, "us": 6})
	join("ap")
	settle(map[string]int{"eu": 4, "us": 4, "ap": 4})
	uses["ap"] = shares.Use{Clusters: 20}
	settle(map[string]int{"ap": 0})
	if a := accounts["ap"]; a.Grant.Shares != (rollout.Shares{}) || a.Report.Taken != (rollout.Shares{}) {
		t.Fatalf("it may not go: %+v", a)
	}
	delete(accounts, "ap")
	settle(nil) // as long as it is known that something was sent to it, nothing is granted
	delete(sent, "ap")
	settle(map[string]int{"eu": 6, "us": 6})
}

// Rule H11.
func TestTotal(t *testing.T) {
	accounts := []shares.HubShares{holding("eu", 0, 0, shares.Use{Clusters: 60}), holding("us", 0, 0, shares.Use{Clusters: 41}), {Hub: "new"}}
	for _, tt := range []struct {
		maxConcurrency, maxFailures string
		want                        rollout.Shares
	}{
		{"10", "2", rollout.Shares{Concurrency: 10, Failures: 2}},
		{"10%", "1%", rollout.Shares{Concurrency: 11, Failures: 2}},
		{"0", "0", rollout.Shares{Concurrency: 101}},
	} {
		if got, err := shares.Total(progressive(tt.maxConcurrency, tt.maxFailures), accounts); err != nil || got != tt.want {
			t.Errorf("%s, %s: %+v, %v; want %+v", tt.maxConcurrency, tt.maxFailures, got, err, tt.want)
		}
	}
	canary := progressive("1", "0")
	canary.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	for path, strategy := range map[string]clusterv1alpha1.RolloutStrategy{
		"type":                                {Type: clusterv1alpha1.All},
		"progressive":                         {Type: clusterv1alpha1.Progressive},
		"progressive.mandatoryDecisionGroups": canary,
		"progressive.maxConcurrency":          progressive("0%", "0"),
		"progressive.maxFailures":             progressive("1", "101%"),
	} {
		_, err := shares.Total(strategy, accounts)
		refuses(t, err, path)
	}
	_, err := shares.Total(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}, accounts)
	refuses(t, err, "type")
}

func refuses(t *testing.T, err error, path string) {
	t.Helper()
	var invalid *field.Error
	if !errors.As(err, &invalid) || invalid.Field != path || !strings.Contains(err.Error(), "must") && invalid.Type != field.ErrorTypeDuplicate {
		t.Errorf("got %v, want an error at %s", err, path)
	}
}

func TestDivideErrors(t *testing.T) {
	eu := holding("eu", 0, 0, shares.Use{})
	short := shares.Timing{Lease: time.Minute, ClockError: 10 * time.Second, SlowestWrite: 20 * time.Second}
	for _, tt := range []struct {
		path     string
		total    rollout.Shares
		accounts []shares.HubShares
		timing   shares.Timing
	}{
		{"total", rollout.Shares{Concurrency: -1}, nil, lasting},
		{"timing", rollout.Shares{}, nil, shares.Timing{}},
		{"timing", rollout.Shares{}, nil, short},
		{"hubs[1].hub", rollout.Shares{}, []shares.HubShares{eu, eu}, lasting},
		{"hubs[0].hub", rollout.Shares{}, []shares.HubShares{{}}, lasting},
	} {
		_, err := shares.Divide(tt.total, tt.accounts, nil, epoch, tt.timing)
		refuses(t, err, tt.path)
	}
	if _, err := shares.Divide(rollout.Shares{}, []shares.HubShares{eu}, nil, epoch, shares.Timing{Lease: 2 * time.Second}); err != nil {
		t.Errorf("clocks without an error and writes that take no time: %v", err)
	}
}

// Rules H5 and H11: a hub's own plan starts as many as it has shares for, and none without one; not ignored clusters either.
func TestHubPlansWithItsShares(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c", "d", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	since := epoch
	flying := []status.Report{{Cluster: "a", Status: status.Progressing, LastTransitionTime: since}, {Cluster: "b", Status: status.TimeOut, LastTransitionTime: since}}
	for _, tt := range []struct {
		may    rollout.Shares
		starts int
		use    shares.Use
	}{
		{rollout.Shares{}, 0, shares.Use{Clusters: 4, Waiting: 2, InFlight: 1, Failed: 1, TimedOut: 1}},
		{rollout.Shares{Failures: 1}, 0, shares.Use{Clusters: 4, Waiting: 2, InFlight: 1, Failed: 1, TimedOut: 1}},
		{rollout.Shares{Concurrency: 2}, 0, shares.Use{Clusters: 4, Waiting: 2, InFlight: 1, Failed: 1, TimedOut: 1}},
		{rollout.Shares{Concurrency: 1, Failures: 1}, 1, shares.Use{Clusters: 4, Waiting: 2, InFlight: 1, Failed: 1, TimedOut: 1}},                     // e alone
		{rollout.Shares{Concurrency: 2, Failures: 1}, 2, shares.Use{Clusters: 4, Waiting: 1, InFlight: 2, Failed: 1, TimedOut: 1}},                     // c and e
		{rollout.Shares{Concurrency: 9, Failures: 9}, 3, shares.Use{Clusters: 4, Waiting: 0, InFlight: 3, Failed: 1, TimedOut: 1}},                     // all
		{rollout.Shares{Concurrency: 9, Failures: 0}, 0, shares.Use{Clusters: 4, Waiting: 2, InFlight: 1, Failed: 1, TimedOut: 1}},                     // a failure without a right
		{rollout.Shares{Concurrency: math.MaxInt, Failures: math.MaxInt}, 3, shares.Use{Clusters: 4, Waiting: 0, InFlight: 3, Failed: 1, TimedOut: 1}}, // more than the API's numbers hold
	} {
		result, err := rollout.Plan(shares.Local(progressive("1%", "1%")), groups, flying, epoch, rollout.Options{Ignored: []string{"e"}, Shares: &tt.may})
		if err != nil {
			t.Fatal(err)
		}
		if use := shares.UseOf(result); len(result.Start) != tt.starts || use != tt.use {
			t.Errorf("%+v: starts %v with %+v, want %d with %+v", tt.may, result.Start, use, tt.starts, tt.use)
		}
	}
}

// Rule H11: what is of the clusters of all hubs limits nothing on one, but for its shares. Counts hold there, too.
func TestLocal(t *testing.T) {
	for _, tt := range []struct{ maxConcurrency, maxFailures, wantConcurrency, wantFailures string }{
		{"10%", "1%", "100%", "100%"},
		{"0", "0", "100%", "0"},
		{"5", "2", "5", "2"},
		{"5", "0%", "5", "100%"},
	} {
		given := progressive(tt.maxConcurrency, tt.maxFailures)
		before := *given.DeepCopy()
		if got, want := shares.Local(given), progressive(tt.wantConcurrency, tt.wantFailures); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(given, before) {
			t.Errorf("%s, %s: got %+v", tt.maxConcurrency, tt.maxFailures, got.Progressive)
		}
	}
	perGroup := clusterv1alpha1.RolloutStrategy{
		Type:                clusterv1alpha1.ProgressivePerGroup,
		Progressive:         &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromString("1%")},
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("1%")}},
	}
	for _, same := range []clusterv1alpha1.RolloutStrategy{{}, {Type: clusterv1alpha1.Progressive}, perGroup} {
		if got := shares.Local(same); !reflect.DeepEqual(got, same) {
			t.Errorf("got %+v, want %+v", got, same)
		}
	}
}

// Rule H13.
func TestExplain(t *testing.T) {
	us := holding("hub-us", 0, 0, shares.Use{Clusters: 9, Waiting: 9})
	us.Report.Since = in(16 * time.Minute)
	eu := holding("hub-eu", 3, 1, shares.Use{Clusters: 9})
	eu.Report.Since = in(15 * time.Minute)
	busy := holding("hub-eu", 3, 2, shares.Use{Clusters: 9, InFlight: 1, Failed: 1, TimedOut: 1})
	busy.Report.Since = eu.Report.Since
	with := func(hub string) shares.HubShares {
		a := holding(hub, 1, 0, shares.Use{Clusters: 1})
		a.Report.Since = eu.Report.Since
		return a
	}
	silent := holding("hub-ap", 2, 0, shares.Use{Clusters: 9, Waiting: 7, InFlight: 2})
	silent.Grant.Number, silent.Grant.Expires = 2, in(10*time.Minute)
	nothing := unread(holding("hub-af", 0, 0, shares.Use{}))
	nothing.Grant.Expires = in(10 * time.Minute)
	failed := holding("hub-us", 2, 0, shares.Use{Clusters: 9, Waiting: 7, Failed: 2, TimedOut: 2})
	stopped, expired := us, us
	stopped.Grant.Stopped = "2 failed over all hubs, and at most 1 may"
	expired.Grant.Expires = in(20 * time.Minute)
	expired.Grant.Shares = rollout.Shares{Concurrency: 1}
	none, lapsed := us, us // nothing was ever granted, or nothing is any more: nothing expired either
	none.Grant.Expires, lapsed.Grant.Expires = metav1.Time{}, in(20*time.Minute)
	for _, tt := range []struct {
		accounts []shares.HubShares
		want     string
	}{
		{[]shares.HubShares{us, eu}, "blocked: this hub's share of concurrency is 0; hub-eu has 3 unused since 2026-01-02T10:15:00Z; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{us, eu, nothing, silent}, "blocked: this hub's share of concurrency is 0; hub-ap has 2 and is silent since 2026-01-02T10:00:00Z; hub-eu has 3 unused since 2026-01-02T10:15:00Z; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{us}, "blocked: this hub's share of concurrency is 0; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{failed, eu}, "blocked: 2 failed, and this hub's share of failures is 0; hub-eu has 1 unused since 2026-01-02T10:15:00Z"},
		{[]shares.HubShares{us, busy}, "blocked: this hub's share of concurrency is 0; hub-eu has 2 unused since 2026-01-02T10:15:00Z; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{failed, busy}, "blocked: 2 failed, and this hub's share of failures is 0; hub-eu has 1 unused since 2026-01-02T10:15:00Z"},
		{[]shares.HubShares{us, with("a"), with("b"), with("c"), with("d")}, "blocked: this hub's share of concurrency is 0; a has 1 unused since 2026-01-02T10:15:00Z; b has 1 unused since 2026-01-02T10:15:00Z; c has 1 unused since 2026-01-02T10:15:00Z; 1 more hub has some; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{us, with("a"), with("b"), with("c"), with("d"), with("e")}, "blocked: this hub's share of concurrency is 0; a has 1 unused since 2026-01-02T10:15:00Z; b has 1 unused since 2026-01-02T10:15:00Z; c has 1 unused since 2026-01-02T10:15:00Z; 2 more hubs have some; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{stopped, eu}, "blocked: 2 failed over all hubs, and at most 1 may"},
		{[]shares.HubShares{expired, eu}, "blocked: the shares of this hub expired at 2026-01-02T10:20:00Z"},
		{[]shares.HubShares{none}, "blocked: this hub's share of concurrency is 0; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{lapsed}, "blocked: this hub's share of concurrency is 0; asked at 2026-01-02T10:16:00Z"},
		{[]shares.HubShares{holding("hub-us", 9, 0, shares.Use{Waiting: 9})}, ""},
		{[]shares.HubShares{holding("hub-us", 0, 0, shares.Use{})}, ""},
		{nil, ""},
	} {
		if got := shares.Explain("hub-us", tt.accounts, epoch.Add(30*time.Minute)); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// An HubShares is the same after it was stored.
func TestHubSharesAreStored(t *testing.T) {
	a := holding("eu", 2, 1, shares.Use{Clusters: 9, Waiting: 5, InFlight: 2, Failed: 1, TimedOut: 1})
	d, err := shares.Divide(rollout.Shares{Concurrency: 4, Failures: 1}, []shares.HubShares{a}, shown(a), epoch.Add(time.Nanosecond), lasting)
	if err != nil {
		t.Fatal(err)
	}
	a.Grant = d.Grants["eu"]
	a.Report, _ = a.Next(a.Report, a.Report.Use, epoch.Add(time.Minute+time.Nanosecond), lasting)
	a = seen(a, 1, time.Hour)
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var stored shares.HubShares
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	if may := stored.May(a.Report, epoch, lasting); may.Concurrency != 4 {
		t.Errorf("may %+v by %s", may, text)
	}
	if d, err := shares.Divide(rollout.Shares{Concurrency: 4, Failures: 1}, []shares.HubShares{stored}, shown(a), epoch, lasting); err != nil || len(d.Grants) > 0 {
		t.Errorf("%+v, %v by %s", d, err, text)
	}
}

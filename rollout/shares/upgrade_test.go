// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
)

// What processes of commit 9677fd3d, before the words changed, wrote with their own code for two hubs: eu has 2 clusters in flight, of
// which 1 failed, and us has not read its grant. An operator saw a failed cluster on us.
const (
	euOfEarlierProcess = `{"hub":"eu","grant":{"number":3,"start":2,"fail":1,"expires":"2026-11-28T10:11:30Z"},"report":{"number":4,"grant":2,"taken":{"start":2,"fail":0},"clusters":5,"waiting":3,"inFlight":2,"failed":1,"timedOut":0,"since":"2026-11-28T10:00:00Z","time":"2026-11-28T10:01:30Z"}}`
	usOfEarlierProcess = `{"hub":"us","grant":{"number":2,"start":2,"fail":0,"expires":"2026-11-28T10:10:30Z"},"seen":{"report":1,"inFlight":1,"failed":1,"time":"2026-11-28T10:02:00Z"}}`
)

// hubOfEarlierProcess is what a process of that commit reads of a hub, with the JSON that it knew. It has no type of this library.
type hubOfEarlierProcess struct {
	Hub   string `json:"hub"`
	Grant struct {
		Number  int64     `json:"number"`
		Start   int       `json:"start"`
		Fail    int       `json:"fail"`
		Expires time.Time `json:"expires,omitzero"`
	} `json:"grant,omitzero"`
	Report struct {
		Number int64 `json:"number"`
		Grant  int64 `json:"grant"`
		Taken  struct {
			Start int `json:"start"`
			Fail  int `json:"fail"`
		} `json:"taken"`
		Clusters int `json:"clusters"`
		Waiting  int `json:"waiting"`
		InFlight int `json:"inFlight"`
		Failed   int `json:"failed"`
		TimedOut int `json:"timedOut"`
	} `json:"report,omitzero"`
	Seen *struct {
		Report   int64 `json:"report"`
		InFlight int   `json:"inFlight"`
		Failed   int   `json:"failed"`
	} `json:"seen,omitempty"`
}

// H2: hubs and coordinator hub are upgraded at different times, and one may be rolled back. What each has taken, granted and seen keeps
// its meaning in both directions.
func TestSharesOutlastAnUpgradeAndARollback(t *testing.T) {
	timing := shares.Timing{Lease: 10 * time.Minute, ClockError: 5 * time.Second, SlowestWrite: 30 * time.Second, Every: 10 * time.Second}
	now := time.Date(2026, 11, 28, 10, 2, 0, 0, time.UTC)
	var eu, us shares.HubShares
	for text, hub := range map[string]*shares.HubShares{euOfEarlierProcess: &eu, usOfEarlierProcess: &us} {
		if err := json.Unmarshal([]byte(text), hub); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(hub); err != nil || string(again) != text {
			t.Errorf("written again: %s, %v; the earlier process wrote %s", again, err, text)
		}
	}
	if may := eu.May(eu.Report, now, timing); may != (rollout.Shares{Concurrency: 2}) { // it has not taken the failure
		t.Errorf("after the upgrade, hub eu may use %+v", may)
	}

	// The coordinator hub and hub eu have this version. Both hold the limits of 4 clusters in flight and 1 failure.
	division, err := shares.Divide(rollout.Shares{Concurrency: 4, Failures: 1}, []shares.HubShares{eu, us}, nil, now, timing)
	if err != nil {
		t.Fatal(err)
	}
	if grant, again := division.Grants["us"]; again {
		us.Grant = grant
	}
	if grant, again := division.Grants["eu"]; again {
		eu.Grant = grant
	}
	if eu.Grant.Concurrency+us.Grant.Concurrency > 4 || eu.Grant.Failures+us.Grant.Failures > 1 {
		t.Errorf("the limits of 4 and 1 are exceeded: %+v, %+v", eu.Grant, us.Grant)
	}
	next, changed := eu.Next(eu.Report, shares.Use{Clusters: 5, Waiting: 2, InFlight: 2, Failed: 1, TimedOut: 1}, now, timing)
	if eu.Report = next; !changed || next.Taken != (rollout.Shares{Concurrency: 2, Failures: 1}) {
		t.Fatalf("the hub reports %+v", next)
	}

	for _, hub := range []shares.HubShares{eu, us} {
		text, err := json.Marshal(hub)
		if err != nil {
			t.Fatal(err)
		}
		var read, want hubOfEarlierProcess
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		want.Hub = hub.Hub
		want.Grant.Number, want.Grant.Start, want.Grant.Fail, want.Grant.Expires = hub.Grant.Number, hub.Grant.Concurrency, hub.Grant.Failures, hub.Grant.Expires.Time
		want.Report.Number, want.Report.Grant = hub.Report.Number, hub.Report.Grant
		want.Report.Taken.Start, want.Report.Taken.Fail = hub.Report.Taken.Concurrency, hub.Report.Taken.Failures
		want.Report.Clusters, want.Report.Waiting, want.Report.InFlight = hub.Report.Clusters, hub.Report.Waiting, hub.Report.InFlight
		want.Report.Failed, want.Report.TimedOut = hub.Report.Failed, hub.Report.TimedOut
		want.Seen = read.Seen
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("what the earlier process reads of hub %s (-want +got)\n%s", hub.Hub, diff)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package chance_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]chance.Range{"10m": chance.Exactly(10 * time.Minute), "5m-20m": {Least: 5 * time.Minute, Most: 20 * time.Minute}} {
		if got, err := chance.ParseRange(in); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "10", "-5m", "20m-5m", "5m-", "5m-10m-20m"} {
		if got, err := chance.ParseRange(in); err == nil {
			t.Errorf("%q is %v", in, got)
		}
	}
	for in, want := range map[string]string{"0.3%": "0.3%", "0.003": "0.3%", "0": "0%", "100%": "100%", "1": "100%", "0.05%": "0.05%"} {
		if got, err := chance.ParseRate(in); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "%", "101%", "2", "-1%", "NaN", "x"} {
		if got, err := chance.ParseRate(in); err == nil {
			t.Errorf("%q is %v", in, got)
		}
	}
}

// Both are strings in a document; a rate may be a number as well.
func TestDocumentsHaveThemAsFlagsDo(t *testing.T) {
	var got struct {
		After  chance.Range
		Rate   chance.Rate
		Number chance.Rate
	}
	if err := json.Unmarshal([]byte(`{"After": "5m-20m", "Rate": "0.3%", "Number": 0.25}`), &got); err != nil || got.After.String() != "5m-20m" || got.Rate != 0.003 || got.Number != 0.25 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, in := range []string{`{"After": 5}`, `{"After": "soon"}`, `{"Rate": "often"}`, `{"Rate": 2}`, `{"Rate": {}}`} {
		if err := json.Unmarshal([]byte(in), &got); err == nil {
			t.Errorf("%s is %+v", in, got)
		}
	}
}

func TestDrawGivesWholeSecondsOfTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "least"))
		r := chance.Range{Least: least, Most: least + time.Duration(rapid.Int64Range(0, 1e11).Draw(t, "more"))}
		got := r.Draw(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		if got < r.Least || got > r.Most || (got-r.Least)%time.Second != 0 {
			t.Fatalf("%v of %v", got, r)
		}
	})
	both := make(map[time.Duration]bool)
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		both[chance.Range{Least: time.Minute, Most: time.Minute + time.Second}.Draw(random)] = true
	}
	if len(both) != 2 {
		t.Errorf("%v of 100, want both ends", both)
	}
}

// SPDX-License-Identifier: Apache-2.0

package short_test

import (
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

func TestShortLeavesOutWhatIsNothing(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 90 * time.Second: "1m30s", 48 * time.Minute: "48m", time.Hour: "1h",
		time.Hour + time.Second: "1h1s", 36 * time.Hour: "36h", -time.Minute: "-1m", 5 * time.Millisecond: "5ms",
	} {
		if got := short.Duration(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}

func TestTextShowsThatThereIsMore(t *testing.T) {
	for _, test := range []struct{ in, want string }{{"short", "short"}, {"exactly 10", "exactly 10"}, {"more than, ten", "more than…"}, {"äöüäöüäöüä", "äöüäöüäöüä"}} {
		if got := short.Text(test.in, 10); got != test.want {
			t.Errorf("%q: got %q, want %q", test.in, got, test.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package chance

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// Range is a time between two, both included.
type Range struct{ Least, Most time.Duration }

// Exactly is the range of one time.
func Exactly(d time.Duration) Range { return Range{d, d} }

// ParseRange reads 10m or 5m-20m.
func ParseRange(s string) (r Range, err error) {
	least, most, found := strings.Cut(s, "-")
	if !found {
		most = least
	}
	for _, end := range []struct {
		text string
		d    *time.Duration
	}{{least, &r.Least}, {most, &r.Most}} {
		if *end.d, err = time.ParseDuration(end.text); err != nil || *end.d < 0 {
			return Range{}, errors.New("must be a time such as 30s or 30m, or a range of times such as 5m-20m")
		}
	}
	if r.Least > r.Most {
		return Range{}, fmt.Errorf("must not begin with more than it ends with, as %s does", s)
	}
	return r, nil
}

// String is like "10m" or "5m-20m".
func (r Range) String() string {
	if r.Most == r.Least {
		return short.Duration(r.Least)
	}
	return short.Duration(r.Least) + "-" + short.Duration(r.Most)
}

// UnmarshalJSON reads what ParseRange does.
func (r *Range) UnmarshalJSON(data []byte) error {
	var s string
	err := json.Unmarshal(data, &s)
	if err == nil {
		*r, err = ParseRange(s)
	} else {
		_, err = ParseRange("")
	}
	return err
}

// Draw gives one of the times, a whole number of seconds after the least, all of them being equally likely.
func (r Range) Draw(random *rand.Rand) time.Duration {
	return r.Least + time.Duration(random.Int64N(int64((r.Most-r.Least)/time.Second)+1))*time.Second
}

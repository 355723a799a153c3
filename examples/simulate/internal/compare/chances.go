package compare

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/picture"
	"github.com/cohort-ocm/cohort/status"
)

// Chances say what may become of a cluster that got the workload.
type Chances struct {
	// Takes is how long it takes to succeed, or to fail, all times in it being equally likely.
	Takes Range
	// Fails and Never are the chances that it fails, and that it never answers. Together they are at most 1.
	Fails, Never Rate
}

// Range is a time between two, both included.
type Range struct{ Least, Most time.Duration }

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
			return r, errors.New("must be a time such as 10m, or a range of times such as 5m-20m")
		}
	}
	if r.Least > r.Most {
		return r, fmt.Errorf("must not begin with more than it ends with, as %s does", s)
	}
	return r, nil
}

// String is like "10m" or "5m-20m".
func (r Range) String() string {
	if r.Most == r.Least {
		return picture.Short(r.Least)
	}
	return picture.Short(r.Least) + "-" + picture.Short(r.Most)
}

// Rate is a chance from 0 to 1.
type Rate float64

// ParseRate reads 0.3% or 0.003.
func ParseRate(s string) (Rate, error) {
	number, percent := strings.CutSuffix(s, "%")
	rate, err := strconv.ParseFloat(number, 64)
	if percent {
		rate /= 100
	}
	if err != nil || !(rate >= 0 && rate <= 1) {
		return 0, errors.New("must be a chance such as 0.3% or 0.003")
	}
	return Rate(rate), nil
}

// String is like "0.3%".
func (r Rate) String() string { return strconv.FormatFloat(float64(r)*100, 'g', 4, 64) + "%" }

// fate is what becomes of a cluster in a run. Without a status it never answers.
type fate struct {
	after  time.Duration
	status status.RolloutStatus
}

// fate draws. Whatever the chances are, the same place draws the same numbers.
func (c Chances) fate(seed uint64, run, position int) fate {
	random := rand.New(rand.NewPCG(seed, uint64(run)<<32|uint64(position)))
	luck := Rate(random.Float64())
	after := c.Takes.Least + time.Duration(random.Float64()*float64(c.Takes.Most-c.Takes.Least+1))
	switch {
	case luck < c.Fails:
		return fate{after, status.Failed}
	case luck < c.Fails+c.Never:
		return fate{}
	default:
		return fate{after, status.Succeeded}
	}
}

// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math/rand/v2"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/status"
)

// Chances say what may become of a cluster that got the workload.
type Chances struct {
	// Takes is how long it takes to succeed, or to fail, all times in it being equally likely.
	Takes chance.Range
	// Fails and Never are the chances that it fails, and that it never answers. Together they are at most 1.
	Fails, Never chance.Rate
	// Validates is how long after its success a cluster gets a verdict; nil where clusters are not validated. NotGood is the
	// chance of one that succeeds that he says no.
	Validates *chance.Range
	NotGood   chance.Rate
}

// fate is what becomes of a cluster in a run. Without a status it never answers. One that is validated has succeeded that long before.
type fate struct {
	after     time.Duration
	validated time.Duration
	status    status.RolloutStatus
}

// fate draws. Whatever the chances are, the same place draws the same numbers.
func (c Chances) fate(seed uint64, run, position int) fate {
	random := rand.New(rand.NewPCG(seed, uint64(run)<<32|uint64(position)))
	luck := chance.Rate(random.Float64())
	after := c.Takes.Draw(random)
	switch {
	case luck < c.Fails:
		return fate{after: after, status: status.Failed}
	case luck < c.Fails+c.Never:
		return fate{}
	case c.Validates == nil:
		return fate{after: after, status: status.Succeeded}
	}
	validated := c.Validates.Draw(random)
	if chance.Rate(random.Float64()) < c.NotGood {
		return fate{after + validated, validated, status.Failed}
	}
	return fate{after + validated, validated, status.Succeeded}
}

// SPDX-License-Identifier: Apache-2.0

package rollout

import "k8s.io/apimachinery/pkg/util/validation/field"

// Shares are a hub's parts of limits that several hubs have in common. Package rollout/shares divides the limits.
//
// They hold under all types, over all groups together, in mandatory groups too, and in addition to all other limits. With a
// share of concurrency of 0 nothing starts. Each cluster in flight uses one of Concurrency, also one that failed with
// FailedFreesSlot. Each failed cluster uses one of Failures, also one in FailedBefore. Deselected clusters that count use
// theirs as if they were selected. Clusters in Ignored use none; they start only while others could.
//
// Too many failures are no breach, since another hub may have an unused share: nothing starts until the share is large
// enough. Larger shares never start fewer clusters. If several groups may start, those earlier in [Schedule].Stages start
// first.
type Shares struct {
	// Concurrency is how many clusters may be in flight at a time. It must not be negative.
	Concurrency int `json:"start"`
	// Failures is how many clusters may have failed, in flight or not, for another one to start. It must not be negative.
	Failures int `json:"fail"`
}

// check returns the faults of the shares.
func (shares *Shares) check(path *field.Path) (errs field.ErrorList) {
	if shares.Concurrency < 0 {
		errs = append(errs, field.Invalid(path.Child("start"), shares.Concurrency, "must not be negative"))
	}
	if shares.Failures < 0 {
		errs = append(errs, field.Invalid(path.Child("fail"), shares.Failures, "must not be negative"))
	}
	return errs
}

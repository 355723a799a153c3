// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"errors"
	"fmt"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Outcome says what an [Applier] has done, for events and metrics, and what is stored after that.
type Outcome struct {
	// Writes are the writes that have changed something or may have, in the order of the update. A write that was
	// refused at its first request isn't among them.
	Writes []Written

	// Retried is the number of requests that were repeated after a conflict.
	Retried int

	// Stored holds each object that was created or updated, completely or in part, as the API server returned
	// it last, sorted by name. It also has those that were deleted after that.
	Stored []*clusterv1beta1.PlacementDecision
}

// Written is a [Write] with its result.
type Written struct {
	Write

	// Done are the parts that the API server says are written, the first of Write.Parts.
	Done []Part

	// Complete is true if the whole write is done.
	Complete bool

	// Unknown is true if no answer says whether the last request was carried out: the connection broke, the request
	// timed out, or the server had an error of its own. It may also be carried out later. That request is the delete,
	// or the write of the part after Done.
	Unknown bool
}

// Unknown reports whether a request got no answer.
func (outcome Outcome) Unknown() bool {
	for _, written := range outcome.Writes {
		if written.Unknown {
			return true
		}
	}
	return false
}

// ownWrites is a *writes.Own of package rollout/writes.
type ownWrites interface {
	Wrote(object *clusterv1beta1.PlacementDecision, err error, now time.Time) error
	Deleted(object *clusterv1beta1.PlacementDecision, err error, now time.Time) error
}

// Note hands everything that was written, or may have been, to an own: a *writes.Own of package rollout/writes, which lays it over a cache that
// lags. Call it after each Apply, also beside an error. The next list is then that of own.Current, or the cache's once own.Unseen is 0:
// either is new enough for [Diff].
func (outcome Outcome) Note(own ownWrites, now time.Time) {
	// What is gone again comes first, too, such as an object of the surge: the cache may show it later.
	for _, pd := range outcome.Stored {
		_ = own.Wrote(pd, nil, now)
	}
	for _, written := range outcome.Writes {
		switch {
		case written.Unknown && written.To != nil:
			_ = own.Wrote(written.To, errNoAnswer, now)
		case written.Unknown:
			_ = own.Deleted(written.From, errNoAnswer, now)
		case written.Verb == VerbDelete && written.Complete:
			_ = own.Deleted(written.From, nil, now)
		}
	}
}

// errNoAnswer stands for whatever kept an answer from coming.
var errNoAnswer = errors.New("no answer")

// String returns the number of complete writes of each kind, as in "PlacementDecisions: 1 created, 3 updated, 1 deleted;
// 0 writes retried". The numbers of writes that were only begun, and that got no answer, follow if there are any.
func (outcome Outcome) String() string {
	var created, surged, updated, deleted, begun, unknown int
	for _, written := range outcome.Writes {
		switch {
		case written.Unknown:
			unknown++
		case !written.Complete:
			begun++
		case written.Verb == VerbCreate:
			created++
		case written.Verb == VerbDelete:
			deleted++
		case written.Surge:
			surged++
		default:
			updated++
		}
	}
	text := fmt.Sprintf("PlacementDecisions: %d created, %d updated, %d deleted; %d writes retried", created, updated, deleted, outcome.Retried)
	if surged > 0 {
		text += fmt.Sprintf("; before these, %s only added clusters, so that no cluster was missing at any time", moreUpdates(surged))
	}
	if begun > 0 {
		text += fmt.Sprintf("; %d begun and not completed", begun)
	}
	if unknown > 0 {
		text += fmt.Sprintf("; %d with unknown outcome", unknown)
	}
	return text
}

func moreUpdates(n int) string {
	if n == 1 {
		return "1 more update"
	}
	return fmt.Sprintf("%d more updates", n)
}

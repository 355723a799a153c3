package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Attempt tries again, without a new version, what failed in an attempt before the n-th: such a cluster waits for its
// turn as one that is reported ToApply, and is no failure any more. That is a cluster that is Failed or TimeOut, or whose
// progress deadline passes, with a [status.Report] whose Attempt is less than n. All others stay as they are.
//
// Clusters of [FailedBefore] and [Uncounted] are tried again too, and so are those that timed out in groups that were
// complete. Such a group is incomplete again, and holds what comes after it, unless only Uncounted ones are tried again.
//
// The first attempt is 0, and n must not be negative. A person raises it, for instance in an annotation of the owner.
// When a cluster starts, the controller notes n with the write: [status.StampAttempt]. A cluster that fails in that
// attempt is a failure as ever.
//
// A controller may also raise n by itself, where a result has a [Breach]. The number goes on from version to version, and so
// does not tell whether the present one was tried again. The controller stores that with it, in one write: the version
// that it raised it for.
func Attempt(n int) Option {
	var err *field.Error
	if n < 0 {
		err = field.Invalid(field.NewPath("attempt"), n, "must not be negative")
	}
	return func(o *options) { o.attempt, o.attemptErr = n, err }
}

// state gives the state at the time now of a cluster that was reported to be of a kind since a time, in an attempt (R3 to
// R5, R39).
func (s *schedule) state(kind state, since time.Time, attempt int, now time.Time) state {
	is := s.rules.at(kind, since, now)
	if max(attempt, 0) < s.options.attempt && failureStates.has(is) {
		return toApply
	}
	return is
}

// attempts says which attempt at the version each position is in.
type attempts = sparse[int]

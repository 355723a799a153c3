package rollout

import "k8s.io/apimachinery/pkg/util/validation/field"

// Attempt tries clusters again, without a new version, that failed in an attempt before n. Such a cluster is Failed or
// TimeOut, or its progress deadline passes, and the Attempt of its [status.Report] is less than n. It waits for its turn
// like a cluster that is reported ToApply, and is not a failure any more. All other clusters stay as they are.
//
// Clusters of [FailedBefore] and [Uncounted] are tried again, too, and so are clusters that timed out in a complete
// group. Such a group is incomplete again and holds what comes after it, unless only Uncounted clusters are tried again.
//
// The first attempt is 0; a negative n is an error. A person raises n, for instance in an annotation of the owner. When
// a cluster starts, the controller notes n with the write ([status.StampAttempt]). A cluster that fails in attempt n is
// a failure as always.
//
// A controller may also raise n by itself, where a result has a [Breach]. The number goes on from version to version, so it
// does not tell whether the present version was tried again. So the controller stores with n, in one write, the version that
// it raised n for.
func Attempt(n int) Option {
	var err *field.Error
	if n < 0 {
		err = field.Invalid(field.NewPath("attempt"), n, "must not be negative")
	}
	return func(o *options) { o.attempt, o.attemptErr = n, err }
}

// attempts gives the attempt at the version that each position is in.
type attempts = sparse[int]

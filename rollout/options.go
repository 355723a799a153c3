// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/limit"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
)

// Options add to what the API's RolloutStrategy can say. Each field stands for itself, and its zero value adds nothing.
//
// Options can stand in an object or a file: all fields but Order and Previous have JSON, and whatever is valid is decoded as it
// was encoded. [Options.Validate] checks them for a webhook. No function changes what options refer to. A [Planner] copies what
// it keeps, except for Order and Previous.
type Options struct {
	// Paused starts nothing; all else is as before.
	Paused bool `json:"paused,omitempty"`
	// Gates are the closed gates.
	Gates []ClosedGate `json:"gates,omitempty"`
	// Freezes are users' requests not to start single clusters.
	Freezes []ClusterFreeze `json:"freezes,omitempty"`
	// Allowlist has the clusters that may start with this version, in any order. Any other cluster, such as one that joined
	// later, does not start, and other clusters do not wait for it, as with a [ClusterFreeze] that does not block. Nil allows
	// every cluster; an empty list allows none. A cluster that has the version goes on in any case. Leave it nil to let joining
	// clusters follow.
	Allowlist []string `json:"allowlist,omitzero"`
	// GroupOrder says which groups come after which under ProgressivePerGroup; its page tells more. Where it is nil, groups go in
	// the order of their index. Where it is empty, all groups behind the mandatory ones start at once.
	GroupOrder GroupOrder `json:"groupOrder,omitzero"`
	// Order sets the order in which waiting clusters start. It compares two names, and is negative where a comes first; where
	// it is 0, the names decide. Clusters that are reported ToApply still come before those never reported. A [Planner] calls
	// it when its groups or strategy change. The answer must depend on the names alone, and Order must not call the Planner.
	// [Shuffled] makes one from a seed.
	Order func(a, b string) int `json:"-"`

	// MaxConcurrencyPerGroup bounds how many clusters of a group may be in flight or started at a time, as a count or a percentage
	// of the group: of each group under ProgressivePerGroup, and of each mandatory group under Progressive, which otherwise starts
	// as a whole. The count 0 sets no bound, since the API holds a limit that is unset as 0; 0% is an error. Where it bounds no
	// group, by the type or without a mandatory group, it has no effect, and the result warns of that.
	MaxConcurrencyPerGroup intstr.IntOrString `json:"maxConcurrencyPerGroup,omitzero"`
	// FailedFreesSlot gives the concurrency slot of a tolerated Failed cluster to the next cluster at once. Otherwise the failed
	// cluster holds its slot until its progress deadline, which runs from the failure, and for ever if there is none.
	FailedFreesSlot bool `json:"failedFreesSlot,omitempty"`
	// Ramp starts gently: it allows as many clusters in flight or started at a time as have succeeded and soaked in the whole
	// fleet, and at least *Ramp, which must be at least 1. With 1 and clusters that all succeed, 1, 1, 2, 4, 8 … start. A
	// version that turns out bad is on at most twice as many clusters as it soaked on, beside those that failed for good.
	//
	// It holds under all types, over all groups together, and on top of maxConcurrency. Where several groups may start, those
	// earlier in [Schedule].Stages start first. As with maxConcurrency, a Failed cluster counts until its deadline unless
	// FailedFreesSlot is set. Clusters in Ignored are not bounded.
	Ramp *int `json:"ramp,omitempty"`
	// MaxStarts bounds the starts within a span of time.
	MaxStarts *StartLimit `json:"maxStarts,omitempty"`
	// Shares are this hub's shares of limits that several hubs have in common; nil if there are none.
	Shares *Shares `json:"shares,omitempty"`
	// WaitBetweenGroups is the time from the last success in the groups that a group comes after, directly or not, to its first
	// start, so that an operator can look at those first. It has an effect if groups go one after the other: under
	// ProgressivePerGroup, also with GroupOrder, and after mandatory groups under Progressive. Otherwise the result warns. It
	// must not be negative.
	//
	// The time runs from the success itself, and so together with minSuccessTime. If no cluster succeeded, there is no wait. If
	// no report has the time of a success, the wait does not end until one does, and the result warns. A cluster that succeeds
	// later in an earlier group, such as one that joined, restarts the wait, even for groups that have begun. With
	// status.WorkState.Now the controller must record each answer: without the record a success is dated to the time of
	// each call, and the wait never ends.
	WaitBetweenGroups metav1.Duration `json:"waitBetweenGroups,omitzero"`

	// Ignored names clusters that neither block nor count, such as clusters that are known to be unreachable, that hibernate,
	// or that were failing before. Such a cluster gets the workload once its stage is reached, that is, when all stages that it
	// comes after are complete. It takes no slot, its failure is in no budget, and no group and no rollout waits for it. A pause,
	// a breach, incomplete groups, closed gates and WaitBetweenGroups block it like all others. No limit bounds how many such
	// clusters start at once, not even Ramp or MaxStarts. Percentages in the strategy are shares of the other clusters. The
	// lists of a [Result] have these clusters like any other; status.Counts has them in Ignored alone.
	//
	// The names come in any order and may repeat. A name that no cluster has means nothing. The result warns of a mandatory
	// group in which no cluster counts, since it protects nothing. A deselected cluster that is named here stops counting.
	Ignored []string `json:"ignored,omitempty"`
	// FailedBefore names the baseline: clusters that failed before the rollout began. Their failures are left out of every
	// budget. Otherwise they are like other clusters: each takes a slot, and its group waits for it. If such a cluster fails,
	// the rollout ends as Failed, with the reason ClustersFailed; use Ignored where the conditions must not show that.
	// Without a progressDeadline, such a cluster is in flight for ever once it is Failed, so the rollout does not end. The names
	// are as in Ignored.
	FailedBefore []string `json:"failedBefore,omitempty"`
	// Attempt tries clusters again, without a new version, that failed in an attempt before this one. Such a cluster is Failed
	// or TimeOut, or its progress deadline passes, and the Attempt of its [status.Report] is less. It waits for its turn like a
	// cluster that is reported ToApply, and is not a failure any more. All other clusters stay as they are.
	//
	// Clusters of FailedBefore and Ignored are tried again, too, and so are clusters that timed out in a complete group. Such
	// a group is incomplete again and blocks what comes after it, unless only Ignored clusters are tried again.
	//
	// The first attempt is 0; a negative one is an error. A user raises it, for instance in an annotation of the owner. With
	// each write the controller notes the Attempt that the result has for the [Cluster]: this one where it starts, and otherwise
	// the one that it is in ([status.Stamp]). A cluster that fails in this attempt is a failure as always. One whose reports
	// never have it would be started again each time that it fails, and no budget stops that.
	//
	// A controller may also raise it by itself, where a result has a [Breach]. The number goes on from version to version, so
	// it does not tell whether the present version was tried again. The controller stores with it, in one write, the version
	// that it raised it for.
	Attempt int `json:"attempt,omitempty"`

	// MaxRemoved bounds how many clusters may be removed at once, as a count or as a percentage of the clusters with a report,
	// rounded up. Where more would be removed, none is, and the result warns. A mistyped selector thus does not undeploy a fleet.
	// Nil sets no bound; 0 removes nothing.
	MaxRemoved *intstr.IntOrString `json:"maxRemoved,omitempty"`
	// RemoveAfter keeps a cluster for a while after it stops being selected. The cluster is in Next.PendingRemoval until that time has
	// passed, and in Next.Removed from then on. It must not be negative.
	//
	// A scheduler that rewrites its decisions one after the other can leave a cluster out for a moment while all counts are
	// right. With 0 the cluster's workload is deleted then, and created again. A minute is longer than any rewriting takes.
	//
	// RemoveAfter delays only the removal. A cluster that has the version and is not done with it counts, however long it has
	// been deselected ([Next].Deselected).
	RemoveAfter metav1.Duration `json:"removeAfter,omitzero"`
	// Previous is the result before this one. It has the time since which clusters are deselected, for RemoveAfter, and the
	// group of each cluster that was deselected or moved since. It is nil after a restart, which restarts RemoveAfter for all
	// clusters: a controller that restarts more often never removes a cluster. Incomplete groups restart RemoveAfter, too.
	//
	// A [Planner] remembers by itself, from its first call of Next or Result without the cluster. For a Planner, Previous says
	// what an earlier planner knew, and may be nil. RemoveAfter does not restart with [Planner.SetStrategy], even where Previous is
	// nil. Nor does it with Forget and Report, unless Next or Result is called in between.
	Previous *Result `json:"-"`
	// StoredRecord is the owner's record of deselected clusters; nil if the owner stores none. Without it a deselected cluster
	// counts only while its object exists.
	StoredRecord *StoredRecord `json:"storedRecord,omitempty"`
}

// StartLimit starts at most Count clusters within any span of time of length Per, such as 20 within an hour, so as not to
// overload what they fetch from and call.
//
// A cluster started when the present version was applied, as its report says. Where the report does not say, its last
// transition counts instead; that is later, so fewer start and never more. A cluster in flight without any time counts as
// started now. A skipped cluster never started.
//
// Only the last start of each cluster with this version is known, since a later write of a cluster's object replaces the
// time of an earlier one. A new version and a rollback ([Revert]) therefore begin a new span, and a start in a later attempt
// replaces the cluster's earlier start. Starts of clusters in [Options].Ignored are not bounded.
//
// It holds under all types, over all groups together. Where several groups may start, those earlier in
// [Schedule].Stages start first.
type StartLimit struct {
	// Count must be at least 1.
	Count int `json:"count"`
	// Per must be positive.
	Per metav1.Duration `json:"per"`
}

// Validate reports what is wrong with options, for a webhook to return. The errors have the paths of their JSON, such as
// groupOrder[prod], below path, which may be nil. [Plan] refuses options exactly where the list is not empty.
func (o Options) Validate(path *field.Path) field.ErrorList {
	_, errs := o.compile(path)
	return errs
}

// compile checks options and copies them (R51). It makes a path only for a field that is set.
func (o *Options) compile(path *field.Path) (options, field.ErrorList) {
	compiled := options{paused: o.Paused, freeFailed: o.FailedFreesSlot, order: o.Order, attempt: o.Attempt, gates: newGates(o.Gates)}
	compiled.unselected, compiled.previous = o.Previous.carriedOver()
	errs := append(compiled.compileLimits(o, path), compiled.compileSpans(o, path)...)
	errs = append(errs, compiled.compileNames(o, path)...)
	if compiled.attempt < 0 {
		errs = append(errs, field.Invalid(path.Child("attempt"), compiled.attempt, "must not be negative"))
	}
	if o.StoredRecord != nil {
		var err *field.Error
		compiled.record, err = o.StoredRecord.compile(path.Child("storedRecord"))
		errs = withError(errs, err)
	}
	return compiled, errs
}

// compileLimits sets how many clusters may do something, and in which order groups do.
func (compiled *options) compileLimits(opts *Options, path *field.Path) (errs field.ErrorList) {
	var err *field.Error
	if opts.MaxConcurrencyPerGroup != (intstr.IntOrString{}) {
		compiled.groupConcurrency, err = limit.ParseConcurrency(path.Child("maxConcurrencyPerGroup"), opts.MaxConcurrencyPerGroup)
		errs = withError(errs, err)
	}
	if opts.GroupOrder != nil {
		compiled.groupOrder, err = opts.GroupOrder.compile(path.Child("groupOrder"))
		errs = withError(errs, err)
	}
	if opts.Ramp != nil {
		if compiled.ramp = *opts.Ramp; compiled.ramp < 1 {
			errs = append(errs, field.Invalid(path.Child("ramp"), compiled.ramp, "must be at least 1"))
		}
	}
	if opts.MaxStarts != nil {
		var startErrs field.ErrorList
		compiled.starts, startErrs = opts.MaxStarts.compile(path.Child("maxStarts"))
		errs = append(errs, startErrs...)
	}
	if opts.Shares != nil {
		shares := *opts.Shares
		compiled.shares, errs = &shares, append(errs, shares.check(path.Child("shares"))...)
	}
	if opts.MaxRemoved != nil {
		most, err := limit.Parse(path.Child("maxRemoved"), *opts.MaxRemoved)
		compiled.maxRemoved, errs = &most, withError(errs, err)
	}
	return errs
}

// compileNames sets what is said of single clusters.
func (compiled *options) compileNames(opts *Options, path *field.Path) field.ErrorList {
	if len(opts.Freezes) == 0 && opts.Allowlist == nil && len(opts.Ignored) == 0 && len(opts.FailedBefore) == 0 {
		return nil
	}
	holds, errs := compileFreezes(opts.Freezes, path)
	compiled.named = &named{
		freezes: holds, allowlist: newNameSet(opts.Allowlist), hasAllowlist: opts.Allowlist != nil,
		ignored: newNameSet(opts.Ignored), failedBefore: newNameSet(opts.FailedBefore),
	}
	return errs
}

// compileSpans sets the times to wait.
func (compiled *options) compileSpans(opts *Options, path *field.Path) (errs field.ErrorList) {
	if compiled.wait = opts.WaitBetweenGroups.Duration; compiled.wait < 0 {
		errs = append(errs, field.Invalid(path.Child("waitBetweenGroups"), compiled.wait.String(), "must not be negative"))
	}
	if compiled.grace = opts.RemoveAfter.Duration; compiled.grace < 0 {
		errs = append(errs, field.Invalid(path.Child("removeAfter"), compiled.grace.String(), "must not be negative"))
	}
	return errs
}

func withError(errs field.ErrorList, err *field.Error) field.ErrorList {
	if err == nil {
		return errs
	}
	return append(errs, err)
}

// compile checks the limit and copies it.
func (limit *StartLimit) compile(path *field.Path) (_ limits.Starts, errs field.ErrorList) {
	if limit.Count < 1 {
		errs = append(errs, field.Invalid(path.Child("count"), limit.Count, "must be at least 1"))
	}
	if limit.Per.Duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("per"), limit.Per.Duration.String(), "must be more than 0"))
	}
	return limits.Starts{Most: limit.Count, Per: limit.Per.Duration}, errs
}

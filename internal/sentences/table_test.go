package sentences

// room is a package with its sentences.
type room struct {
	dir string // where testdata/scenes is
	// kinds are the beginnings of the exported string constants; each of these has a row.
	kinds []string
	rows  []row
}

// row is a sentence: the constant or the type that it belongs to, and a pattern that finds it in what scenes print.
type row struct{ kind, pattern string }

// at is a time as sentences have it, and names is some clusters.
const (
	at    = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
	names = `[\w-]+(, [\w-]+)*( and \d+ more)?`
	group = `group \d+( "[^"]*")?( of placement \S+?)?`
)

// rooms are the packages that print sentences.
var rooms = []room{
	{
		dir:   "rollout",
		kinds: []string{"Hold", "Warning", "Remedy"},
		rows: []row{
			{"HoldPaused", `^\d+ held: the rollout is paused$`},
			{"HoldGroupsIncomplete", `^\d+ held: the groups are incomplete \(.*\)$`},
			{"HoldBreached", `^\d+ held: stopped: ` + names + ` failed, maxFailures \d+; goes on when none is failed$`},
			{"HoldBreached, of a group", `^\d+ held: stopped: ` + names + ` failed in ` + group + `, maxFailures \d+; goes on when at most \d+ (is|are) failed$`},
			{"HoldBreached, of a mandatory group", `^\d+ held: stopped: ` + names + ` failed in ` + group + `, a mandatory group; goes on when none is failed$`},
			{"HoldMandatoryGroup", `^\d+ held: waiting for mandatory ` + group + `: \d+ of \d+ done; .*`},
			{"HoldEarlierGroup", `^\d+ held: waiting for ` + group + `: \d+ of \d+ done; .*`},
			{"HoldEarlierGroup, with failures", `^\d+ held: waiting for ` + group + `: \d+ of \d+ done, \d+ failed; .*`},
			{"HoldEarlierGroup, behind a gate", `^Held: waiting for ` + group + `: \d+ of \d+ done; .*; the gate .* is closed$`},
			{"HoldEarlierGroup, behind its slots", `^Held: waiting for ` + group + `: \d+ of \d+ done; .*; \d+ of \d+ slots? taken in ` + group + `$`},
			{"HoldEarlierGroup, and others", `^waiting for ` + group + `: \d+ of \d+ done; and for ` + group + `: \d+ of \d+ done; [^;]*$`},
			{"HoldEarlierGroup, and many others", `; and for \d+ more groups; then for ` + group + `, ` + group + `$`},
			{"HoldMandatoryGroup, and then others", `^waiting for mandatory ` + group + `: \d+ of \d+ done; [^;]*; then for ` + group + `$`},
			{"HoldGateClosed", `^\d+ held: the gate before ` + group + ` is closed$`},
			{"HoldGateClosed, with a name", `^\d+ held: the gate "[^"]*" before ` + group + ` is closed$`},
			{"HoldGateClosed, with a time", `^\d+ held: the gate "[^"]*" before ` + group + ` is closed until ` + at + `$`},
			{"HoldConcurrency", `^\d+ held: \d+ of \d+ slots? taken: .*`},
			{"HoldConcurrency, in a group", `^\d+ held: \d+ of \d+ slots? taken in ` + group + `: .*`},
			{"HoldConcurrency, over the limit", `^\d+ held: \d+ slots?, \d+ taken, \d+ have to come free: .*`},

			{"HoldWait", `^\d+ held: waiting until ` + at + `, \S+ after the last success in ` + group + `$`},
			{"HoldWait, without a time", `^\d+ held: waiting until \S+ after the last success in ` + group + `: no report says when that was$`},
			{"HoldRamp", `^\d+ held: \d+ of \d+ slots? of the ramp taken: .*`},
			{"HoldRamp, over the limit", `^\d+ held: \d+ slots? of the ramp, \d+ taken: .*`},
			{"HoldStarts", `^\d+ held: at most \d+ starts? within \S+, the next at ` + at + `$`},
			{"HoldStarts, with some that start now", `^\d+ held: at most \d+ starts? within \S+, \d+ now, the next at ` + at + `$`},
			{"HoldStarts, all start now", `^\d+ held: at most \d+ starts? within \S+, \d+ now, the next \S+ later$`},
			{"HoldStarts, without a time", `^\d+ held: at most \d+ starts? within \S+, \d+ in flight of which no report says since when: nobody knows when the next is$`},

			{"Blocker, starting", `\b` + names + ` starts? now\b`},
			{"Blocker, silent", `\b` + names + ` has not answered, times out at ` + at},
			{"Blocker, silent for good", `\b` + names + ` has not answered since ` + at + `, and there is no progressDeadline`},
			{"Blocker, silent, keeps its slot", `\b` + names + ` has not answered since ` + at + `, and without a progressDeadline keeps its slot until it answers`},
			{"Blocker, progressing", `\b` + names + ` progressing, times out at ` + at},
			{"Blocker, progressing for good", `\b` + names + ` progressing since ` + at + `, and there is no progressDeadline`},
			{"Blocker, progressing, keeps its slot", `\b` + names + ` progressing since ` + at + `, and without a progressDeadline keeps its slot until it is done`},
			{"Blocker, progressing without a time", `\b` + names + ` progressing, cannot time out before a report says since when`},
			{"Blocker, tried again", `\b` + names + ` progressing, is tried again at ` + at},
			{"Blocker, silent, tried again", `\b` + names + ` has not answered, is tried again at ` + at},
			{"Blockers, tried again", `\b` + names + ` progressing, the first, [\w-]+, is tried again at ` + at},
			{"Blocker, failed", `\b` + names + ` failed since ` + at + `( |$)`},
			{"Blocker, failed, keeps its slot", `\b` + names + ` failed, keeps its slot until ` + at},
			{"Blocker, failed, keeps its slot for good", `\b` + names + ` failed since ` + at + `, and without a progressDeadline keeps its slot until it succeeds`},
			{"Blocker, failed, without a slot", `\b` + names + ` failed since ` + at + `, times out at ` + at},
			{"Blocker, failed without a time", `\b` + names + ` failed, keeps its slot, nobody knows how long: no report says since when`},
			{"Blocker, soaking", `\b` + names + ` soaks until ` + at},
			{"Blocker, soaking without a time", `\b` + names + ` soaks, nobody knows how long: no report says since when`},
			{"Blocker, succeeded without a time", `^\s*[\w-]+ succeeded, no report says when`},
			{"Blocker, timed out", `^\s*[\w-]+ timed out`},
			{"Blockers, many alike", `\b` + names + ` soak, the last, [\w-]+, until ` + at},
			{"Blockers, several slots have to come free", `\b` + names + ` progressing, the first, [\w-]+, times out at ` + at + `, and the last, [\w-]+, times out at ` + at},
			{"Blockers, the first frees its slot", `\b` + names + ` soak, the first, [\w-]+, until ` + at},

			{"RemedyWait", `soaks? until ` + at + `|times? out at ` + at}, // which the hold says itself
			{"RemedyAnswer", `keeps its slot until it (answers|is done)`}, // and so it does here
			{"RemedyResume", `to do: resume the rollout$`},
			{"RemedyOpenGate", `to do: open the gate "[^"]*" before ` + group + `$`},
			{"RemedyMend", `to do: mend (\d+ of )?[\w-]+`},
			{"RemedyReportTime", `to do: wait for a report that says since when (\d+ of )?` + names + ` (is|are) in flight$`},
			{"RemedyReportTime, succeeded", `to do: wait for a report that says when (\d+ of )?` + names + ` succeeded$`},
			{"RemedyTryAgain", `\btry what failed again \(attempt \d+\)`},
			{"RemedyRaiseMaxFailures", `\braise maxFailures to \d+`},
			{"RemedyRevert", `\bgo back to the version before$`},
			{"RemedySetProgressDeadline", `\bset a progressDeadline$`},
			{"RemedyCompleteGroups", `to do: wait until the PlacementDecisions are written$`},

			{"Breach, where nobody waits", `^stopped: ` + names + ` failed in [^;]*; goes on when [^;]*$`},

			{"WarningFieldIgnored", `^warning: \S+ is set and has no effect under the strategy's type$`},
			{"WarningMandatoryGroupEmpty", `^warning: mandatory decision group "[^"]*" selects no cluster and is skipped$`},
			{"WarningMandatoryGroupEmpty, by its index", `^warning: mandatory decision group with index \d+ selects no cluster and is skipped$`},
			{"WarningMandatoryGroupEmpty, mistyped", `^warning: mandatory decision group "[^"]*" is skipped: there is no such group, only .*`},
			{"WarningMandatoryGroupUncounted", `^warning: mandatory decision group "[^"]*" protects nobody: no cluster of \d+ is counted$`},
			{"WarningMandatoryGroupUncounted, by its index", `^warning: mandatory decision group with index \d+ protects nobody: no cluster of \d+ is counted$`},
			{"WarningGateWithoutGroup", `^warning: the gate before group \d+ holds nothing: there is no such group, only .*`},
			{"WarningGateWithoutGroup, mistyped", `^warning: the gate before group "[^"]*" holds nothing: there is no such group, only .*`},
			{"WarningGateWithoutGroup, of a placement", `^warning: the gate before group \d+ of placement \S+ holds nothing: there is no such group, only .*`},
			{"WarningOrderWithoutGroup", `^warning: the group order names group "[^"]*": there is no such group, only .*`},
			{"WarningOrderWithoutGroup, no name", `^warning: the group order names groups without a name: there are none, only .*`},
			{"WarningFieldIgnored, an option", `^warning: groupOrder is set and has no effect under the strategy's type$`},
			{"WarningGroupsIncomplete", `^warning: nothing starts and nobody is removed while the groups are incomplete \(.*\)$`},
			{"WarningReportsMerged", `^warning: .* several reports: the one that holds the rollout back most counts$`},
			{"WarningReportWithoutTime", `^warning: no report says since when .* in flight: neither deadline nor soak ends$`},
			{"WarningSuccessWithoutTime", `^warning: no report says when .* succeeded: the wait after that does not end$`},
			{"WarningRemovalsWithheld", `^warning: nobody is removed: .* not selected any more, of \d+ reported, and only \d+ may be removed at once$`},
			{"WarningAllAtOnce", `^warning: all \d+ clusters start at once: a version that fails reaches each of them$`},
			{"WarningBudgetOutOfReach", `^warning: maxFailures \d+ can't be exceeded by \d+ clusters?: no failure there stops the rollout$`},
			{"WarningBudgetOutOfReach, in a group", `^warning: maxFailures \d+ can't be exceeded by \d+ clusters? in ` + group + `: no failure there stops the rollout$`},
			{"WarningBudgetOutOfReach, in several groups", `^warning: maxFailures \d+ can't be exceeded by \d+ clusters? in ` + group + ` and in \d+ more groups?: no failure .*`},
			{"WarningBudgetOutOfReach, for want of slots", `^warning: maxFailures \d+ can't be exceeded by \d+ clusters? at a time.*, and without a progressDeadline failed ones keep their slots: .*`},

			{"Exposure", `^at most \d+ of \d+ clusters? get a version that fails them, \d+ where it fails all; at most \d+ in flight at a time; done after .* if none fails$`},
			{"Exposure, some not counted", `^at most \d+ of \d+ clusters? get .* if none fails; \d+ not counted$`},
			{"StageExposure", `^\[.*\]: at most \d+ of \d+ clusters? exposed, \d+ in flight; done after .*`},
			{"Limits", `^maxConcurrency \S+, maxFailures \S+$`},
			{"Limit, too many exposed", `bounds.exposed: .*: must be at least \d+, which are exposed with .*, up to \d+ of them in .*`},
			{"Limit, too long", `bounds.finish: .*: must be at least \S+: it takes that long with .*, the highest limits that hold$`},
			{"Limit, not known how long", `bounds.finish: .*: must be 0: nobody knows how long it takes \(\S+ or more\), since the rollout is paused, and the gate .*`},
			{"Limit, not known for a ramp", `bounds.finish: .*: must be 0: nobody knows how long it takes \(\S+ or more\), since groups go side by side with ramp.*`},

			{"Changes", `^started ` + names},
			{"Changes, failed", `\bfailed ` + names + `; stopped: .*`},
			{"Changes, timed out", `^timed out ` + names},
			{"Changes, recovered", `\brecovered ` + names + `; no budget is breached any more`},
			{"Result", `^start .*; in flight .*; timed out .*; removed .*; recheck after .*`},
			{"Result, nothing", `^nothing to do$`},
			{"Next, not all counted", `\d+ of \d+ clusters done, .*\b\d+ not counted`},
			{"Next", `^start .*; \d+ of \d+ clusters done, .*`},
			{"Schedule, not a chain", `^ProgressivePerGroup: \[.*\]; \[.*\] after .*`},
			{"Schedule", `^ProgressivePerGroup: \[.*\] → \[.*: \d+ at a time\].*`},
		},
	},
	{
		dir:   "status",
		kinds: []string{"Reason"},
		rows: []row{
			{"ReasonGroupsIncomplete", `GroupsIncomplete: .*`},
			{"ReasonMaxFailuresBreached", `MaxFailuresBreached: .*`},
			{"ReasonRolloutPaused", `RolloutPaused: .*|RolloutPaused$`},
			{"ReasonGateClosed", `GateClosed(: .*)?$`},
			{"ReasonRolloutProgressing", `RolloutProgressing: .*`},
			{"ReasonClustersFailed", `ClustersFailed$`},
			{"ReasonNoClusterSelected", `NoClusterSelected: no cluster is selected$`},
			{"ReasonNoClusterCounted", `NoClusterCounted: no cluster of \d+ is counted$`},
			{"ReasonRolloutSucceeded", `RolloutSucceeded: .*`},
			{"ReasonRolloutReverting", `RolloutReverting: .*`},
			{"ReasonRolloutReverted", `RolloutReverted: .*`},
			{"Revisions, going back", `aborted at ` + at + `: \d+ of \d+ clusters went back to \S+.*`},
			{"Revisions, nobody to go back", `aborted at ` + at + `: no selected cluster has \S+`},
			{"Summary, paused", `^\d+ of \d+ clusters done, the rollout is paused$`},
			{"Summary, a gate", `^\d+ of \d+ clusters done, the gate "[^"]*" before .*`},
			{"Summary, not all counted", `^\d+ of \d+ clusters done, .*\d+ not counted$`},
			{"Summary, a breach", `^\d+ of \d+ clusters done, .*failed; stopped: .*`},
			{"ManifestWorkReplicaSet, PlacementVerified", `^PlacementVerified True .*`},
			{"ManifestWorkReplicaSet, no decision", `^PlacementVerified False .*`},
			{"ManifestWorkReplicaSet, ManifestworkApplied", `^ManifestworkApplied (True|False) .*present version$`},
			{"ManifestWorkReplicaSet, PlacementRolledOut", `^PlacementRolledOut (True|False) .*`},
		},
	},
	{
		dir: "grouping",
		rows: []row{
			{"Incomplete, nothing", `^incomplete: no PlacementDecision is there$`},
			{"Incomplete, of a placement", `^incomplete: placement \S+: no PlacementDecision is there$`},
			{"Incomplete, no status", `^incomplete: .*: its status is not written yet$`},
			{"Incomplete, no group", `^incomplete: .*: its status names no decision group yet$`},
			{"Incomplete, too few", `^incomplete: .*: ` + group + ` has \d+ of \d+ clusters$`},
			{"Incomplete, too many", `^incomplete: .*: ` + group + ` has \d+ clusters, not \d+$`},
			{"Incomplete, in all", `^incomplete: .*: \d+ of \d+ clusters are there$`},
			{"Incomplete, too many in all", `^incomplete: .*: \d+ clusters are there, not \d+$`},
			{"Incomplete, another group", `^incomplete: .*: PlacementDecision \S+ is of ` + group + `, not of .*`},
			{"Incomplete, an edited label", `^incomplete: PlacementDecision \S+ has ".*" for the index of its group$`},
			{"Incomplete, being deleted", `^incomplete: .*: PlacementDecision \S+ is being deleted$`},
			{"Incomplete, not there", `^incomplete: .*: PlacementDecision \S+ is not there$`},
			{"Incomplete, not named", `^incomplete: .*: its status does not name PlacementDecision \S+, .*`},
			{"Incomplete, a cluster twice", `^incomplete: .*: cluster \S+ is in \S+ and again in \S+$`},
			{"Incomplete, and more", `^incomplete: .*, and \d+ more$`},
			{"Key", `^group \d+ "[^"]*":`},
		},
	},
	{
		dir:   "dependency",
		kinds: []string{"Reason"},
		rows: []row{
			{"ReasonOtherCompliance", `\S+ \S+ is NonCompliant, must be Compliant`},
			{"ReasonOtherCompliance, pending", `Dependencies were not satisfied: \d+ (is|are) still pending \(.*\)`},
			{"ReasonNotFound", `\S+ \S+ is not found, must be Compliant`},
			{"ReasonNoAPI", `\S+ \S+ cannot be read: the cluster has no API for .*`},
			{"ReasonFieldMissing", `FieldMissing.*`},
			{"ReasonUnknownValue", `\S+ \S+ has .* at status\S*, must be Compliant`},
			{"ReasonReadFailed", `\S+ \S+ cannot be read: .*`},
			{"ReasonNotRead", `\S+ \S+ was not read so far`},
			{"ReasonOnCycle", `waits for itself: .* → .*`},
			{"Action, left", `^leave .*: kept, since it is not known what it waits for: .*`},
			{"Action, deleted", `^delete .*: Dependencies were not satisfied: .*`},
			{"Evaluation, invalid", `: Invalid: \S+: (Invalid|Required) value: .*`},
		},
	},
	{
		dir: "decisionupdate",
		rows: []row{
			{"Update", `^\d+: update \S+ status [+-].*`},
			{"Update, nothing", `^nothing to do$`},
			{"OverLimit", `^\S+ has \d+ clusters for a while$`},
			{"Misplaced", `^\S+ shows \S+.* in the wrong group .* until its (status is|labels are) written$`},
			{"Outcome", `^created \d+, surged \d+, updated \d+, deleted \d+, retried \d+$`},
		},
	},
	{
		dir:   "override",
		kinds: []string{"Ignored"},
		rows: []row{
			{"IgnoredPlacementRef", `^binding "[^"]*" binds nothing: .*`},
			{"IgnoredSubFilter", `^binding "[^"]*" has no effect: it is a sub filter, .*`},
			{"IgnoredOverride", `^binding "[^"]*" does not enforce the policy: .*`},
			{"Resolution", `^enforce: .*; inform: .*`},
			{"Resolution, incomplete", `; incomplete: binding "[^"]*": .*`},
		},
	},
	{
		dir: "override/passes",
		rows: []row{
			{"Propagation, waits for the first pass", `^\S+ is held: waiting until its replica has this version with inform$`},
			{"Propagation, waits", `^\S+ is held: waiting for .*`},
			{"Propagation, breach", `^breach: stopped: .*`},
		},
	},
}

// SPDX-License-Identifier: Apache-2.0

// Command kubectl-cohort answers, as kubectl cohort: how do rollouts stand, why does a cluster wait, and what will this
// strategy do to my fleet?
//
//	kubectl cohort status|explain|plan|compare|exposure|removals|dependencies [-f FILE…] [flags]
//	kubectl cohort history CLUSTER, diff OLD [NEW], record FILE, replay FILE, report FILE
//	kubectl cohort open-gate|allow|start-first|freeze|unfreeze|validate|pause|resume|retry|ignore|abort ROLLOUT
//
// It reads a hub or your objects, asks the library how things stand, and plays rollouts through in virtual time. README.md
// in this directory shows how to build and use it; this page has the details.
//
// # Input
//
// Files are YAML or JSON: single objects, many documents, or lists as kubectl get -o yaml prints them; -f - is standard
// input. They may be compressed by gzip. Of a directory those files are read whose names end in .yaml, .yml, .json, .jsonl or .ndjson, in letters of
// either case, perhaps with .gz behind that; a note names archives and other packed files. Paths start at the current directory, which
// go run -C changes. These objects count:
//
//   - Rollouts: a ManifestWorkReplicaSet (spec.placementRefs[].rolloutStrategy), a ClusterManagementAddOn
//     (spec.installStrategy.placements[].rolloutStrategy), a Policy (spec.rolloutStrategy), see below, or a
//     RolloutStrategy by itself. Where there are several, all are played one by one, or only the one that --rollout
//     names.
//   - The PlacementDecisions of their placements, which give the groups.
//   - Or the Placement and ManagedClusters. The Placement's rules then select clusters, and its decisionStrategy
//     divides them.
//   - How the rollout stands: ManifestWorks, ManagedClusterAddOns and replicated policies, see below.
//   - Perhaps one Behavior, see below.
//
// A RolloutStrategy by itself has the fields of the API's type at its top:
//
//	apiVersion: cluster.open-cluster-management.io/v1alpha1
//	kind: RolloutStrategy
//	type: Progressive
//	progressive: {maxConcurrency: 10%, progressDeadline: 1h}
//
// A rollout to several placements goes to each by its own strategy, unless --placement chooses one. A cluster that two
// placements select belongs to the first. Other kinds are ignored; a note counts them.
//
// # A rollout under way
//
// Where the files have what a hub wrote for the rollout, the simulation goes on from there, at the present time or at
// --start. A ManifestWork has the present version if its spec is the template's; then the library reads its status, see
// package status. Otherwise it waits for its turn. An add-on has the version if its configurations are what the status
// of the ClusterManagementAddOn wants for the placement; a replicated policy has it if its templates are the root's.
// Clusters that have the version and are not done go on from when they got it: with --takes 10m, one that got it 8 minutes
// ago succeeds in 2. A cluster that should be done already needs a tenth more of the time that it has had. A cluster with a
// deadline in the past stays timed out. How long clusters take is learned from those that are done, or else from
// those that have the version before. A cluster that is unreachable or not available never answers. How many
// fail is learned once ten have settled. Notes say what was learned, and from how many. --takes overrides it, and so does any
// flag that says which clusters fail.
//
// # Recordings
//
// record reads the hub every few seconds until it is interrupted, and writes down what is not as before. A recording holds whole
// objects, so each command with --recording and --at answers about a moment of it as it would have then, and says so where
// the moment is not recorded. What passed between two readings, such as a failure that went by, is not in it.
//
// # Decisions
//
// open-gate, pause, resume, retry and ignore write annotations of what rolls out, as package rollout/approvals documents them.
// Each command that reads a rollout reads these, too: a paused rollout starts no cluster in a plan, a status or an explanation, and a gate is
// open for the version that it was opened for. What follows from a decision is what two plans of now say, without it and with it, and a
// simulation from there. A patch names the version of the object that was read. Where only the status and the record of deselected
// clusters have changed since, it is tried again; where the spec or an approval has, nothing is written.
//
// # The page
//
// report draws what the stamps keep of the past, as history reads it, up to now, and a simulation from there on. It reads the
// clusters under a time from the picture with a script of its own, asks the network for nothing, and forbids that in its head.
//
// # The past of a cluster
//
// history plans each reading of a recording that changed anything, and each at which a deadline, a soak or a wait ended, and tells when the
// decision for the cluster changed, or its reason. Where a stamp or a condition dates a change to between two readings, its time counts.
// Before the first reading, and without a recording, it plans again at each time that stamps and conditions keep: at each, a cluster that got
// the version later waits, and one that came to its present status later is in flight. So a failure that was fixed is not seen, nor is
// another strategy or another selection than that of now; where these say that a cluster would have waited as it started, history
// says so. It goes back to the first stamp of the version, or to the last time at which a cluster was tried again. Replicated policies
// keep too little for that, and so do works without stamps and managed fields.
//
// # Policies
//
// A Policy goes to the placements of all PlacementBindings that have it as their subject, itself or in a PolicySet:
//
//	kubectl cohort plan -f testdata/policy/progressive.yaml
//
// The clusters of a Placement come from its PlacementDecisions; without these they are selected and divided as for any
// other rollout. The clusters of a PlacementRule are its status.decisions; without them it selects nothing, and a note
// says so. The templates and dependencies of a Policy are ignored.
//
// kubectl cohort exposure says in which passes the policy goes where, and how many clusters it can reach without working on them.
// Only clusters where it is enforced count.
//
// The output of a rollout also says what each binding selects, binds and enforces, which bindings are ignored, and
// which action each cluster gets in the end and which binding decided that. Below the line of a wave is what was
// written to the replicated policies, such as "enforce/Progressing: a b" for their action and their rollout status; the
// line of a first pass, "inform/ToApply", comes before the starts that it permits. The last line has the root policy's
// status.
//
// A cluster that succeeds is Compliant, one that fails NonCompliant. A policy that informs is done where the cluster
// has reported, whatever it reported. A cluster that the rollout holds at inform reports nothing.
//
// # What is selected without PlacementDecisions
//
// The same clusters are selected as by OCM's scheduler. A cluster has to be in a cluster set that a
// ManagedClusterSetBinding binds to the Placement's namespace and, if the Placement names sets, in one of these. Where
// the files have no such binding, all sets count as bound. Clusters belong to a set by their label, or by the set's
// selector where the files have the ManagedClusterSet. Clusters that are being deleted, that fit no predicate or whose
// taints are not tolerated are not selected. Predicates are ORed; the selectors of one predicate for labels and claims
// are ANDed; without predicates every cluster fits. numberOfClusters takes the first by name, where OCM would take them
// by score; a note says so. CEL is refused. Prioritizers and spreading are ignored, and a note says so. JSON counts the
// clusters that are not selected under placement.dropped, by rule.
//
// OCM's scheduler does not look at spec.hubAcceptsClient. By its API a hub taints a cluster that never was available as
// unreachable, and a cluster that it does not accept never is. A file that was not read from a hub (it has neither uid nor
// resourceVersion) lacks that taint: such a cluster is dropped unless the Placement tolerates the taint. A file from a hub
// is believed. If a cluster is selected that the hub does not accept, nothing reaches it, since the hub has no namespace
// for it: it never answers, and a note says so.
//
// # How clusters behave
//
// A cluster succeeds 10 minutes after it got the workload, or after --takes. Flags say which clusters do not:
//
//	--fail edge-7=5m --fail 'lab-*'    these fail, after 5 minutes and after --takes
//	--fail-share 5% --seed 3           5% of the others fail, drawn at random
//	--fail-rate 0.3%                  of the others each fails with this chance
//	--takes 5m-20m                    each takes a time of its own between these
//	--never edge-9                    this one never answers
//	--recover 2h                      all of those succeed later after all
//	--cut-off 'edge-*' --cut-off 5%    the version cuts these off, by name, by pattern or as a share
//	--not-good edge-7 --not-good 5%   these succeed, and are not found good then
//	--not-good-rate 2%                of those that succeed each is not found good with this chance
//	--never-validated 'lab-*'         these succeed, and never get a verdict
//	--lease 3m                        the scheduler drops them so long after their start; 5m unless given
//	--retry 2/30m --fail-attempts 1    half an hour after a breach, or else after the end, what failed is tried again, twice
//	                                 at most, and succeeds then
//
// A document can say the same and more, rule by rule. The first rule that matches a cluster decides, and rules from
// flags come first:
//
//	apiVersion: examples.cohort-ocm.io/v1
//	kind: Behavior
//	spec:
//	  seed: 7
//	  lease: 5m
//	  clusters:
//	  - names: [edge-007, lab-*]
//	    outcome: Fails               # or Succeeds, the default, NeverAnswers, CutOff, NotGood, or NeverValidated
//	    after: 5m
//	    recoversAfter: 2h
//	    attempts: 1                  # it succeeds where --retry tries again; else it fails each time
//	  - selector: {matchLabels: {link: slow}}
//	    groups: [canary]             # names of decision groups
//	    after: 40m
//	  - share: 5%                    # or a count, or less than 1%, rounded up
//	    outcome: NeverAnswers
//	  - rate: 0.3%                   # the chance of each cluster by itself
//	    outcome: Fails
//	    after: 5m-20m                # each a time of its own between these
//	  - rate: 2%
//	    outcome: NotGood             # it succeeds, and is not found good
//	    validatedAfter: 1m-4m        # its success
//	  - after: 12m                   # all others
//
// The seed decides all luck, and the luck of a cluster does not depend on the other clusters. Where a cluster is tried
// again, rates and ranges are drawn anew.
//
// A cluster that never answers is Progressing until its progressDeadline has passed. One that succeeds after that has
// timed out and recovered. While it then soaks, one more than maxConcurrency may be in flight, as its slot went to
// another cluster.
//
// # Validation
//
// Where a ManifestWorkReplicaSet names a rollout plugin, each cluster that succeeded has to be found good, too. It is in flight until
// a verdict said so. That holds where one of --validates, --not-good, --not-good-rate and --never-validated is given, or where the Behavior
// says anything of it: what if clusters were validated?
//
//	--validates 1m-4m    after its success each cluster is validated for a time of its own between these; 5m unless given
//
// The progressDeadline begins anew with the success, and minSuccessTime with the yes. A no is a failure. Of --recover and recoversAfter a
// cluster that was not found good is found good so long after the no, and one without a verdict so long after its success.
// One that failed and succeeds later after all is validated then. The column VALIDATING counts those that are being validated, JSON has
// them in waves[].validating, and a picture has a band for them.
//
// Where a rollout under way has verdicts, both times are learned: --takes from each cluster that succeeded, whether it was found good
// since or not, and --validates from each verdict. A cluster that is being validated when the simulation begins has been so since
// its success, and what is drawn at random of failures befalls it no more. A cluster that rolls back is not validated.
//
// A Policy with the annotation cohort.open-cluster-management.io/validate: "true" has its clusters validated, and status, explain and
// history show it. A forecast finds each of them good as soon as it succeeds, and a note says so; the flags above have no effect there.
//
// # Works that nothing calls done
//
// An agent says that a ManifestWork is done only where conditionRules in its template set the condition Progressing. Where a work is applied
// without them, every command says so. In a forecast no cluster is ever done then, and neither where no work is there yet and the template
// has manifests and no such rule: whatever --takes says. The annotation cohort.open-cluster-management.io/available-succeeds: "true" of a ManifestWorkReplicaSet has its works succeed once
// they are Available; its controller has to read it, too. Why a cluster failed, or is not done, is quoted from its conditions.
//
// # Clusters that leave
//
// A cluster that is cut off never answers from its start on. After the lease the hub taints it as unreachable, and the
// scheduler drops it. All others stay in their groups, and no cluster takes its place. If the Placement tolerates the taint it
// stays selected; a note says so. The controller that is played does what package rollout asks of one: it keeps the record of
// the deselected cluster in the owner, and deletes the cluster's work a minute later. No agent removes the finalizer, so the work hangs in deletion.
//
// Such a cluster still counts. It takes its slot until its deadline, and is a failure then. The column DESELECTED counts these
// clusters, the lines below the waves name them, and so do the last lines. JSON has them in waves[].deselected and waves[].deleted.
// A picture has a band for them. Name a cluster in --ignore to see how it goes if a user ignores it. For a Policy the
// scheduler drops no cluster: such clusters only never answer.
//
// Where the input says how a rollout stands, it may have works of clusters that are not selected. One that is in flight or
// failed counts in the same way. Its agent lets go of the work unless that is being deleted already.
//
// OCM's own controller counts no cluster that is not selected, and so it is played, with a note, where it has a ManifestWorkReplicaSet: there are
// works, none has a stamp, the set has no record, and its condition PlacementRolledOut no message.
//
// # Rollback
//
//	--abort-on-breach       as soon as more clusters failed than the strategy tolerates
//	--abort-at 2h           so long after the start, whatever has happened, unless the rollout is complete
//	--back-by-strategy      within the limits of the strategy, in the reverse order, and not all at once
//
// Clusters that have the version by then get the version before again, as rollout.Revert plans it. The report goes on with a
// table of the rollback, JSON has it in rollback, explain says how it goes for the cluster, and a picture has both. A cluster
// takes as long to roll back as it took to succeed or fail. One that did not answer does not answer then either. From a
// thousand clusters on, that time is rounded up to a hundredth of the longest, as each wave of the rollback costs a whole
// plan. Gates, a ramp and waits do not apply. A Policy has no rollback: play a rollout of the policy before instead.
//
// # Pictures
//
//	go run -C examples/kubectl-cohort . plan -f testdata/canary-fails/retail.yaml --svg /tmp/a.svg --png /tmp/a.png --chart
//
// --svg and --png draw the clusters by state over time, and below them each group against the same time. A flag says when
// the rollout stopped, or was complete. --chart draws in the terminal, in colour unless NO_COLOR is set.
//
// # Comparing strategies
//
//	go run -C examples/kubectl-cohort . compare -f testdata/design/clusters.yaml -f testdata/design/placement.yaml \
//		--strategy testdata/design/strategies.yaml --takes 5m-20m --fail-rate 0.3% --runs 1000 --seed 7
//
// This plays each rollout in the files, or the one that --rollout names, and each RolloutStrategy in the files of --strategy,
// over the same fleet with the same luck. It says how long each takes in half of all runs and in 95 of 100, how likely it is
// to stop a good version, and how many clusters have a bad version when it is stopped. For a Policy it plays the strategy
// that takes effect. The flags that say which clusters fail, and the Behavior, are ignored. kubectl cohort compare -h lists the other flags.
//
// # Removal in order
//
// removals says in which order clusters lose the workload as rollout.Removals has it, where the owner is deleted, or with --group where a
// group goes. A wave is what may be deleted once the wave before and all that was on its way out are gone. Where agents differ in speed,
// the next goes as soon as one is gone. Of several placements each goes by itself. In files without objects that say where the rollout
// stands, all that are selected count as having the workload.
//
// # Output
//
// A wave is an instant at which something happened: a cluster changed its status, a deadline or a soak ended, a gate opened.
// Its line says how many clusters started, and how things stand after that: how many are in flight, soaking, done, failed and
// timed out, and why the rest waits. A failed cluster is in flight, too, until its deadline. Times count from the start. Where
// --start says when that is, or the rollout is under way, the text has times of the day in UTC, in its columns as in its
// sentences, and now. A table has at most 60 rows, or as many as --rows says: consecutive waves share a row, and so do groups
// without names. Its lines are as long as the terminal is wide, and as long as they are elsewhere. With -o json the same comes
// as one object that also names the clusters of every wave. With more than 1,000 waves, or more than --rows says, only some say
// why the rest waits, since each such sentence costs a whole plan.
//
// The last lines say from when on nothing starts any more, how the rollout ended and, in the library's words, why:
//
//	Complete              every cluster succeeded and soaked
//	CompleteWithFailures  as many failed as the strategy tolerates
//	AtGate                all that wait do so for a gate that a user has to open
//	Blocked               all that wait are frozen, or not on the allowlist yet
//	Stuck                 clusters wait or are in flight, and nothing happens any more
//	Breached              more failed than the strategy tolerates
//	NothingSelected       there is no cluster; a line for each rule says how many it drops
//	RolledBack             it was aborted before it came to an end by itself
//
// # Beyond the strategy
//
// These flags are the options of package rollout that the API's strategy lacks:
//
//	--group-order 'prod after canary,staging'   under ProgressivePerGroup these groups come after those, in place of the
//	                                           order of their index; a semicolon or another flag for more, any for no order
//	--shuffle, --shuffle=v2                      within a group clusters get their turn in an order from a seed, or from the version
//	--gate prod=4h --gate 3                      a gate before the group of this name or index, closed for a time or for ever
//	--ignore power=off --ignore 'lab-*'    no cluster waits for these, and their failure stops nothing
//	--failed-before edge-7                      its failure is in no budget, as it was there before the rollout
//	--max-concurrency-per-group 5               as many clusters of each group at a time, under ProgressivePerGroup
//	--ramp 2, --max-starts 10/1h                 start gently, and at most ten within an hour
//	--wait-between-groups 1h                    time to look at a group before the next one starts
//	--failed-frees-slot                         a failed cluster makes room for the next at once
//
// They do not apply where a policy informs: all those clusters get it at once. Where there are several placements, a gate,
// a name and an order apply to the groups of each. An order calls groups without a name "-". Clusters are given by a name,
// by a pattern, or by labels of their ManagedClusters, as kubectl takes them after -l. The version of --shuffle is that which stamps
// have, and a ManifestWorkReplicaSet or a Policy says it. Others need a seed.
//
// The exit status is 0 for every rollout that was played through, however it ended, unless --exit-code asks for a status
// by outcome, which -h lists. It is 2 for wrong input, with one line that names file, object and field, and 1 if the
// output could not be written. (go run turns any exit status but 0 into 1, and prints it.) Fields that the API does not
// have are wrong input. Below a status they are ignored, as a newer server may have written them, except in a
// PlacementDecision, which has nothing else, and in a PlacementRule, where nothing else is read.
//
// # How it is made
//
// Package scenario makes rollouts from the objects. Package behavior says what each cluster will report. Package simulation
// is the loop of a controller in virtual time, with a rollout.Planner that says what may start. For a Policy, the hub of
// package policy stands in between and keeps the replicated policies. Package clusterevents records how it goes for one cluster.
// Package output writes the report.
package main

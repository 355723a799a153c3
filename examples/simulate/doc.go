// Command simulate answers: what will this rollout strategy do to my fleet?
//
//	simulate -f FILE [-f FILE…] [flags] [explain CLUSTER]
//
// It reads the objects that you have, plays the rollout through in virtual time with the decisions of this module's
// library, and prints the decision groups, a line for each wave, and how it ended. With explain it tells what the rollout
// is for one cluster. README.md beside this file shows how to build and use it; this page has the details.
//
// # Input
//
// Files are YAML or JSON: single objects, many documents, or lists as kubectl get -o yaml prints them; -f - is
// standard input. Paths are those from the current directory, which go run -C changes. The objects that count:
//
//   - Rollouts: a ManifestWorkReplicaSet (spec.placementRefs[].rolloutStrategy), a ClusterManagementAddOn
//     (spec.installStrategy.placements[].rolloutStrategy), a Policy (spec.rolloutStrategy), see below, or a
//     RolloutStrategy by itself. Where there are several they are played one by one, or the one of -rollout is.
//   - The PlacementDecisions of their placements. The groups are those that they hold.
//   - Or the Placement and ManagedClusters. The Placement's rules then select clusters, and its decisionStrategy
//     divides them.
//   - Where it stands: ManifestWorks, ManagedClusterAddOns and replicated policies, see below.
//   - Perhaps one Behavior, see below.
//
// A RolloutStrategy by itself has the fields of the API's type at its top:
//
//	apiVersion: cluster.open-cluster-management.io/v1alpha1
//	kind: RolloutStrategy
//	type: Progressive
//	progressive: {maxConcurrency: 10%, progressDeadline: 1h}
//
// A rollout to several placements goes to each by its own strategy, unless -placement chooses one. A cluster of two
// belongs to the first. Other kinds have no part in a rollout; a note counts them.
//
// # A rollout under way
//
// Where files have what a hub wrote for the rollout, it goes on from there, at the present time or at -start. A
// ManifestWork whose spec is the template's has the present version, and the library reads its status, see package
// status. Another waits for its turn. An add-on has it if its configurations are those that the status of the
// ClusterManagementAddOn wants for the placement, and a replicated policy if its templates are the root's.
// Clusters that have it and are not done behave from then on as those that start, except that one whose deadline is over
// stays so.
//
// # Policies
//
// A Policy goes to the placements of all PlacementBindings that have it as their subject, itself or in a PolicySet:
//
//	simulate -f testdata/policy/progressive.yaml
//
// A Placement's clusters are those of its PlacementDecisions, or else selected and divided as for any other rollout. A
// PlacementRule's are its status.decisions; without them it selects nothing, and a note says so. Of a Policy,
// the templates and dependencies are not looked at.
//
// simulate exposure says in which passes it goes where, and how many clusters can get what does not work on them: only what is
// enforced counts.
//
// The output of a rollout says, besides, what each binding selects, binds and enforces, which bindings are ignored, and
// which action each cluster gets in the end, decided by whom. Below the line of a wave is what was written to the
// replicated policies, such as "enforce/Progressing: a b" for their action and their rollout status; the line of
// a first pass, "inform/ToApply", comes before what it lets start. At the end stands the root policy's status.
//
// That a cluster succeeds means that it is Compliant, that it fails NonCompliant. A policy that informs is done
// where it is reported on, whatever is reported. A cluster that the rollout holds at inform reports nothing.
//
// # What is selected without PlacementDecisions
//
// What OCM's scheduler selects. Clusters count that are in a cluster set which a ManagedClusterSetBinding binds to the
// Placement's namespace, and of those in the sets that the Placement names, if it names any. Where the files have no such
// binding, all sets are taken as bound. Sets go by their label, or by their selector where the files hold the
// ManagedClusterSet. Clusters that are being deleted, that fit no predicate or whose taints are not tolerated are not
// selected. Predicates are ORed,
// the selectors of one for labels and claims ANDed; without predicates every cluster fits. numberOfClusters takes the
// first by name, where OCM would take them by score, and says so. CEL is refused. Prioritizers and spreading are not
// followed, and a note says so. JSON counts under placement.dropped each cluster that is not selected, by the rule.
//
// OCM's scheduler does not look at spec.hubAcceptsClient. By its API a hub taints a cluster that never was available as
// unreachable, and one that it does not accept can't be. A file that was not read from a hub, which shows by its having
// neither uid nor resourceVersion, goes without that taint: such a cluster is dropped unless the Placement tolerates it. A
// hub's file is taken at its word. Where a cluster is selected that the hub does not accept, nothing reaches it, since the
// hub has no namespace for it: it never answers, and a note says so.
//
// # How clusters behave
//
// A cluster succeeds 10 minutes after it got the workload, or after -takes. Flags say who does not:
//
//	-fail edge-7=5m -fail 'lab-*'    these fail, after 5 minutes and after -takes
//	-fail-share 5% -seed 3           5% of the others fail, drawn at random
//	-fail-rate 0.3%                  of the others each fails with this chance
//	-takes 5m-20m                    each takes a time of its own between these
//	-never edge-9                    this one never answers
//	-recover 2h                      all of those succeed later after all
//	-retry 2/30m -fail-attempts 1    half an hour after a breach, or else after the end, what failed is tried again, twice
//	                                 at most, and succeeds then
//
// A document says the same and more, rule by rule; the first that matches a cluster decides, and those of
// the flags come first:
//
//	apiVersion: examples.cohort-ocm.io/v1
//	kind: Behavior
//	spec:
//	  seed: 7
//	  clusters:
//	  - names: [edge-007, lab-*]
//	    outcome: Fails               # or Succeeds, the default, or NeverAnswers
//	    after: 5m
//	    recoversAfter: 2h
//	    attempts: 1                  # it succeeds where -retry tries again; else it fails each time
//	  - selector: {matchLabels: {link: slow}}
//	    groups: [canary]             # names of decision groups
//	    after: 40m
//	  - share: 5%                    # or a count, or less than 1%, rounded up
//	    outcome: NeverAnswers
//	  - rate: 0.3%                   # the chance of each cluster by itself
//	    outcome: Fails
//	    after: 5m-20m                # each a time of its own between these
//	  - after: 12m                   # everybody else
//
// The seed decides all luck, and a cluster's own does not depend on who else there is. Where a cluster is tried again, rates
// and ranges are drawn anew.
//
// A cluster that never answers is Progressing until its progressDeadline has passed. One that succeeds after that
// has timed out and recovered; while it then soaks, there may be one more in flight than maxConcurrency, as its
// slot went to another.
//
// # The way back
//
//	-abort-on-breach       as soon as more clusters failed than the strategy tolerates
//	-abort-at 2h           so long after the start, whatever has happened, unless the rollout is complete
//	-back-by-strategy      within the limits of the strategy, in the reverse order, and not all at once
//
// Whoever has the version by then gets the one before again, which is what rollout.Revert has a controller do. The report
// goes on with a table of that, JSON with wayBack, explain with what it is for the cluster, and a picture has both. A
// cluster takes as long to go back as it took to succeed or fail; one that did not answer does not answer then
// either. Of a thousand clusters and more that time is rounded up to a hundredth of the longest, as each wave of the way back
// costs a whole plan. Gates, a ramp and waits have no part in it. A Policy has no way back: whoever rolls out the one before
// plays that as a rollout of its own.
//
// # Pictures
//
//	go run -C examples/simulate . -f testdata/canary-fails/retail.yaml -svg /tmp/a.svg -png /tmp/a.png -chart
//
// -svg and -png draw the clusters by state over time, and below them each group against the same time. A flag says when
// the rollout stopped, or was complete. -chart draws in the terminal, in colour unless NO_COLOR is set.
//
// # Comparing strategies
//
//	go run -C examples/simulate . compare -f testdata/design/clusters.yaml -f testdata/design/placement.yaml \
//		-strategy testdata/design/strategies.yaml -takes 5m-20m -fail-rate 0.3% -runs 1000 -seed 7
//
// Each rollout in the files, or that of -rollout, and each RolloutStrategy in those of -strategy are played over the same
// fleet with the same luck, a Policy by what each strategy comes to for it: how long each takes in half of all runs and in 95 of 100, how likely it is to stop a good version, and how
// many clusters have a bad one when it is stopped. The flags that say who fails, and the Behavior, have no part in
// that. simulate compare -h has the others.
//
// # Output
//
// A wave is an instant at which something happened: a cluster changed its status, a deadline or a soak
// ended, a gate opened. Its line says how many clusters started, and how things stand after that: how many
// are in flight, soaking, done, failed and timed out, and why the rest waits. A failed cluster is in flight, too,
// until its deadline. Times are those since the start, also in the sentences of the text, unless -start says when that is or
// the rollout is under way. A table has at most 60 rows, or as many as -rows says: waves that follow one another share a
// row, and so do groups without names. With -o json the same comes as one object that also names the clusters of every wave. Of more
// than 1,000 waves, or than -rows says, some say why the rest waits; each such sentence costs a whole plan.
//
// The last lines say since when nothing starts any more, how it ended, and in the library's words why:
//
//	Complete              every cluster succeeded and soaked
//	CompleteWithFailures  as many failed as the strategy tolerates
//	AtGate                all that wait do so for a gate that someone has to open
//	Stuck                 clusters wait or are in flight, and nothing happens any more
//	Breached              more failed than the strategy tolerates
//	NothingSelected       there is no cluster; a line for each rule says how many it drops
//	TakenBack             it was aborted before it came to an end by itself
//
// # Beyond the strategy
//
// These flags are the options of package rollout that the API's strategy lacks:
//
//	-group-order 'prod after canary,staging'   under ProgressivePerGroup these groups come after those, in place of the
//	                                           order of their index; a semicolon or another flag for more, any for no order
//	-gate prod=4h -gate 3                      a gate before the group of this name or index, closed for a time or for ever
//	-uncounted power=off -uncounted 'lab-*'    nobody waits for these clusters, and their failure stops nothing
//	-failed-before edge-7                      its failure is in no budget, as it was there before the rollout
//	-max-concurrency-per-group 5               as many clusters of each group at a time, under ProgressivePerGroup
//	-ramp 2, -max-starts 10/1h                 start gently, and so many within a time
//	-wait-between-groups 1h                    time to look at a group before the next one starts
//	-failed-frees-slot                         a failed cluster makes room for the next at once
//
// They have no part where a policy informs: all those clusters get it at once. A gate, a name and an order are those of the
// groups in each of several placements. Groups without a name are called - in an order. Clusters are named by a name, by a
// pattern, or by labels of their ManagedClusters, as kubectl takes them after -l.
//
// The exit status is 0 for every rollout that was played through, whatever became of it, unless -exit-code asks for that
// of the outcome, which -h lists; 2 for wrong input, with one line that names file, object and field; 1 if the output
// could not be written. (go run turns any exit status but 0 into 1, and prints it.) Fields that the API does not have are
// wrong input. Below a status they are not, as a newer server may have written them, but for a PlacementDecision, which
// has nothing else, and a PlacementRule, of which nothing else is read.
//
// # How it is made
//
// Package scenario makes the rollouts of the objects. Package behavior says what each cluster will report.
// Package simulation is the loop of a controller in virtual time, told by a rollout.Planner who may start. For a Policy
// the hub of package policy stands between, which keeps the replicated policies. Package story tells what it is for one cluster. Package output writes the report.
package main

// SPDX-License-Identifier: Apache-2.0

// Package compare compares Cohort with what OCM controllers use today, open-cluster-management.io/sdk-go v1.3.0:
// RolloutHandler.GetRolloutCluster of pkg/apis/cluster/v1alpha1 and PlacementDecisionClustersTracker of v1beta1. It is a
// module of its own, so that importers of Cohort do not inherit the reference. It consists of tests and benchmarks, of
// one controller written three times (migration), and of two commands: cmd/ratios makes the table of costs, cmd/audit
// finds stored strategies that Cohort refuses.
//
// # What is compared
//
// A world is a strategy, decision groups and reports; both sides read the same PlacementDecisions and get
// the same reports at the same time. The result of each becomes an answer:
//
//	answer      cohort                       sdk-go
//	error       Plan or Read returned one    GetRolloutCluster or Refresh returned one
//	start       Start                        ClustersToRollout with the status ToApply
//	in flight   InFlight                     ClustersToRollout with any other status
//	timed out   TimedOut                     ClustersTimeOut
//	removed     Removed                      ClustersRemoved, by name
//	breach      Breach is not nil            MaxFailureBreach
//	recheck     RecheckAfter                 RecheckAfter; 0 where it is nil
//
// The reference has one list for the clusters that get the workload now and those that keep it. Their status tells them
// apart, since it lists a cluster as ToApply only if the cluster starts. Both list a soaking cluster as Succeeded. Neither
// lists a cluster that was reported TimeOut among the timed out, only clusters with a deadline that passed since their
// report. The order within a list is not compared: here the rules fix it (R8), there it follows the reports or the
// names. An unknown status is in flight on both sides, a report without a time of transition has the nil time there and
// the zero time here, and the statuses map by their names. sdk-go is not told when a version was applied, since it has
// no field for that.
//
// The drop-in, rollout/sdkgo, is the third side on random fleets: it must give the same answer as Cohort. It also runs
// sdk-go's own test files.
//
// # Where they differ
//
// Each class of differences is a predicate over the world, in the classes_*_test.go files: it looks at the
// input and at neither answer. A world on which the answers differ and that no class contains fails the
// tests.
package compare

// SPDX-License-Identifier: Apache-2.0

// Package plugins calls a rollout plugin for each cluster of a ManifestWorkReplicaSet, as in OCM's enhancement 231
// (ManifestWorkReplicaSet Rollout Plugin). A plugin is another party's server. It prepares a cluster before its turn,
// changes the work for it, is informed of the progress, and validates each cluster that succeeded.
//
//	Initialize                  when the plugin is first used, until it answers     condition PluginLoaded
//	BeginRollout                before the work of a cluster is written              an error: the work is not written, and asked again
//	MutateManifestWork          right after, with the work that would be written     likewise
//	ProgressRollout             in each reconcile, with how all clusters stand       an error is told; nothing waits for it
//	ValidateRolloutCompletion   while a cluster is Validating                        SUCCEEDED, FAILED or INPROGRESS
//
// The calls are POST requests with JSON, below the endpoint: POST ENDPOINT/ValidateRolloutCompletion. The enhancement asks
// for gRPC; messages and names are its own, so a gateway is a few lines. Each call takes at most 30 seconds. The controller
// may repeat any call, also after a crash, so calls must be idempotent: the same cluster, version and attempt are the same
// call.
//
// # Effects of a plugin on a rollout
//
// A plugin blocks and fails clusters. It starts none, and no limit depends on it. If a plugin hangs, is gone or answers
// nonsense, its cluster stays Validating until the progressDeadline of the strategy, which begins anew with the success,
// times it out. The error is then the message of the report, which explanations repeat. An answer names the version and the
// attempt that it is about, if the plugin knows them; an answer about another one does not count. A yes or a no is stored
// in the work of the cluster before it counts, so that it survives a restart; then the plugin is not called again.
//
// A set names its plugin in the annotation cohort.open-cluster-management.io/plugin, since the strategy of the API has no
// such field yet. A set that names an unregistered plugin starts no further cluster.
//
// Add the annotation together with a new template. Otherwise clusters that succeeded long ago are validated, too, and no
// other cluster starts until they have a verdict. With a minSuccessTime their answers are recorded already, so they are
// past the progressDeadline of a validation at once. Without one the answers are recorded when the annotation is added, and
// the deadline begins then.
//
// # Departures from the enhancement
//
//   - HTTP instead of gRPC; a retry is the next reconcile, not the transport's.
//   - A request has the cluster's Position, which the user stories ask for and the messages lack, and the attempt. A
//     response may say what it is about.
//   - ValidateRolloutCompletion is called until the deadline has passed, which the enhancement requires, and which package
//     rollout decides.
//   - The annotation instead of rolloutStrategy.plugin: a plugin belongs to a set, and to all of its placements.
//   - The flag -plugin NAME=URL instead of workConfiguration.plugins. There is no field for trust: the process trusts the
//     certificates of the machine, or of SSL_CERT_FILE.
//   - Initialize is called when a set first names the plugin, not when the controller starts: an unused plugin blocks no
//     set.
//   - ProgressRollout is called in each reconcile, after its writes. The enhancement says so in one place, says before them
//     in another, and in a third says when the feedback changed.
//   - manifestRevisionName is the version with which works are stamped: a set has ControllerRevisions only with -rollback.
//     totalClusterCount leaves out clusters that belong to an earlier placement. Waiting clusters are in no list, as in the
//     enhancement.
//   - An error of BeginRollout, MutateManifestWork or ProgressRollout is an event, Refused, like for a work that the API
//     server rejects. The enhancement puts it into the condition Progressing, which the API's sets do not have. The message
//     of a validator is in the condition PlacementRolledOut.
//   - A state that its table lacks, Progressing False and Degraded True, is validated, since package status calls it a
//     success.
//   - abortOnFailure and status.abort are enhancement 229's failureStrategy: see package rollback. A plugin does not decide
//     a rollback, but a cluster that rolls back is begun, mutated and validated like any other.
//   - A mutated work keeps its namespace, its name, and the labels and annotations of the controller.
package plugins

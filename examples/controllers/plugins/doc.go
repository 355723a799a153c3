// Package plugins lets a rollout plugin have its say about each cluster of a ManifestWorkReplicaSet, as OCM's enhancement 231 (ManifestWorkReplicaSet
// Rollout Plugin) has it. A plugin is a server of someone else's: it prepares a cluster before its turn, changes the work for it, hears how the
// rollout goes, and says of each cluster that succeeded whether it is good.
//
//	Initialize                  when the plugin is first used, until it answers     condition PluginLoaded
//	BeginRollout                before the work of a cluster is written              an error: the work is not written, and asked again
//	MutateManifestWork          right after, with the work that would be written     likewise
//	ProgressRollout             in each reconcile, with how all clusters stand       an error is told; nothing waits for it
//	ValidateRolloutCompletion   while a cluster is Validating                        SUCCEEDED, FAILED or INPROGRESS
//
// The calls are POST requests with JSON, below the endpoint: POST ENDPOINT/ValidateRolloutCompletion. The enhancement asks for gRPC; messages and names
// are its own, so a gateway is a few lines. Each call takes at most 30 seconds. The controller may repeat any of them, after a crash as well, so they
// must be idempotent: a cluster, its version and its attempt are the same call.
//
// # What a plugin can do to a rollout
//
// It holds up and fails clusters; it starts nobody, and no limit depends on it. A plugin that hangs, is gone or answers nonsense leaves its cluster
// Validating, until the progressDeadline of the strategy, which begins anew with the success, times it out. What went wrong is the message of the
// report then, which explanations repeat. An answer names the version and the attempt that it is about, if the plugin knows; about another one it counts
// for nothing. A yes or a no is noted in the work of the cluster before it counts, so that a restart knows it; after that nobody asks again.
//
// A set names its plugin in the annotation cohort.open-cluster-management.io/plugin, as the strategy of the API has no such field yet. One that
// names a plugin that is not registered starts nobody new.
//
// Add the annotation together with a new template. Otherwise clusters that succeeded long ago are validated, too, and nobody new starts until they
// have a verdict. With a minSuccessTime their answers are noted, and they are past the progressDeadline of a validation at once. Without one
// the answers are noted when the annotation comes, and the deadline begins then.
//
// # Departures from the enhancement
//
//   - HTTP instead of gRPC; retries are the next reconcile, not the transport's.
//   - A request has the cluster's Position, which the user stories ask for and the messages lack, and the attempt. A response may say what it is about.
//   - ValidateRolloutCompletion is asked while the deadline has not passed, which the enhancement says, and which package rollout decides.
//   - The annotation instead of rolloutStrategy.plugin. So a plugin is of a set, and of all of its placements.
//   - The flag -plugin NAME=URL instead of workConfiguration.plugins. Whom to trust is not a field: the certificates that the process trusts are those of the
//     machine, or of SSL_CERT_FILE.
//   - Initialize is called when a set first names the plugin, and not when the controller starts: a plugin that nobody uses stops nobody.
//   - ProgressRollout is called in each reconcile, after its writes. The enhancement says so in one place, in another before them, and in a third that it
//     is called where the feedback changed.
//   - manifestRevisionName is the version that works are stamped with: only with -rollback has a set ControllerRevisions. totalClusterCount leaves out
//     clusters that belong to a placement before. Clusters that wait are in no list, as in the enhancement.
//   - An error of BeginRollout, MutateManifestWork or ProgressRollout is an event, Refused, as for a work that the API server refuses. The enhancement
//     puts it into the condition Progressing, which the API's sets do not have. What a validator says stands in the condition PlacementRolledOut.
//   - A state that its table lacks, Progressing False and Degraded True, is validated, as package status calls it a success.
//   - abortOnFailure, and status.abort beside it, are enhancement 229's failureStrategy: see package rollback. A plugin is not asked about it, but a cluster
//     that goes back is begun, mutated and validated like any other.
//   - A mutated work keeps its namespace, its name, and the labels and annotations of the controller.
package plugins

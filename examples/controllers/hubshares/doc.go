// SPDX-License-Identifier: Apache-2.0

// Package hubshares stores the limits of ManifestWorkReplicaSets that are rolled out over many hubs. It runs the algorithm
// of rollout/shares on the API server of a coordinator hub, and needs only resourceVersions, watches and Leases.
//
// A shared set is the same on each hub and on the coordinator hub: namespace, name, template, and strategy. Its annotation
// [HubsAnnotation] names the hubs. Your tool of choice propagates it. On each hub the controller works places the
// ManifestWorks, with a [Hub]. On the coordinator hub the command divider divides the limits, with a [Divider].
//
// # The account
//
// For each hub, version and placement of a set there is an [Account] on the coordinator hub, in the namespace of the hub.
// (If the hub is a managed cluster of the coordinator hub, that is its cluster namespace.) An account has the hub's shares
// of the limits. Each field has one writer:
//
//	metadata, spec.rollout   the coordinator hub   once; the finalizer stays until the account has no shares
//	spec.grant               the coordinator hub   the shares that the hub may take, and until when
//	spec.seen                an operator           what is in flight on a silent hub
//	status                   the hub               the shares that it has taken, and their use
//
// All are updates with the resourceVersion that was read, so a write that arrives late or twice fails with a conflict. The
// definition rejects a grant or a report that is older than the stored one. A hub needs these permissions on the
// coordinator hub, only in its own namespace:
//
//   - {apiGroups: [cohort.open-cluster-management.io], resources: [accounts], verbs: [get, list, watch]}
//   - {apiGroups: [cohort.open-cluster-management.io], resources: [accounts/status], verbs: [update]}
//
// The command divider needs these, and those for a lease:
//
//   - {apiGroups: [cohort.open-cluster-management.io], resources: [accounts], verbs: [get, list, watch, create, update, delete]}
//   - {apiGroups: [work.open-cluster-management.io], resources: [manifestworkreplicasets], verbs: [get, list, watch]}
//   - {apiGroups: [work.open-cluster-management.io], resources: [manifestworkreplicasets/status], verbs: [update]}
//
// # How it runs
//
//   - One process acts at a time, on each hub and on the coordinator hub, by a Lease (-leader-elect).
//   - A new process of a hub does nothing for the time of -slowest-write.
//   - A hub plans with the shares in its account, from a cache that may be stale, without a request. Reports are written in
//     parallel: if the coordinator hub is unreachable, nothing on the hub waits for it.
//   - -slowest-write is the longest time from a plan until one of its starts is stored. Half of it is for the list of
//     starts, after which the set is planned again, and half for one write. A request that has arrived is ended by the API
//     server (--request-timeout, a minute by default), not by the client.
//   - The coordinator hub reads the accounts live, and reconciles a set at most once in each -shares-every.
//   - When a hub has not the rollout any more (another version, or the set is gone), it reports that nothing is in use, and
//     the account is deleted.
//   - A hub that is removed from the annotation keeps its account as long as it has shares. Therefore delete the set on
//     that hub first.
//
// # What operators see and do
//
// On a hub, the status of the set says that it has no share left for a start. On the coordinator hub, kubectl get accounts
// -A shows the shares of each hub. The set's condition [Divided] says which hubs wait, for how long, and which have unused
// shares. It also says which strategy cannot be divided: then nothing starts.
//
// When a hub is lost, inspect its clusters after spec.grant.expires, and write into its account what is in flight there:
//
//	kubectl patch account NAME -n HUB --type merge -p \
//	  '{"spec":{"seen":{"report":NUMBER,"inFlight":0,"failed":0,"time":"2026-01-02T10:15:00Z"}}}'
//
// NUMBER is status.number. From then on the unused shares of the hub are free.
//
// # Limitations
//
// Mandatory groups, ProgressivePerGroup and All are not divided: package rollout/shares says why, and shows barriers. A
// cluster that moves between hubs while it is in flight is not ignored automatically. An operator ignores it, as any
// deselected cluster (annotation ignore), once the account of its new hub shows it. Package rollout/shares has the conditions.
package hubshares

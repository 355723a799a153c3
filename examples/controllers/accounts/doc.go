// Package accounts holds the limits of ManifestWorkReplicaSets that are rolled out over many hubs. It is the engine of
// rollout/rights: the API server of a hub of hubs, with its resourceVersions, its watches and its Leases, and nothing else.
//
// A set that is shared is the same on each hub and on the hub of hubs: namespace, name, template, and strategy. Its annotation
// [HubsAnnotation] names the hubs. Whatever propagates objects to hubs propagates it. On a hub the controller works places the
// ManifestWorks, with a [Hub]. On the hub of hubs the command rights divides the limits, with a [Divider].
//
// # The account
//
// For each hub, version and placement of a set there is an [Account] on the hub of hubs, in the namespace of the hub (where that is a managed
// cluster of the hub of hubs, its cluster namespace). Each field has one writer:
//
//	metadata, spec.rollout   the hub of hubs   once; the finalizer stays until no right is held
//	spec.grant               the hub of hubs   how many rights the hub may take, and until when
//	spec.seen                a person          what is in flight on a hub that is silent
//	status                   the hub           how many rights it has taken, and what it does with them
//
// All are updates with the resourceVersion that was read. So a write that comes late, or twice, is refused. The definition refuses a
// grant and a report that are older than what is there. So a hub needs these rights on the hub of hubs, in its own namespace alone:
//
//   - {apiGroups: [cohort.open-cluster-management.io], resources: [accounts], verbs: [get, list, watch]}
//   - {apiGroups: [cohort.open-cluster-management.io], resources: [accounts/status], verbs: [update]}
//
// And rights needs these, beside those to a lease:
//
//   - {apiGroups: [cohort.open-cluster-management.io], resources: [accounts], verbs: [get, list, watch, create, update, delete]}
//   - {apiGroups: [work.open-cluster-management.io], resources: [manifestworkreplicasets], verbs: [get, list, watch]}
//   - {apiGroups: [work.open-cluster-management.io], resources: [manifestworkreplicasets/status], verbs: [update]}
//
// # How it runs
//
//   - One process acts at a time: on each hub and on the hub of hubs, by a Lease (-leader-elect).
//   - A new process of a hub waits for -slowest-write before it looks. Until then it does nothing at all.
//   - A hub plans with what its account allows, in a copy that may be old, and asks nobody. A report is written beside the plan: where the
//     hub of hubs is out of reach, nothing on the hub waits for it.
//   - -slowest-write is the time from a plan until a start of it is stored. Half of it is for the list of starts, after which the set is
//     planned anew, and half for one write. A request that has arrived is ended by the API server (--request-timeout, a minute by
//     default), and not by the client.
//   - The hub of hubs reads the accounts from the API server, and looks at a set at most each -rights-every.
//   - A rollout that a hub does not have any more, of another version or of a set that is gone, is reported as empty, and its account is deleted.
//   - A hub whose name is taken out of the annotation keeps its account as long as it holds a right. So take the set away from that hub first.
//
// # What people see and do
//
// On a hub, the set says that it has no right to start. On the hub of hubs, kubectl get accounts -A shows who has how many, and
// the set's condition [Divided] says which hubs wait, how long, and who has rights to spare. It also says which strategy cannot be
// divided: then nothing starts.
//
// When a hub is gone, look at its clusters after spec.grant.expires, and write into its account what is in flight there:
//
//	kubectl patch account NAME -n HUB --type merge -p \
//	  '{"spec":{"seen":{"report":NUMBER,"inFlight":0,"failed":0,"time":"2026-01-02T10:15:00Z"}}}'
//
// NUMBER is status.number. From then on the other rights of the hub are free.
//
// # What is left out
//
// Mandatory groups, ProgressivePerGroup and All: package rollout/rights says why, and shows barriers. Clusters that move between hubs while
// they are in flight are not given up by themselves: a person does that, as for any cluster that left (give-up), once the account of the hub that
// the cluster came to shows it. Package rollout/rights says what has to be there.
package accounts

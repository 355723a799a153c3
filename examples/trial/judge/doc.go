// Package judge says from a recording of watches alone which limits of a rollout were broken, when, and by which write. It works
// for any controller of ManifestWorkReplicaSets or add-ons. Its verdicts do not use this library; package should asks the library
// what should have happened instead.
//
//	go run ./cmd/trial record > hub.jsonl     needs get, list and watch; until it is interrupted
//	go run ./cmd/trial judge hub.jsonl        exit code 0: nothing is broken, 1: something is, 2: bad input
//
// # Two grades
//
// A controller sees the hub through caches that are late. So a view is what it may have seen: each object as it was at some time
// within the lag (-lag, 2 s by default). A start is Broken if it is wrong in every view, and Suspicious if it is wrong in truth and
// right in some view. A report says how great a lag the starts show.
//
// What lies within the lag leaves no trace: a controller that plans without its own writes is at most suspicious.
//
// # What is judged
//
// Each kind is a constant of [Kind]. Conditions have whole seconds, so times are read with a grace of 1.5 s in favour of the
// controller. A version is the hash of the manifests, or the configurations of an add-on: a stamp may lie. Decisions are complete
// if the Placement's status names each of them in its group, and counts their clusters. Deletions while they are not complete are
// judged by what is selected before and afterwards.
// [Vanished] and [Unfinished] are faults of who writes the decisions.
//
// Not judged: clusters that left with a version, versions taken back, clusters that do not count, pauses and gates. For the last
// two set a long -patience, or [Stuck] is found. Once a cluster has left or moved, [Stuck] is only suspicious.
//
// # Recordings
//
// A recording is a file of lines of JSON, each a [Line]:
//
//	{"type":"BEGIN","at":"2026-01-01T00:00:00Z"}                    all objects follow, each as ADDED
//	{"type":"LISTED","at":"…"}                                      they are all; from here on, events of watches
//	{"type":"MODIFIED","at":"…","object":{…}}                       an event, with the object as the API server sends it
//	{"type":"BOOKMARK","at":"…"}                                    until now there are no others
//	{"type":"HOLE","at":"…","kind":"ManifestWork","reason":"…"}     a watch was lost; its objects follow, then LISTED with the kind
//
// Resource versions order the events between two lists. What happened in a hole, or so soon after it that a view reaches into it,
// is not judged, and the report says so. A recorder that begins again appends a BEGIN.
//
//	go run ./cmd/trial excerpt hub.jsonl 4711      the fewest lines that show the finding of line 4711: a recording by itself
//	go run ./cmd/trial anonymise hub.jsonl         names are hashed, and what is not judged is left out
package judge

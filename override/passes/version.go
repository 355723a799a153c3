package passes

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// VersionOf tells one content of a replicated policy from another: it is a hash of its spec, without the action, which the rollout
// sets, and without the strategy. Give it what would be written, as dependency.Replicate makes it, with hub templates resolved.
//
// It serves three ends. Of the policy for any cluster, before its hub templates are resolved, it is the version for [Propagate]. Of the
// policy for one cluster, resolved, it is the hash to note beside. And where a stored replica has this version and hash, and its own
// VersionOf is another, somebody edited it ([Replica].Edited).
//
// The policy is not changed. One without a spec has the version of an empty one.
func VersionOf(policy *unstructured.Unstructured) string {
	spec, _ := policy.Object["spec"].(map[string]any)
	content := maps.Clone(spec)
	delete(content, "remediationAction")
	delete(content, "rolloutStrategy")
	sum := sha256.Sum256([]byte(text(content)))
	return hex.EncodeToString(sum[:8])
}

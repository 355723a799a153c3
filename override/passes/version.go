// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// VersionOf gives a hash of a replicated policy's spec, without the action, which the rollout sets, and without the strategy. Give
// it the policy that would be written, as dependency.Replicate makes it.
//
// Use it for three things. Before hub templates are resolved, the hash is the version for [Propagate]. With a cluster's hub
// templates resolved, it is the hash to note in an annotation of the replica. If a stored replica has such a hash, and
// the replica's own VersionOf differs, the replica was edited by hand ([Replica].Edited), whatever its version.
//
// The policy is not changed. A policy without a spec has the hash of an empty spec.
func VersionOf(policy *unstructured.Unstructured) string {
	spec, _ := policy.Object["spec"].(map[string]any)
	content := maps.Clone(spec)
	delete(content, "remediationAction")
	delete(content, "rolloutStrategy")
	sum := sha256.Sum256([]byte(text(content)))
	return hex.EncodeToString(sum[:8])
}

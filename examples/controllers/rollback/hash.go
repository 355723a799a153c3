// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/rand"
	workv1 "open-cluster-management.io/api/work/v1"
)

// ComputeHash names the content of a template as in the enhancement, and as Kubernetes' own controllers do. The hash
// depends on the Go type: another version of the API may have another hash for the same template. Therefore it only names a
// new revision. Later a template is found by its content.
func ComputeHash(template *workv1.ManifestWorkSpec, collisionCount *int32) string {
	hasher := fnv.New32a()
	fmt.Fprintf(hasher, "%v", dump.ForHash(*template))
	if collisionCount != nil {
		count := make([]byte, 8)
		binary.LittleEndian.PutUint32(count, uint32(*collisionCount))
		hasher.Write(count)
	}
	return rand.SafeEncodeString(fmt.Sprint(hasher.Sum32()))
}

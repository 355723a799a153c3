package rollback

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/rand"
	workv1 "open-cluster-management.io/api/work/v1"
)

// ComputeHash names the content of a template as the enhancement says, which is how Kubernetes names those of its own controllers. It
// follows from the Go type: with another version of the API it may be another one for the same template. So it only names a
// revision when that is made. Afterwards a template is found by its content.
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

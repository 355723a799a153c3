// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// specWritten gives the newest time at which a manager wrote the spec, as far as the managed fields tell, or zero. It
// relies on these properties of an API server:
//
//   - each entry is of one manager, operation and subresource, and its time is when the manager last changed the
//     object, so not earlier than its last change of a field that it owns,
//   - a write of the spec's fields leaves "f:spec" at the top of the writer's entry,
//   - writes of the status have entries with the subresource "status".
//
// A time may be too late, where the same manager later changed only labels. The manager that stamped the work is
// left out unless all count: it may label the work every minute, and would put off the deadline of a silent agent each
// time. A time is too early in one case: the last change of the spec only removed fields, and was made by a manager
// that owns no field of the spec.
func specWritten(entries []metav1.ManagedFieldsEntry, all bool) time.Time {
	var newest time.Time
	for i := range entries {
		entry := &entries[i]
		if entry.Subresource != "" || entry.Time == nil || !entry.Time.After(newest) {
			continue
		}
		if spec, stamp := owns(entry.FieldsV1); spec && (all || !stamp) {
			newest = entry.Time.Time
		}
	}
	return newest
}

// owns says whether "f:spec" is at the top of the fields, and whether the annotation that has a stamp's time is among
// them.
func owns(fields *metav1.FieldsV1) (spec, stamp bool) {
	if fields == nil || !bytes.Contains(fields.Raw, []byte(`"f:spec"`)) {
		return false, false
	}
	var top struct {
		Spec     json.RawMessage `json:"f:spec"`
		Metadata struct {
			Annotations map[string]json.RawMessage `json:"f:annotations"`
		} `json:"f:metadata"`
	}
	if json.Unmarshal(fields.Raw, &top) != nil {
		return false, false
	}
	_, stamp = top.Metadata.Annotations["f:"+annotationApplied]
	return top.Spec != nil, stamp
}

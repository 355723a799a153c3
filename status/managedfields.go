package status

import (
	"bytes"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// specWritten gives the newest time at which a manager wrote the spec, as far as the managed fields tell; the zero time
// where they don't. It relies on what an API server does:
//
//   - each entry is of one manager, operation and subresource, and its time is the time of the manager's last write that
//     changed the object: it is not earlier than the manager's last change of a field that it owns,
//   - a write of the spec's fields leaves "f:spec" at the top of the writer's entry,
//   - what writes the status has entries with the subresource "status".
//
// A time may be too late, where the same manager later changed only labels. It is too early in one case: the last
// change of the spec only took fields away, and a manager made it that owns no field of the spec.
func specWritten(entries []metav1.ManagedFieldsEntry) time.Time {
	var newest time.Time
	for i := range entries {
		e := &entries[i]
		if e.Subresource == "" && e.Time != nil && e.Time.After(newest) && ownsSpec(e.FieldsV1) {
			newest = e.Time.Time
		}
	}
	return newest
}

// ownsSpec says whether "f:spec" is at the top of the fields.
func ownsSpec(fields *metav1.FieldsV1) bool {
	if fields == nil || !bytes.Contains(fields.Raw, []byte(`"f:spec"`)) {
		return false
	}
	var top struct {
		Spec json.RawMessage `json:"f:spec"`
	}
	return json.Unmarshal(fields.Raw, &top) == nil && top.Spec != nil
}

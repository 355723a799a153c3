// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// Work builds the ManifestWork to write so that a cluster has the wanted version, and says whether anything changes. If
// not, the result is the stored work itself, and need not be written. See [Object].
func Work(stored, wanted *workv1.ManifestWork, version string, attempt int, now time.Time) (next *workv1.ManifestWork, changed bool) {
	return Object(stored, wanted, func(work *workv1.ManifestWork) *workv1.ManifestWorkSpec { return &work.Spec }, version, attempt, now)
}

// Object builds the object to write so that a cluster has the wanted version, and says whether anything changes. Stored is
// the object as it is; nil if there is none. Wanted has namespace, name, labels, annotations and content. The function
// points at the content, such as the spec. The configuration of an add-on is in its status, and takes a second request: see
// the example.
//
// The next object is the stored one with the wanted content, labels and annotations, and with the stamp for version and
// attempt at the time now, which is that of the write (see [status.Stamp]). All else stays as it is stored, since it
// belongs to others: other labels and annotations, finalizers, the status. The stored resourceVersion makes the update fail
// with a conflict if the object has changed since. If nothing is stored, next is a copy of wanted with the stamp. Neither
// argument is changed.
func Object[T interface {
	object
	runtime.Object
}, C any](stored, wanted T, content func(T) *C, version string, attempt int, now time.Time) (next T, changed bool) {
	if isNil(stored) {
		next = wanted.DeepCopyObject().(T)
		status.StampOf(next).NoteOn(next, version, attempt, now)
		return next, true
	}
	meta := metav1.ObjectMeta{Labels: with(stored.GetLabels(), wanted.GetLabels()), Annotations: with(stored.GetAnnotations(), wanted.GetAnnotations())}
	status.StampOf(stored).NoteOn(&meta, version, attempt, now)
	same := same(content(stored), content(wanted))
	if same && maps.Equal(meta.Labels, stored.GetLabels()) && maps.Equal(meta.Annotations, stored.GetAnnotations()) {
		return stored, false
	}
	next = stored.DeepCopyObject().(T)
	next.SetLabels(meta.Labels)
	next.SetAnnotations(meta.Annotations)
	if !same {
		*content(next) = *content(wanted.DeepCopyObject().(T))
	}
	return next, true
}

// with returns a map with the entries of another over it: the map itself if that changes nothing.
func with(all, over map[string]string) map[string]string {
	missing := false
	for key, value := range over {
		had, has := all[key]
		missing = missing || !has || had != value
	}
	if !missing {
		return all
	}
	merged := make(map[string]string, len(all)+len(over))
	maps.Copy(merged, all)
	maps.Copy(merged, over)
	return merged
}

// same says whether two contents are equal as JSON (W14). An API server may return raw JSON with its keys in another order.
func same[C any](a, b *C) bool {
	if equality.Semantic.DeepEqual(a, b) {
		return true
	}
	var texts [2]any
	for i, content := range []*C{a, b} {
		text, err := json.Marshal(content)
		if err != nil || json.Unmarshal(text, &texts[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(texts[0], texts[1])
}

// VersionOf names a version of a workload by a hash of its content, such as the template of a ManifestWorkReplicaSet, or
// the references to an add-on's configurations. Equal JSON gives the same text. The text is empty if the content is not
// valid JSON.
func VersionOf(content any) string {
	text, err := json.Marshal(content)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// SPDX-License-Identifier: Apache-2.0

package status

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	workv1 "open-cluster-management.io/api/work/v1"
)

// Adopt takes over a ManifestWork that a controller wrote that made no stamps. Where the work has no stamp and its spec equals the
// template, it has the version already: Adopt gives a copy with the stamp that says so. The stamp's time is when the work got
// that spec, as FromManifestWork finds it out, so no soak and no deadline starts over. Any other work is given back as it is.
//
// Call it for each work that is read, before you make reports of works and before you write one. Otherwise all works of a hub
// count as outdated on the day on which a controller begins to use stamps, and are written again. Works that are settled need
// no write: with another template they get their stamp.
//
// Specs are compared as JSON, since two spellings of one manifest are the same. The work is not changed, and the copy shares all
// but its annotations with it. A nil work stays nil.
func Adopt(work *workv1.ManifestWork, template workv1.ManifestWorkSpec, version string) *workv1.ManifestWork {
	if work == nil || noted(work).Version != "" || !sameSpec(&work.Spec, &template) {
		return work
	}
	applied := WorkState{Work: work}.applied(noted(work).Applied)
	stamp := Stamp{Version: version, Applied: applied}
	if stands := (WorkState{Work: work}).stands(); stands.hasAnswered() && !applied.IsZero() {
		stamp.Answered = later(applied, stands.LastTransitionTime) // as far as is known; else the first write would be when a soak begins
	}
	adopted := *work
	stamp.write(&adopted)
	return &adopted
}

func sameSpec(a, b *workv1.ManifestWorkSpec) bool {
	if equality.Semantic.DeepEqual(a, b) { // byte for byte, as an API server mostly has them
		return true
	}
	var values [2]any
	for i, spec := range []*workv1.ManifestWorkSpec{a, b} {
		text, err := json.Marshal(spec)
		if err != nil || json.Unmarshal(text, &values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// A work is created, and the cache does not show it. Another create gets no answer, so the object is read from the API
// server.
func ExampleOwn() {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	var cache []*workv1.ManifestWork // empty, because it is stale
	var own writes.Own[*workv1.ManifestWork]

	oslo := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "oslo", Name: "web", ResourceVersion: "7"}}
	_ = own.Wrote(oslo, nil, now) // the answer of the API server
	rome := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "rome", Name: "web"}}
	_ = own.Wrote(rome, fmt.Errorf("connection reset"), now)

	works, uncertain := own.Over(cache, now)
	for _, key := range uncertain {
		fmt.Println("read", key)
		rome.ResourceVersion = "8" // it was made
		if err := own.Read(key, rome, nil, now); err != nil {
			return // nothing may be planned yet
		}
	}
	if len(uncertain) > 0 {
		works, _ = own.Over(cache, now)
	}
	for _, work := range works {
		fmt.Println("plan with", work.Namespace)
	}
	// Output:
	// read rome/web
	// plan with oslo
	// plan with rome
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestValues shows that a controller that does what the documentation says breaks nothing where each cluster has a version of its own: a new value
// of some clusters is rolled out to these alone, within all limits.
func TestValues(t *testing.T) {
	theHub.Values(t, subject)
}

// TestEachDutyOfValues shows that the harness finds a controller that ignores one of the duties there.
func TestEachDutyOfValues(t *testing.T) {
	theHub.EachDutyOfValues(t, subject)
}

// versionFor is the version that a cluster is to have: a hash of what it is to have, so that a new value is a new version there alone.
func (c *controller) versionFor(set *replicaSet, cluster string) string {
	switch c.ignored {
	case DutyOwnVersion:
		return versionOfTemplate(set)
	case DutyOthersVersion:
		return versionOfAll(set)
	}
	return versionOfSpec(ForCluster(set, cluster))
}

// versionOfMemory is the version for which failures count, also of those that left.
func (c *controller) versionOfMemory(set *replicaSet) string {
	if c.ignores(DutyWholeMemory) {
		return versionOfAll(set)
	}
	return versionOfTemplate(set)
}

func versionOfAll(set *replicaSet) string {
	return versionOfTemplate(set) + set.Annotations[replicasAnnotation]
}

// differs says whether clusters are to have something else by now, with the template as it is.
func differs(now, before *replicaSet) bool {
	return now.Annotations[replicasAnnotation] != before.Annotations[replicasAnnotation]
}

// The observer reads which version a cluster is to have, and which it has.
func TestVersionsOfClusters(t *testing.T) {
	s := &tale{}
	set := s.events[s.set("v2", "p")-1].object.(*replicaSet)
	set.Annotations = map[string]string{replicasAnnotation: `{"a": "5"}`}
	for cluster, want := range map[string]string{"a": "v2.5", "b": "v2"} {
		work := &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster}, Spec: ForCluster(set, cluster)}
		if wanted, has := wantedFor(set, cluster), versionIn(work); wanted != want || has != want {
			t.Errorf("%s has %s, and %s is wanted, both must be %s", cluster, has, wanted, want)
		}
	}
	if wantedBy(set) != "v2" || versionOfSpec(set.Spec.ManifestWorkTemplate) != versionOfSpec(ForCluster(set, "b")) {
		t.Error("the template was changed")
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"v1", "v2", true}, {"v2", "v1", false}, {"v2", "v2", false}, {"v2", "v2.1", true}, {"v2.9", "v2.10", true}, {"v2.10", "v2.9", false},
		{"v1.3", "v2", true}, {"v2", "v1.3", false}, {"none", "v1", true},
	} {
		if isOlder(tt.a, tt.b) != tt.want {
			t.Errorf("%s is older than %s: %v", tt.a, tt.b, !tt.want)
		}
	}
}

// A start is judged by what each of the others is to have: with the template that starts, and the number that the cluster has of its own.
func TestOthersAreJudgedByVersionsOfTheirOwn(t *testing.T) {
	for has, complete := range map[string]bool{"v2": false, "v2.5": true, "v2.4": false, "v1.5": false} {
		s := &tale{}
		s.set("v2", "p")
		s.events[0].object.(*replicaSet).Annotations = map[string]string{replicasAnnotation: `{"a": "5", "c": "7"}`}
		s.decide("p", 0, "", "a")
		s.decide("p", 1, "", "b", "c")
		s.place("p", told{"", 1}, told{"", 2})
		template, own, _ := strings.Cut(has, ".")
		a := s.events[s.work("a", template)-1].object.(*manifestWork)
		if own != "" {
			as := &replicaSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{replicasAnnotation: fmt.Sprintf(`{"a": %q}`, own)}}}
			as.Spec.ManifestWorkTemplate = payload(template)
			a.Spec = ForCluster(as, "a")
		}
		a.Status.Conditions = observe(nil, ok, 1, dawn)
		h := s.history()
		for cluster, version := range map[string]string{"b": "v2", "c": "v2.7"} {
			if broken := h.truth(s.now()).forbids(cluster, version, h.until.Add(time.Minute), leniency{}); (len(broken) == 0) != complete {
				t.Errorf("%s where a has %s: %v", cluster, has, broken)
			}
		}
	}
}

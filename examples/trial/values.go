// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// replicasAnnotation is the annotation of a set in which people say how many replicas a cluster has of its own, as JSON: {"cluster1": "5"}.
const replicasAnnotation = "hub.test/replicas"

// ForCluster is what a cluster is to have: the template of the set, and in the worlds of [Hub.Values] with the number of replicas that people
// want there. A change of that number alone is a new version of this cluster alone. The generation of the set stays what it is.
func ForCluster(set *workv1alpha1.ManifestWorkReplicaSet, cluster string) workv1.ManifestWorkSpec {
	spec := set.Spec.ManifestWorkTemplate
	replicas, is := replicasIn(set)[cluster]
	if !is || len(spec.Workload.Manifests) == 0 {
		return spec
	}
	spec = *spec.DeepCopy()
	first := &spec.Workload.Manifests[0]
	first.Raw = bytes.Replace(first.Raw, []byte(`"version":`), fmt.Appendf(nil, `"replicas":%q,"version":`, replicas), 1)
	return spec
}

// replicasIn reads from a set how many replicas clusters have of their own.
func replicasIn(set *replicaSet) (of map[string]string) {
	if text := set.Annotations[replicasAnnotation]; text != "" {
		_ = json.Unmarshal([]byte(text), &of) // the harness wrote it
	}
	return of
}

// withReplicas is the version of a cluster: that of the template, such as v2, and v2.5 where it has 5 replicas of its own.
func withReplicas(template, replicas string) string {
	if replicas == "" {
		return template
	}
	return template + "." + replicas
}

// sameTemplate says whether two versions are of one template.
func sameTemplate(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}

// isOlder says whether a version of a cluster was wanted before another one. Numbers of replicas grow.
func isOlder(a, b string) bool {
	if sameTemplate(a, b) {
		_, a, _ = strings.Cut(a, ".")
		_, b, _ = strings.Cut(b, ".")
		before, _ := strconv.Atoi(a)
		after, _ := strconv.Atoi(b)
		return before < after
	}
	return numberOf(a) < numberOf(b)
}

// beside is the version that a cluster is to have where another one gets a version: of the same template, with its own number.
func (s *scene) beside(version, cluster string) string {
	if s.replicas == nil {
		return version
	}
	template, _, _ := strings.Cut(version, ".")
	return withReplicas(template, s.replicas[cluster])
}

// newReplicas is in a script where people want another number of replicas for some clusters.
const newReplicas = "replicas"

// wantReplicas has people want more replicas in some of the clusters that are selected.
func (p *player) wantReplicas(ctx context.Context, f *placed) error {
	if p.wantsOf == nil {
		p.wantsOf = map[string]string{}
	}
	for range 1 + p.rng.IntN(3) {
		cluster := pick(p.rng, f.selected...)
		has, _ := strconv.Atoi(p.wantsOf[cluster])
		p.wantsOf[cluster] = strconv.Itoa(has + 1)
	}
	text, err := json.Marshal(p.wantsOf)
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, replicasAnnotation, text)
	_, err = p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Patch(ctx, setName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// The duties of a controller of clusters with versions of their own, besides the duties of any controller.
const (
	DutyOwnVersion    Duty = "name what a cluster has of its own in its version"
	DutyOthersVersion Duty = "name nothing of other clusters in it"
	DutyWholeMemory   Duty = "give Memory the version of the template"
	DutyInTurn        Duty = "write a new value only where the plan says so"
)

// valueDuties are those that matter there, with the invariants that are broken without them.
var valueDuties = map[Duty][]Invariant{
	DutyOwnVersion:    {invLeft, invLate},
	DutyOthersVersion: {invUntouched},
	DutyWholeMemory:   {invLeavers},
	DutySecondLook:    {invVersion},
	DutyInTurn:        {invConcurrency},
}

// drawValues makes a world in which clusters have versions of their own.
func drawValues(seed uint64, subject *Subject, ignored Duty) *world {
	w := draw(seed, subject, ignored)
	rng := rand.New(rand.NewPCG(seed, 27))
	w.replicasDiffer = true
	for range 2 + rng.IntN(3) {
		w.script = append(w.script, change{time.Duration(100+rng.IntN(1800)) * time.Millisecond, newReplicas})
		i := rng.IntN(len(w.script))
		last := len(w.script) - 1
		w.script[i], w.script[last] = w.script[last], w.script[i]
	}
	w.focusValues(rng)
	return w
}

// focusValues bends a world towards where an ignored duty matters.
func (w *world) focusValues(rng *rand.Rand) {
	soon := func() time.Duration { return time.Duration(200+rng.IntN(1000)) * time.Millisecond }
	switch w.ignored {
	case "":
	case DutySecondLook:
		for i := range w.script {
			w.script[i].what = newReplicas
		}
	case DutyInTurn: // several clusters get new values at a time
		w.initial, w.heals = w.initial[:4], false
		w.plain(clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("100%")}, 1)
		for c := range w.agentMode {
			w.agentMode[c] = []agentMode{slow}
		}
		w.script = []change{{10 * time.Second, newReplicas}, {soon(), newReplicas}, {soon(), newReplicas}}
	case DutyWholeMemory:
		// A failed cluster leaves, and its failure is only in the record when another one gets a new value.
		w.initial, w.breaks, w.heals = w.initial[:4], 0, false
		w.plain(clusterv1alpha1.RolloutConfig{ProgressDeadline: "4s"}, 1)
		for c := range w.agentMode {
			w.agentMode[c] = []agentMode{broken}
		}
		w.script = []change{{soon(), leaves}, {soon(), leaves}, {soon(), leaves}, {8 * time.Second, newReplicas}}
	default:
		w.plain(clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("100%")}, 2)
		for c := range w.agentMode {
			w.agentMode[c] = []agentMode{quick}
		}
		w.script = []change{{4 * time.Second, newReplicas}, {soon(), newReplicas}}
	}
}

// Values shows that a controller breaks nothing where clusters have versions of their own.
// What a cluster is to have, the subject takes from [ForCluster].
func (h *Hub) Values(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays)
	h.rollouts(t, subject, "Values", *flagRollouts, func(seed uint64) *world { return drawValues(seed, subject, "") })
}

// EachDutyOfValues shows that the harness finds a controller that ignores one of the duties where clusters have versions of their own: one of
// those that are given, or of all if none is.
func (h *Hub) EachDutyOfValues(t *testing.T, subject *Subject, duties ...Duty) {
	h.suits(t, subject, needSays)
	if *flagTraces {
		t.Skip("versions of single clusters are not judged from traces: see the page of package judge")
	}
	h.eachDuty(t, some(valueDuties, duties), subject, func(seed uint64, d Duty) *world { return drawValues(seed, subject, d) })
}

// some are those of the duties that are given, or all if none is.
func some(of map[Duty][]Invariant, duties []Duty) map[Duty][]Invariant {
	of = maps.Clone(of)
	maps.DeleteFunc(of, func(d Duty, _ []Invariant) bool { return len(duties) > 0 && !slices.Contains(duties, d) })
	return of
}

// SPDX-License-Identifier: Apache-2.0

package rollback_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cohort-ocm/cohort/examples/controllers/rollback"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// TestTables plays the enhancement's tables of status transitions, and more; testdata/scenes/README.md has the commands.
func TestTables(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		h := newHub(t)
		return func(c scene.Command) string {
			if len(c.Args) > 0 {
				at, err := time.Parse("15:04", c.Args[0])
				h.must(err)
				h.clock = time.Date(2026, 1, 2, at.Hour(), at.Minute(), 0, 0, time.UTC)
			}
			switch c.Name {
			case "set":
				h.change(c.Input)
			case "agents":
				h.agents(c.Input)
			case "reconcile":
				return h.reconcile()
			case "history":
				return h.history()
			default:
				t.Fatalf("no command %q", c.Name)
			}
			return ""
		}
	})
}

// hub is an API server with one set, and a controller that calls this package in the documented order.
type hub struct {
	t        *testing.T
	server   client.Client
	keeper   *rollback.Keeper
	last     *rollback.Turn
	clock    time.Time
	clusters []string
	works    map[string]*workv1.ManifestWork
	previous *rollout.Result
	texts    map[string]string // the texts of templates, by hash
}

var key = client.ObjectKey{Namespace: "apps", Name: "web"}

func newHub(t *testing.T) *hub {
	scheme := runtime.NewScheme()
	h := &hub{t: t, works: map[string]*workv1.ManifestWork{}, texts: map[string]string{}}
	h.must(appsv1.AddToScheme(scheme))
	h.server = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(kind()).Build()
	h.keeper = &rollback.Keeper{Client: h.server, Live: h.server, Now: func() time.Time { return h.clock }}
	return h
}

func kind() *unstructured.Unstructured {
	set := &unstructured.Unstructured{}
	set.SetAPIVersion(workv1alpha1.GroupVersion.String())
	set.SetKind("ManifestWorkReplicaSet")
	return set
}

func (h *hub) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

func template(text string) workv1.ManifestWorkSpec {
	raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it"},"data":{"text":%q}}`, text)
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}}}}
}

// stored is a template as an API server may return it, with its keys in another order.
func (h *hub) stored(text string) (content workv1.ManifestWorkSpec) {
	object := kind()
	h.put(object, template(text), "spec")
	plain, err := json.Marshal(object.Object["spec"])
	h.must(err)
	h.must(json.Unmarshal(plain, &content))
	return content
}

// change creates the set, or changes it as lines say.
func (h *hub) change(lines string) {
	object := kind()
	isNew := client.IgnoreNotFound(h.server.Get(h.t.Context(), key, object)) == nil && object.GetUID() == ""
	if isNew {
		object.SetNamespace(key.Namespace)
		object.SetName(key.Name)
		object.SetUID("the set")
		strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			MaxConcurrency: intstr.FromInt32(1), RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "5m"},
		}}
		ref := rollback.LocalPlacementReference{Name: "all", RolloutStrategy: rollback.RolloutStrategy{RolloutStrategy: strategy}}
		h.put(object, []rollback.LocalPlacementReference{ref}, "spec", "placementRefs")
	}
	for line := range strings.Lines(lines) {
		what, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		spec := true
		switch what {
		case "template":
			h.put(object, template(value), "spec", "manifestWorkTemplate")
			content, one := h.stored(value), int32(1)
			h.texts[rollback.ComputeHash(&content, nil)] = value
			h.texts[rollback.ComputeHash(&content, &one)] = value + "'"
		case "failureStrategy":
			refs, _, _ := unstructured.NestedSlice(object.Object, "spec", "placementRefs")
			h.must(unstructured.SetNestedField(refs[0].(map[string]any), value, "rolloutStrategy", "failureStrategy"))
			h.must(unstructured.SetNestedSlice(object.Object, refs, "spec", "placementRefs"))
		case "limit":
			n, err := strconv.ParseInt(value, 10, 64)
			h.must(err)
			h.must(unstructured.SetNestedField(object.Object, n, "spec", "revisionHistoryLimit"))
		default:
			spec = false
			h.other(object, what, value)
		}
		if spec {
			object.SetGeneration(object.GetGeneration() + 1)
		}
	}
	if isNew {
		h.must(h.server.Create(h.t.Context(), object))
	} else {
		h.must(h.server.Update(h.t.Context(), object))
	}
}

// other changes something outside of the set's spec.
func (h *hub) other(object *unstructured.Unstructured, what, value string) {
	switch what {
	case "clusters":
		h.clusters = strings.Fields(value)
	case "abort": // an operator's request, for a generation
		annotate(object, rollback.AbortAnnotation, value)
	case "freeze":
		annotate(object, prefix+"freeze", value)
	case "allowlist": // for a template
		text, clusters, _ := strings.Cut(value, " ")
		annotate(object, prefix+"allowlist", strings.ReplaceAll(clusters, " ", ",")+" of "+writes.VersionOf(h.stored(text)))
	case "collide": // another object has the name
		content := h.stored(value)
		h.must(h.server.Create(h.t.Context(), &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name + "-" + rollback.ComputeHash(&content, nil)}}))
	case "lose": // a user deletes a revision
		content := h.stored(value)
		h.must(h.server.Delete(h.t.Context(), &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name + "-" + rollback.ComputeHash(&content, nil)}}))
	default:
		h.t.Fatalf("no line %q", what)
	}
}

const prefix = "cohort.open-cluster-management.io/"

func annotate(object *unstructured.Unstructured, name, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[name] = value
	object.SetAnnotations(annotations)
}

func (h *hub) put(object *unstructured.Unstructured, value any, path ...string) {
	text, err := json.Marshal(value)
	h.must(err)
	var plain any
	h.must(json.Unmarshal(text, &plain))
	h.must(unstructured.SetNestedField(object.Object, plain, path...))
}

// agents sets the reports on works, one cluster a line.
func (h *hub) agents(lines string) {
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		work := h.works[words[0]]
		if work == nil {
			h.t.Fatalf("%s has no work", words[0])
		}
		is := func(conditionType string, status bool) {
			c := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: "R", ObservedGeneration: work.Generation, LastTransitionTime: metav1.NewTime(h.clock)}
			if status {
				c.Status = metav1.ConditionTrue
			}
			meta.SetStatusCondition(&work.Status.Conditions, c)
		}
		is(workv1.WorkApplied, true)
		is(workv1.WorkAvailable, words[1] == "succeeded")
		is(workv1.WorkProgressing, words[1] != "succeeded")
		is(workv1.WorkDegraded, words[1] == "failed")
	}
}

// reconcile reconciles until nothing more is stored.
func (h *hub) reconcile() string {
	var b strings.Builder
	before := ""
	for range 10 {
		wrote, err := h.once()
		b.WriteString(wrote)
		now := h.status()
		if now != before {
			b.WriteString(now)
		}
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", h.inWords(err.Error()))
			return b.String()
		}
		if wrote == "" && now == before {
			return b.String()
		}
		before = now
	}
	h.t.Fatalf("it never comes to rest:\n%s", b.String())
	return ""
}

func (h *hub) once() (string, error) {
	object := kind()
	h.must(h.server.Get(h.t.Context(), key, object))
	text, err := object.MarshalJSON()
	h.must(err)
	set := &workv1alpha1.ManifestWorkReplicaSet{}
	h.must(json.Unmarshal(text, set))
	if h.last, err = h.keeper.Begin(h.t.Context(), set, h.last); h.last == nil {
		return "", err
	}
	turn := h.last
	set = turn.Set
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: h.clusters})
	h.must(err)
	version := writes.VersionOf(set.Spec.ManifestWorkTemplate)
	var works []*workv1.ManifestWork
	var reports []status.Report
	for _, cluster := range h.clusters {
		if work := h.works[cluster]; work != nil {
			works = append(works, work)
			if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version, Now: h.clock}); ok {
				reports = append(reports, report)
			}
		}
	}
	asked, err := approvals.Of(set)
	h.must(err)
	opts := asked.Options("all", version)
	opts.Previous = h.previous
	result, err := turn.Plan(set.Spec.PlacementRefs[0], groups, works, reports, h.clock, opts)
	h.must(err)
	if aborted, err := turn.Abort(h.t.Context()); aborted || err != nil {
		return "", err
	}
	h.previous = result
	var b strings.Builder
	for _, c := range result.Start {
		wanted := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: c.Name, Name: "web"}, Spec: set.Spec.ManifestWorkTemplate}
		next, _ := writes.Work(h.works[c.Name], turn.Mark(wanted), version, c.Attempt, h.clock)
		next.Generation++
		h.works[c.Name] = next
		fmt.Fprintf(&b, "%s gets %s\n", c.Name, h.texts[next.Labels[rollback.HashLabel]])
	}
	set = set.DeepCopy()
	progress := []status.PlacementProgress{{Name: "all", Groups: groups, Works: works, Summary: result.Summary()}}
	if turn.SetStatus(set, progress, h.clock) {
		h.must(turn.Update(h.t.Context(), h.server, set))
	}
	return b.String(), nil
}

// read returns the stored set.
func (h *hub) read() *rollback.ManifestWorkReplicaSet {
	object := kind()
	h.must(h.server.Get(h.t.Context(), key, object))
	text, err := object.MarshalJSON()
	h.must(err)
	set := &rollback.ManifestWorkReplicaSet{}
	h.must(json.Unmarshal(text, set))
	return set
}

// status prints the columns of the enhancement's tables, and the counts.
func (h *hub) status() string {
	var b strings.Builder
	set := h.read()
	for _, column := range []string{"PlacementVerified", "ManifestworkApplied", "Progressing", "PlacementRolledOut"} {
		if c := meta.FindStatusCondition(set.Status.Conditions, column); c != nil {
			fmt.Fprintf(&b, "  %-19s %-24s %-5s since %s", c.Type, c.Reason, c.Status, c.LastTransitionTime.UTC().Format("15:04"))
			if column == rollback.ConditionProgressing {
				b.WriteString("  " + h.inWords(c.Message))
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "  current %q, update %q", h.texts[set.Status.CurrentRevision], h.texts[set.Status.UpdateRevision])
	if aborted := set.Status.AbortedTime; aborted != nil {
		fmt.Fprintf(&b, ", aborted at %s", aborted.UTC().Format("15:04"))
	}
	if n := set.Status.CollisionCount; n != nil {
		fmt.Fprintf(&b, ", %d collisions", *n)
	}
	fmt.Fprintf(&b, "; %d of %d updated\n", set.Status.Summary.Updated, set.Status.Summary.DesiredTotal)
	return b.String()
}

// inWords replaces hashes by the texts of their templates.
func (h *hub) inWords(text string) string {
	for hash, name := range h.texts {
		text = strings.ReplaceAll(text, hash, name)
	}
	return text
}

func (h *hub) history() string {
	var list appsv1.ControllerRevisionList
	h.must(h.server.List(h.t.Context(), &list))
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	var b strings.Builder
	for i := range list.Items {
		r := &list.Items[i]
		owner := metav1.GetControllerOf(r)
		if owner == nil {
			continue // another set's
		}
		var data struct{ Metadata struct{ Generation int64 } }
		h.must(json.Unmarshal(r.Data.Raw, &data))
		fmt.Fprintf(&b, "%d: %s of %s %s, label %s, first of generation %d\n", r.Revision, h.inWords(r.Name), owner.Kind, owner.Name,
			h.inWords(r.Labels[rollback.HashLabel]), data.Metadata.Generation)
	}
	return b.String()
}

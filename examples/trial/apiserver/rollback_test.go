// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// A server with the definitions of enhancement 229 keeps its fields, and clients of the group apps find ControllerRevisions.
func TestRollbackDefinitions(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server of its own")
	}
	files, err := apiserver.RollbackDefinitions(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server, err := apiserver.Start(t.TempDir(), files...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	fields(t, server)

	config := rest.CopyConfig(server.Config)
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/apis", &appsv1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	const resource = "controllerrevisions"
	r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}, Revision: 1, Data: runtime.RawExtension{Raw: []byte(`{"a":{"b":1}}`)}}
	var got appsv1.ControllerRevision
	if err := client.Post().Namespace("apps").Resource(resource).Body(r).Do(t.Context()).Into(&got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "web-1" || string(got.Data.Raw) != `{"a":{"b":1}}` {
		t.Errorf("created %+v", got)
	}
	stale := got.DeepCopy()
	got.Revision = 2
	if err := client.Put().Namespace("apps").Resource(resource).Name("web-1").Body(&got).Do(t.Context()).Into(&got); err != nil || got.Revision != 2 {
		t.Errorf("updated %+v, %v", got, err)
	}
	if err := client.Put().Namespace("apps").Resource(resource).Name("web-1").Body(stale).Do(t.Context()).Error(); !apierrors.IsConflict(err) {
		t.Errorf("an older one: %v", err)
	}
	var list appsv1.ControllerRevisionList
	if err := client.Get().Namespace("apps").Resource(resource).Do(t.Context()).Into(&list); err != nil || len(list.Items) != 1 {
		t.Errorf("listed %+v, %v", list, err)
	}
	if err := client.Get().Namespace("apps").Resource(resource).Param("watch", "true").Do(t.Context()).Error(); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("a watch is answered with %v", err)
	}
	if err := client.Delete().Namespace("apps").Resource(resource).Name("web-2").Do(t.Context()).Error(); !apierrors.IsNotFound(err) {
		t.Errorf("deleted what is not there: %v", err)
	}
}

// fields checks that the fields of the enhancement are kept, and that there is no other strategy than its own.
func fields(t *testing.T, server *apiserver.Server) {
	t.Helper()
	sets := dynamic.NewForConfigOrDie(server.Config).Resource(schema.GroupVersion(workv1alpha1.GroupVersion).WithResource("manifestworkreplicasets")).Namespace("apps")
	set := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": workv1alpha1.GroupVersion.String(), "kind": "ManifestWorkReplicaSet", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"revisionHistoryLimit": int64(3), "manifestWorkTemplate": map[string]any{},
			"placementRefs": []any{map[string]any{"name": "all", "rolloutStrategy": map[string]any{"type": "All", "failureStrategy": "AbortAll"}}},
		},
	}}
	stored, err := sets.Create(t.Context(), set, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	refs, _, _ := unstructured.NestedSlice(stored.Object, "spec", "placementRefs")
	if s, _, _ := unstructured.NestedString(refs[0].(map[string]any), "rolloutStrategy", "failureStrategy"); s != "AbortAll" {
		t.Errorf("the strategy is %q", s)
	}
	status := map[string]any{
		"currentRevision": "a", "updateRevision": "b", "collisionCount": int64(1), "abortedTime": "2026-01-02T12:00:00Z",
		"summary":          map[string]any{"total": int64(0), "progressing": int64(0), "available": int64(0), "degraded": int64(0), "applied": int64(0), "desiredTotal": int64(0), "updated": int64(0)},
		"placementSummary": []any{},
	}
	stored.Object["status"] = status
	if stored, err = sets.UpdateStatus(t.Context(), stored, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range status {
		if got := stored.Object["status"].(map[string]any)[name]; name != "summary" && name != "placementSummary" && got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	set.SetName("other")
	set.Object["spec"].(map[string]any)["placementRefs"].([]any)[0].(map[string]any)["rolloutStrategy"].(map[string]any)["failureStrategy"] = "AbortSome"
	if _, err := sets.Create(t.Context(), set, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a strategy that there is not: %v", err)
	}
}

package kit

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/cohort-ocm/cohort/dependency"
)

// Observe reads an object that policy templates depend on with a dynamic client, and passes its state to an evaluator. It
// returns the templates to evaluate again. Call it for each object that dependency.Watches adds, and for each event of a
// watch.
//
// A kind that the mapper does not know yet is ReasonNoAPI. Use a mapper that refreshes its discovery on a miss, such as
// restmapper.NewDeferredDiscoveryRESTMapper, and requeue: no watch tells of a new kind.
func Observe(
	ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, evaluator *dependency.Evaluator, object dependency.Object,
) []dependency.TemplateRef {
	u, err := read(ctx, client, mapper, object)
	return evaluator.Observe(object, dependency.ObservationOf(u, err))
}

func read(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, object dependency.Object) (*unstructured.Unstructured, error) {
	kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	var of dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		of = client.Resource(mapping.Resource).Namespace(object.Namespace)
	}
	return of.Get(ctx, object.Name, metav1.GetOptions{})
}

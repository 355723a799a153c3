// SPDX-License-Identifier: Apache-2.0

// Package example has a small controller, and a test of it in virtual time. It keeps a ConfigMap for each Widget, with its color.
package example

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

var widgetKind = schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}

func newWidget() *unstructured.Unstructured {
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(widgetKind)
	return w
}

type reconciler struct{ client.Client }

// Reconcile writes the ConfigMap of a Widget, and then its status.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := newWidget()
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	color, _, err := unstructured.NestedString(widget.Object, "spec", "color")
	if err != nil {
		return ctrl.Result{}, err
	}
	paint := &corev1.ConfigMap{}
	paint.Namespace, paint.Name = widget.GetNamespace(), widget.GetName()
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, paint, func() error {
		paint.Data = map[string]string{"color": color}
		return controllerutil.SetControllerReference(widget, paint, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if phase, _, _ := unstructured.NestedString(widget.Object, "status", "phase"); phase == color {
		return ctrl.Result{}, nil
	}
	if err := unstructured.SetNestedField(widget.Object, color, "status", "phase"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}

func (r *reconciler) setUp(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(newWidget()).Owns(&corev1.ConfigMap{}).Complete(r)
}

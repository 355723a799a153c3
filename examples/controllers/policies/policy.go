// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// The labels of a replicated policy: its root, as namespace.name, and its cluster.
const (
	rootLabel             = "policy.open-cluster-management.io/root-policy"
	clusterLabel          = "policy.open-cluster-management.io/cluster-name"
	clusterNamespaceLabel = "policy.open-cluster-management.io/cluster-namespace"
)

// policy is what is kept of a Policy in the cache. Most are replicated, and of these only what is asked is kept: with
// templates, 10,000 of them would take as much memory as all else.
type policy struct {
	metav1.ObjectMeta // without managed fields

	// Of a root policy:
	raw    *unstructured.Unstructured // as it was read
	root   *policyv1.Policy           // nil if it can't be read, or is replicated
	err    error                      // why it can't be read
	status policyv1.PolicyStatus
	record status.Record // of deselected clusters; removed from its annotations

	// Of a replicated policy:
	replica  passes.Replica
	content  string           // the version of its spec
	stranger *policyv1.Policy // as it was read, if it has no stamp; then it has its status, too
}

func (p *policy) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// sameContent says whether two states of a root policy differ in nothing but the status, which changes with every report.
func sameContent(a, b *policy) bool {
	return a == b || a != nil && b != nil && a.UID == b.UID && a.Generation == b.Generation &&
		maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

// rootOf is the root policy of a replicated one. A namespace has no dot in it.
func rootOf[T metav1.Object](replica T) (types.NamespacedName, bool) {
	value := replica.GetLabels()[rootLabel]
	namespace, name, ok := strings.Cut(value, ".")
	return types.NamespacedName{Namespace: namespace, Name: name}, ok && value == replica.GetName() && namespace != replica.GetNamespace()
}

// keep turns a Policy into what is kept of it, before it comes into the cache.
func keep(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil // it is kept already
	}
	p := &policy{}
	if err := decode(u.Object["metadata"], &p.ObjectMeta); err != nil {
		return nil, err
	}
	if err := decode(u.Object["status"], &p.status); err != nil {
		p.status = policyv1.PolicyStatus{} // a root policy's is written anew, a replica's is no report
	}
	if _, replicated := p.Labels[rootLabel]; replicated {
		replica := replicaOf(u, p.ObjectMeta)
		p.replica, p.content, p.ManagedFields = passes.ReplicaOf(replica, &p.status), passes.VersionOf(u), nil
		if p.replica.Version == "" {
			p.stranger = replica
		} else {
			p.status = policyv1.PolicyStatus{}
		}
		return p, nil
	}
	p.ManagedFields = nil
	u.SetManagedFields(nil)
	p.raw = u
	var err error
	if p.record, err = recordOf(p); err == nil {
		_, err = recordOf(u)
	}
	if err != nil {
		p.err = err
	} else if root, err := dependency.PolicyOf(u); err != nil {
		p.err = err
	} else {
		p.root = root
	}
	if disabled, _, _ := unstructured.NestedBool(u.Object, "spec", "disabled"); disabled && p.err != nil {
		p.root, p.err = &policyv1.Policy{ObjectMeta: p.ObjectMeta, Spec: policyv1.PolicySpec{Disabled: true}}, nil
	}
	return p, nil
}

// replicaOf reads a replicated policy. An unreadable one, edited by hand, has no version and is written again.
func replicaOf(u *unstructured.Unstructured, meta metav1.ObjectMeta) *policyv1.Policy {
	replica, err := dependency.PolicyOf(u)
	if err != nil {
		return &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: meta.Name, Namespace: meta.Namespace}}
	}
	return replica
}

func decode(from any, into any) error {
	object, ok := from.(map[string]any)
	if !ok {
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object, into)
}

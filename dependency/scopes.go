// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// cluster gives the namespaces in which objects are found on a managed cluster.
type cluster struct {
	namespace string
	scope     func(schema.GroupKind) meta.RESTScopeName
}

func (c cluster) scopeOf(object Object) meta.RESTScopeName {
	group := object.group()
	if c.scope != nil {
		if scope := c.scope(schema.GroupKind{Group: group, Kind: object.Kind}); scope != "" {
			return scope
		}
	}
	if group == constraintTemplateGroup || group == constraintGroup {
		return meta.RESTScopeNameRoot
	}
	return ""
}

// find gives an object that a dependency names, or that was observed, the namespace in which it is found (P2).
func (c cluster) find(object Object) Object {
	if object.isPolicyType() {
		object.Namespace = c.namespace
		return object
	}
	switch c.scopeOf(object) {
	case meta.RESTScopeNameRoot:
		object.Namespace = ""
	case meta.RESTScopeNameNamespace:
		if object.Namespace == "" {
			object.Namespace = c.namespace
		}
	}
	return object
}

// create gives an object that a template creates the namespace in which it is created (P2).
func (c cluster) create(object Object) Object {
	if !object.isPolicyType() && c.scopeOf(object) == meta.RESTScopeNameNamespace {
		object.Namespace = c.namespace
	}
	return c.find(object)
}

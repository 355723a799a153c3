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

func (c cluster) scopeOf(o Object) meta.RESTScopeName {
	group := o.group()
	if c.scope != nil {
		if scope := c.scope(schema.GroupKind{Group: group, Kind: o.Kind}); scope != "" {
			return scope
		}
	}
	if group == constraintTemplateGroup || group == constraintGroup {
		return meta.RESTScopeNameRoot
	}
	return ""
}

// find gives an object that a dependency names, or that was observed, the namespace in which it is found (P2).
func (c cluster) find(o Object) Object {
	if o.isPolicyType() {
		o.Namespace = c.namespace
		return o
	}
	switch c.scopeOf(o) {
	case meta.RESTScopeNameRoot:
		o.Namespace = ""
	case meta.RESTScopeNameNamespace:
		if o.Namespace == "" {
			o.Namespace = c.namespace
		}
	}
	return o
}

// create gives an object that a template creates the namespace in which it is created (P2).
func (c cluster) create(o Object) Object {
	if !o.isPolicyType() && c.scopeOf(o) == meta.RESTScopeNameNamespace {
		o.Namespace = c.namespace
	}
	return c.find(o)
}

package dependency

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Option says more of the cluster. Of two options of one kind the later counts, and nil is skipped.
type Option func(*cluster)

// Scopes tells which kinds are cluster-scoped (meta.RESTScopeNameRoot) and which are namespaced
// (meta.RESTScopeNameNamespace). The function gives "" for a kind that it does not know. A RESTMapper knows it:
//
//	dependency.Scopes(func(kind schema.GroupKind) meta.RESTScopeName {
//		mapping, err := mapper.RESTMapping(kind)
//		if err != nil {
//			return ""
//		}
//		return mapping.Scope.Name()
//	})
//
// An object of a cluster-scoped kind has no namespace, whatever a policy says. One of a namespaced kind is in the
// cluster's namespace if a template creates it, or if a dependency names it without a namespace. An object of an
// unknown kind is where the policy says. Without this option, and for kinds that the function does not know, those
// of Gatekeeper's groups are cluster-scoped. Policies need no scope: they are always in the cluster's namespace.
func Scopes(scope func(schema.GroupKind) meta.RESTScopeName) Option {
	return func(c *cluster) { c.scope = scope }
}

// cluster knows where objects are found on a managed cluster.
type cluster struct {
	namespace string
	scope     func(schema.GroupKind) meta.RESTScopeName
}

func clusterOf(namespace string, opts []Option) cluster {
	c := cluster{namespace: namespace}
	for _, opt := range opts {
		if opt != nil {
			opt(&c)
		}
	}
	return c
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

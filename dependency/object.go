package dependency

import (
	"cmp"
	"strings"
)

const (
	policyGroup   = "policy.open-cluster-management.io"
	policyKind    = "Policy"
	policySetKind = "PolicySet"
)

// Object names an object on a managed cluster. Objects are comparable, and equal if all four parts are.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// String is how messages name the object, like "ConfigurationPolicy foo" (P4).
func (o Object) String() string {
	if o == (Object{}) {
		return "unnamed object"
	}
	return o.Kind + " " + o.Name
}

// Lookup returns the object with the namespace in which it is found on the managed cluster (P2): that of the
// cluster, whatever o has, for objects of group policy.open-cluster-management.io whose kind ends in Policy;
// for others the one o has. It serves for what a dependency names, for what a template creates and for what
// was observed.
func (o Object) Lookup(clusterNamespace string) Object {
	if o.group() == policyGroup && strings.HasSuffix(o.Kind, policyKind) {
		o.Namespace = clusterNamespace
	}
	return o
}

// Compare orders objects by kind, name, namespace and apiVersion: the order in which people read them in
// messages. It returns a negative number, zero or a positive one.
func (o Object) Compare(other Object) int {
	return cmp.Or(
		strings.Compare(o.Kind, other.Kind),
		strings.Compare(o.Name, other.Name),
		strings.Compare(o.Namespace, other.Namespace),
		strings.Compare(o.APIVersion, other.APIVersion),
	)
}

// Object returns what the dependency names, as it is looked up on the managed cluster (P2).
func (d Dependency) Object(clusterNamespace string) Object {
	return Object{APIVersion: d.APIVersion, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name}.Lookup(clusterNamespace)
}

func (o Object) group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// unversioned is what o is in whichever version it is read: the object with its group for its apiVersion.
func (o Object) unversioned() Object {
	o.APIVersion = o.group()
	return o
}

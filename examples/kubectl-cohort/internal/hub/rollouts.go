package hub

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

const (
	clusters = "cluster.open-cluster-management.io"
	works    = "work.open-cluster-management.io"
	addOns   = "addon.open-cluster-management.io"
	policies = "policy.open-cluster-management.io"

	// replicaSetLabel is on works, and names the ManifestWorkReplicaSet that they are of as namespace.name.
	replicaSetLabel = works + "/manifestworkreplicaset"
	// rootLabel is on replicated policies, and names the root policy as namespace.name.
	rootLabel = policies + "/root-policy"
)

// Rollouts gives the objects of the rollouts that are wanted: first what rolls out, then what these need.
func (c *Client) Rollouts(ctx context.Context, wanted scenario.Wanted) (all []manifest.Object, notes []string, err error) {
	if all, err = c.Owners(ctx, wanted.Namespace); err != nil {
		return nil, nil, err
	}
	if chosen := slices.DeleteFunc(slices.Clone(all), func(o manifest.Object) bool { return !wanted.Has(o) }); len(chosen) > 0 {
		all = chosen // else the error names those that there are
	}
	if len(all) == 0 {
		return nil, nil, nil
	}
	rest, notes, err := c.List(ctx, needed(all)...)
	return append(all, rest...), notes, err
}

// Owners gives the objects that roll out, in a namespace or in all.
func (c *Client) Owners(ctx context.Context, namespace string) (all []manifest.Object, err error) {
	rollouts := []Resource{
		{Group: works, Versions: []string{"v1alpha1"}, Name: "manifestworkreplicasets", Namespace: namespace},
		{Group: policies, Versions: []string{"v1"}, Name: "policies", Namespace: namespace, Labels: "!" + rootLabel},
	}
	if namespace == "" {
		rollouts = append(rollouts, Resource{Group: addOns, Versions: []string{"v1beta1", "v1alpha1"}, Name: "clustermanagementaddons"})
	}
	all, _, err = c.List(ctx, rollouts...)
	return all, err
}

// Clusters gives the clusters of the hub.
func (c *Client) Clusters(ctx context.Context) (all []manifest.Object, err error) {
	all, _, err = c.List(ctx, Resource{Group: clusters, Versions: []string{"v1"}, Name: "managedclusters"})
	return all, err
}

// needed is what these rollouts need.
func needed(rollouts []manifest.Object) []Resource {
	of := make(map[string][]string) // by kind, as labels name them
	for _, o := range rollouts {
		of[o.GetKind()] = append(of[o.GetKind()], o.GetNamespace()+"."+o.GetName())
	}
	all := []Resource{
		{Group: clusters, Versions: []string{"v1beta1"}, Name: "placements"},
		{Group: clusters, Versions: []string{"v1beta1"}, Name: "placementdecisions"},
		{Group: clusters, Versions: []string{"v1"}, Name: "managedclusters", Optional: true},
		{Group: clusters, Versions: []string{"v1beta2"}, Name: "managedclustersets", Optional: true},
		{Group: clusters, Versions: []string{"v1beta2"}, Name: "managedclustersetbindings", Optional: true},
	}
	if names := of["ManifestWorkReplicaSet"]; len(names) > 0 {
		all = append(all, Resource{Group: works, Versions: []string{"v1"}, Name: "manifestworks", Labels: labelled(replicaSetLabel, names)})
	}
	if len(of["ClusterManagementAddOn"]) > 0 {
		all = append(all, Resource{Group: addOns, Versions: []string{"v1beta1", "v1alpha1"}, Name: "managedclusteraddons"})
	}
	if names := of["Policy"]; len(names) > 0 {
		all = append(all,
			Resource{Group: policies, Versions: []string{"v1"}, Name: "policies", Labels: labelled(rootLabel, names)},
			Resource{Group: policies, Versions: []string{"v1"}, Name: "placementbindings"},
			Resource{Group: policies, Versions: []string{"v1beta1"}, Name: "policysets"},
			Resource{Group: "apps.open-cluster-management.io", Versions: []string{"v1"}, Name: "placementrules"})
	}
	return all
}

// labelled selects objects whose label has one of these values, or any where there are several.
func labelled(label string, values []string) string {
	if len(values) == 1 && len(values[0]) <= validation.LabelValueMaxLength {
		return label + "=" + values[0]
	}
	return label
}

// Policies gives the replicated policies in a namespace of a cluster, or in all, and the ConfigurationPolicies that stand beside
// them where the hub manages itself.
func (c *Client) Policies(ctx context.Context, namespace string) (all []manifest.Object, notes []string, err error) {
	return c.List(ctx,
		Resource{Group: policies, Versions: []string{"v1"}, Name: "policies", Namespace: namespace, Labels: rootLabel},
		Resource{Group: policies, Versions: []string{"v1"}, Name: "configurationpolicies", Namespace: namespace, Optional: true})
}

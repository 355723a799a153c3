// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	if all, notes, err = c.owners(ctx, wanted.Namespace); err != nil {
		return nil, nil, err
	}
	if chosen := slices.DeleteFunc(slices.Clone(all), func(o manifest.Object) bool { return !wanted.Has(o) }); len(chosen) > 0 {
		all = chosen // else the error names those that there are
	} else if len(notes) > 0 {
		return nil, nil, errors.New(strings.Join(notes, "; "))
	}
	if len(all) == 0 {
		return nil, nil, nil
	}
	rest, unlisted, err := c.List(ctx, needed()...)
	if err != nil {
		return nil, nil, err
	}
	notes = append(notes, unlisted...)
	for _, kind := range []string{"ManifestWorkReplicaSet", "ClusterManagementAddOn", "Policy"} {
		others := slices.DeleteFunc(slices.Clone(all), func(o manifest.Object) bool { return o.GetKind() == kind })
		if len(others) == len(all) {
			continue
		}
		written, _, err := c.List(ctx, neededBy(kind, all)...)
		switch {
		case err != nil && apierrors.IsForbidden(err) && len(others) > 0: // the others are not blind for that
			notes = append(notes, fmt.Sprintf("left out: each %s: %v", kind, err))
			all = others
		case err != nil:
			return nil, nil, err
		}
		rest = append(rest, written...)
	}
	return append(all, rest...), notes, nil
}

// Owners gives the objects that roll out, in a namespace or in all.
func (c *Client) Owners(ctx context.Context, namespace string) (all []manifest.Object, err error) {
	all, _, err = c.owners(ctx, namespace)
	return all, err
}

// owners says besides which kinds may not be listed, as long as one may.
func (c *Client) owners(ctx context.Context, namespace string) (all []manifest.Object, notes []string, err error) {
	rollouts := []Resource{
		{Group: works, Versions: []string{"v1alpha1"}, Name: "manifestworkreplicasets", Namespace: namespace},
		{Group: policies, Versions: []string{"v1"}, Name: "policies", Namespace: namespace, Labels: "!" + rootLabel},
	}
	if namespace == "" {
		rollouts = append(rollouts, Resource{Group: addOns, Versions: []string{"v1beta1", "v1alpha1"}, Name: "clustermanagementaddons"})
	}
	for i := range rollouts {
		rollouts[i].Optional = true
	}
	if all, notes, err = c.List(ctx, rollouts...); err == nil && len(notes) == len(rollouts) {
		err = errors.New(strings.Join(notes, "; "))
	}
	return all, notes, err
}

// Clusters gives the clusters of the hub.
func (c *Client) Clusters(ctx context.Context) (all []manifest.Object, err error) {
	all, _, err = c.List(ctx, Resource{Group: clusters, Versions: []string{"v1"}, Name: "managedclusters"})
	return all, err
}

// needed is what every rollout needs.
func needed() []Resource {
	return []Resource{
		{Group: clusters, Versions: []string{"v1beta1"}, Name: "placements"},
		{Group: clusters, Versions: []string{"v1beta1"}, Name: "placementdecisions"},
		{Group: clusters, Versions: []string{"v1"}, Name: "managedclusters", Optional: true},
		{Group: clusters, Versions: []string{"v1beta2"}, Name: "managedclustersets", Optional: true},
		{Group: clusters, Versions: []string{"v1beta2"}, Name: "managedclustersetbindings", Optional: true},
	}
}

// neededBy is what those of one kind need besides.
func neededBy(kind string, rollouts []manifest.Object) []Resource {
	var names []string // as labels name them
	for _, o := range rollouts {
		if o.GetKind() == kind {
			names = append(names, o.GetNamespace()+"."+o.GetName())
		}
	}
	switch kind {
	case "ManifestWorkReplicaSet":
		return []Resource{{Group: works, Versions: []string{"v1"}, Name: "manifestworks", Labels: labelled(replicaSetLabel, names)}}
	case "ClusterManagementAddOn":
		return []Resource{{Group: addOns, Versions: []string{"v1beta1", "v1alpha1"}, Name: "managedclusteraddons"}}
	default:
		return []Resource{
			{Group: policies, Versions: []string{"v1"}, Name: "policies", Labels: labelled(rootLabel, names)},
			{Group: policies, Versions: []string{"v1"}, Name: "placementbindings"},
			{Group: policies, Versions: []string{"v1beta1"}, Name: "policysets"},
			{Group: "apps.open-cluster-management.io", Versions: []string{"v1"}, Name: "placementrules"}}
	}
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

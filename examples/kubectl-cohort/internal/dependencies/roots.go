// SPDX-License-Identifier: Apache-2.0

package dependencies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// ofClusters gives the objects of each cluster that has policies, by its name. A file may have the policies as they stand on clusters, or the root
// policies of which OCM's propagator makes them, or both, as a dump of a hub has. Where there are only roots, they are replicated: to the
// clusters that their status names, or to one that gets all of them.
func ofClusters(objects []manifest.Object, namespace string) (of map[string][]manifest.Object, roots map[string]manifest.Object, notes []string, err error) {
	isRoot := rootsAmong(objects)
	var rooted, rest []manifest.Object
	for _, o := range objects {
		if isRoot(o) {
			rooted = append(rooted, o)
		} else {
			rest = append(rest, o)
		}
	}
	of = make(map[string][]manifest.Object)
	if replicas := namespacesOf(rest); len(rooted) == 0 || len(replicas) > 0 {
		if namespace != "" || len(replicas) == 0 {
			replicas = []string{namespace}
		}
		for _, cluster := range replicas {
			of[cluster] = without(rest, replicas, cluster)
		}
		return of, nil, nil, nil
	}
	clusters := []string{namespace}
	if namespace == "" {
		clusters = clustersOf(rooted)
	}
	what := of1(len(rooted), "1 root policy, shown as it is", "%d root policies, shown as they are")
	if notes = []string{what + " replicated to the clusters of the status"}; len(clusters) == 0 || namespace != "" {
		notes = []string{what + " replicated to a cluster that gets all of them"}
	}
	if len(clusters) == 0 {
		clusters = []string{""}
	}
	sets, err := setsAmong(rest, rooted)
	if err != nil {
		return nil, nil, nil, err
	}
	notes = append(notes, dotted(rooted)...)
	roots = make(map[string]manifest.Object)
	for _, cluster := range clusters {
		of[cluster] = slices.Clone(rest)
		for _, root := range rooted {
			replica, bound, err := replicated(root, cluster, sets)
			if err != nil {
				return nil, nil, nil, root.Fault(err)
			}
			if bound {
				of[cluster], roots[replica.GetName()] = append(of[cluster], replica), root
			}
		}
	}
	return of, roots, notes, nil
}

// dotted notes the dependencies that mean a root with a dot in its name, and are taken for the name of a policy on the cluster.
func dotted(roots []manifest.Object) (notes []string) {
	there := make(map[types.NamespacedName]bool)
	for _, root := range roots {
		there[types.NamespacedName{Namespace: root.GetNamespace(), Name: root.GetName()}] = true
	}
	for _, root := range roots {
		policy, err := dependency.PolicyOf(&root.Unstructured)
		if err != nil {
			continue // as its replicas say
		}
		all := slices.Clone(policy.Spec.Dependencies)
		for _, template := range policy.Spec.PolicyTemplates {
			all = append(all, template.ExtraDependencies...)
		}
		for _, d := range all {
			if d.Kind == "Policy" && d.Namespace == "" && strings.Contains(d.Name, ".") && there[types.NamespacedName{Namespace: root.GetNamespace(), Name: d.Name}] {
				notes = append(notes, fmt.Sprintf("%v: the dependency %s has a dot and no namespace, so that it counts as the name of a policy on the cluster: to wait for the root policy of this name, add the namespace %s", root, d.Name, root.GetNamespace()))
			}
		}
	}
	return notes
}

// of1 is a text about one or about several.
func of1(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(several, n)
}

// rootsAmong tells root policies from those on clusters, which have a label that says so. By hand they are also written without labels: with
// names that have a dot, where no other in the namespace is without one.
func rootsAmong(objects []manifest.Object) func(manifest.Object) bool {
	unlabeled := func(o manifest.Object) bool {
		labels := o.GetLabels()
		return isPolicy(o) && o.GetAPIVersion() == policyVersion && o.GetNamespace() != "" &&
			labels[policyGroup+"/root-policy"] == "" && labels[policyGroup+"/cluster-name"] == "" && labels[policyGroup+"/cluster-namespace"] == ""
	}
	undotted := make(map[string]bool)
	for _, o := range objects {
		if unlabeled(o) && (!strings.Contains(o.GetName(), ".") || len(statusOf(o)) > 0) {
			undotted[o.GetNamespace()] = true
		}
	}
	return func(o manifest.Object) bool { return unlabeled(o) && undotted[o.GetNamespace()] }
}

// statusOf is what the status of a root says of its clusters.
func statusOf(root manifest.Object) []any {
	status, _, _ := unstructured.NestedSlice(root.Object, "status", "status")
	return status
}

// complianceOn is what the status of a root says of a cluster; it is not bound if that does not name the cluster.
func complianceOn(root manifest.Object, cluster string) (compliance string, bound bool) {
	for _, entry := range statusOf(root) {
		if fields, _ := entry.(map[string]any); fields["clustername"] == cluster {
			compliance, _ = fields["compliant"].(string)
			return compliance, true
		}
	}
	return "", false
}

// clustersOf are the clusters that the status of any root names, in order.
func clustersOf(roots []manifest.Object) (all []string) {
	for _, root := range roots {
		for _, entry := range statusOf(root) {
			fields, _ := entry.(map[string]any)
			if name, _ := fields["clustername"].(string); name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// setsAmong are the PolicySets, without the policies that are disabled: nothing waits for these.
func setsAmong(objects, roots []manifest.Object) (map[types.NamespacedName]*policyv1.PolicySet, error) {
	sets := make(map[types.NamespacedName]*policyv1.PolicySet)
	for _, o := range objects {
		if o.GroupVersionKind().Group != policyGroup || o.GetKind() != "PolicySet" {
			continue
		}
		var set policyv1.PolicySet
		data, err := json.Marshal(o.Object)
		if err == nil {
			err = json.Unmarshal(data, &set)
		}
		if err != nil {
			return nil, o.Fault(err)
		}
		set.Spec.Policies = slices.DeleteFunc(set.Spec.Policies, func(name string) bool {
			return slices.ContainsFunc(roots, func(root manifest.Object) bool {
				disabled, _, _ := unstructured.NestedBool(root.Object, "spec", "disabled")
				return disabled && root.GetNamespace() == set.Namespace && root.GetName() == name
			})
		})
		sets[types.NamespacedName{Namespace: set.Namespace, Name: set.Name}] = &set
	}
	return sets, nil
}

// replicated is a root as it is on a cluster, with the compliance that its status has for the cluster. It is not bound where the status has
// other clusters alone.
func replicated(root manifest.Object, cluster string, sets map[types.NamespacedName]*policyv1.PolicySet) (replica manifest.Object, bound bool, err error) {
	if errs := policyFields().refuse(root.Object, nil); len(errs) > 0 {
		return replica, false, errors.Join(errs...)
	}
	compliance, bound := complianceOn(root, cluster)
	if !bound && cluster != "" && len(statusOf(root)) > 0 {
		return replica, false, nil
	}
	u, err := dependency.Replicate(&root.Unstructured, cluster, sets)
	if err != nil {
		return replica, false, err
	}
	if compliance != "" {
		if err := unstructured.SetNestedField(u.Object, compliance, "status", "compliant"); err != nil {
			return replica, false, err
		}
	}
	replica = root
	replica.Unstructured = *u
	return replica, true, nil
}

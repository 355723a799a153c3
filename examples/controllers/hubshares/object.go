// SPDX-License-Identifier: Apache-2.0

package hubshares

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/shares"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Account is the object on the coordinator hub with one hub's shares of one rollout. It is in the namespace of the hub.
type Account struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec `json:"spec"`
	// Status is written by the hub.
	Status shares.Report `json:"status,omitzero"`
}

// Spec is written by the coordinator hub and by operators.
type Spec struct {
	// Rollout is written once, by the coordinator hub.
	Rollout Rollout `json:"rollout"`
	// Grant is written by the coordinator hub.
	Grant shares.Grant `json:"grant,omitzero"`
	// Seen is written by an operator.
	Seen *shares.Seen `json:"seen,omitempty"`
}

// Rollout names the rollout of one version, by one placement of a ManifestWorkReplicaSet that is on each hub and on the
// coordinator hub.
type Rollout struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Placement string `json:"placement"`
	Version   string `json:"version"`
}

func (r Rollout) set() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// object is the name of the rollout's accounts. The hash distinguishes names that hyphens would not.
func (r Rollout) object() string {
	const most = 200
	name := r.Name + "-" + r.Placement
	return strings.TrimRight(name[:min(most, len(name))], "-.") + "-" + writes.VersionOf(r)
}

// account converts the object.
func (a *Account) account() shares.HubShares {
	return shares.HubShares{Hub: a.Namespace, Grant: a.Spec.Grant, Report: a.Status, Seen: a.Spec.Seen}
}

// AccountList is a list of accounts.
type AccountList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Account `json:"items"`
}

// DeepCopyObject copies an account.
func (a *Account) DeepCopyObject() runtime.Object { return a.deepCopy() }

func (a *Account) deepCopy() *Account {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if a.Spec.Seen != nil {
		seen := *a.Spec.Seen
		out.Spec.Seen = &seen
	}
	return &out
}

// DeepCopyObject copies a list of accounts.
func (l *AccountList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = slices.Clone(l.Items)
	for i := range out.Items {
		out.Items[i] = *l.Items[i].deepCopy()
	}
	return &out
}

var version = schema.GroupVersion{Group: "cohort.open-cluster-management.io", Version: "v1alpha1"}

// Install adds accounts to a scheme.
func Install(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(version, &Account{}, &AccountList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

// mapper has accounts without discovery, since a hub may be cut off from that API server.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(version.WithKind("Account"), meta.RESTScopeNamespace)
	return m
}

// HubsAnnotation is on a set that is rolled out over many hubs, on each of them and on the coordinator hub. It has the
// names of the hubs, separated by commas.
const HubsAnnotation = "cohort.open-cluster-management.io/hubs"

// hubsOf are the hubs that a set names, in order and each once.
func hubsOf(set *workv1alpha1.ManifestWorkReplicaSet) (hubs []string) {
	for _, hub := range strings.Split(set.Annotations[HubsAnnotation], ",") {
		if hub = strings.TrimSpace(hub); hub != "" {
			hubs = append(hubs, hub)
		}
	}
	slices.Sort(hubs)
	return slices.Compact(hubs)
}

// isShared says whether a set shares its limits with other hubs. A set with an empty annotation is shared between no hubs,
// and starts nothing.
func isShared(set *workv1alpha1.ManifestWorkReplicaSet) bool {
	_, is := set.Annotations[HubsAnnotation]
	return is
}

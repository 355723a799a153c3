// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

func notFound(namespace string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, namespace)
}

func TestWhichPoliciesAnEventConcerns(t *testing.T) {
	h := newHub(t)
	h.policy(templates + "dependencies:\n- {apiVersion: policy.open-cluster-management.io/v1beta1, kind: PolicySet, namespace: other, name: base, compliance: Compliant}\n")
	h.catchUp()
	h.set("policies", "all", "etcd")
	h.set("other", "base", "namespaces")
	h.bind("direct", "prod", itself(), "")
	h.bind("by set", "test", policyv1.Subject{Kind: "PolicySet", Name: "all"}, "")
	h.bind("of another", "dev", policyv1.Subject{Kind: "Policy", Name: "another"}, "")

	kept := func(namespace, name, root string) *policy {
		return &policy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{rootLabel: root}}}
	}
	another := types.NamespacedName{Namespace: "policies", Name: "another"}
	for name, event := range map[string]struct {
		want []types.NamespacedName
		got  []types.NamespacedName
	}{
		"the policy itself":             {[]types.NamespacedName{thePolicy}, rootOfPolicy(get[policy](h.caches.policies, thePolicy))},
		"a replica of it":               {[]types.NamespacedName{thePolicy}, rootOfPolicy(kept("a", "policies.etcd", "policies.etcd"))},
		"a set that it is in":           {[]types.NamespacedName{thePolicy}, h.caches.rootsOfSet(get[policySet](h.caches.sets, types.NamespacedName{Namespace: "policies", Name: "all"}))},
		"a set that it depends on":      {[]types.NamespacedName{{Namespace: "other", Name: "namespaces"}, thePolicy}, h.caches.rootsOfSet(get[policySet](h.caches.sets, types.NamespacedName{Namespace: "other", Name: "base"}))},
		"a placement that binds it":     {[]types.NamespacedName{thePolicy}, h.caches.rootsOfPlacement("policies", "prod")},
		"one that binds it by a set":    {[]types.NamespacedName{thePolicy}, h.caches.rootsOfPlacement("policies", "test")},
		"one that binds another policy": {[]types.NamespacedName{another}, h.caches.rootsOfPlacement("policies", "dev")},
		"one of another namespace":      {nil, h.caches.rootsOfPlacement("other", "prod")},
	} {
		if !slices.Equal(event.got, event.want) {
			t.Errorf("%s concerns %v", name, event.got)
		}
	}
}

// Many events of a policy are one reconcile; a binding that turns to another policy is noticed by both.
func TestEventsAreGathered(t *testing.T) {
	h := newHub(t)
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		defer q.ShutDown()
		events := concerns(q, func(o any) []types.NamespacedName { return h.caches.rootsOfBinding(o.(*placementBinding)) })
		binding := func(policy string) *placementBinding {
			b := &placementBinding{}
			b.Namespace, b.Subjects = "policies", []policyv1.Subject{{Kind: "Policy", Name: policy}}
			return b
		}
		for range 1000 {
			events.AddFunc(binding("etcd"))
			events.UpdateFunc(binding("etcd"), binding("another"))
			events.DeleteFunc(cache.DeletedFinalStateUnknown{Obj: binding("another")})
		}
		var got []string
		for range 2 {
			key, _ := q.Get()
			got = append(got, key.Name)
		}
		if slices.Sort(got); !slices.Equal(got, []string{"another", "etcd"}) || q.Len() > 0 {
			t.Errorf("%v are looked at, %d more", got, q.Len())
		}
	})
}

// What is kept of a policy is made once.
func TestKeepsWhatIsKept(t *testing.T) {
	for _, keep := range []func(any) (any, error){keep, keepSet, keepBinding} {
		once, err := keep(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "x", "name": "y"}}})
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := keep(once); err != nil || twice != once {
			t.Errorf("%T: %v, %v", once, twice, err)
		}
		if key, err := cache.MetaNamespaceKeyFunc(once); err != nil || key != "x/y" {
			t.Errorf("%T: %q, %v", once, key, err)
		}
	}
}

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// takeOver asks the API server, once in the life of a process and before anything is propagated, what there is. The process
// before this one, or the leader before, has written things that the caches need not show yet: a first list may come
// from an API server that is behind. They are taken for writes of this process, so that nothing is propagated of a policy until
// the caches show them.
func (c *controller) takeOver(ctx context.Context) error {
	c.begun.Lock()
	defer c.begun.Unlock()
	if c.looked {
		return nil
	}
	roots, replicas, err := c.listAll(ctx)
	if err != nil {
		return err
	}
	for key, version := range roots {
		c.memory(key).stored = mark{resourceVersion: version, since: c.now()}
	}
	takeOver := func(replica metav1.Object, m mark) {
		root, ok := rootOf(replica)
		if _, there := roots[root]; ok && there && !m.shown(c.replica(root, replica.GetNamespace())) {
			c.memory(root).written[replica.GetNamespace()] = m
		}
	}
	now, there := c.now(), make(map[types.NamespacedName]bool, len(replicas))
	for i := range replicas {
		there[keyOf(&replicas[i])] = true
		takeOver(&replicas[i], mark{resourceVersion: replicas[i].ResourceVersion, since: now})
	}
	for _, object := range c.caches.policies.List() {
		if p := object.(*policy); !there[p.key()] {
			takeOver(p, mark{gone: p.UID, since: now})
		}
	}
	c.looked = true
	return nil
}

// listAll lists the Policies as the API server has them now, in pages: the resourceVersions of the root policies, and what
// the replicated ones are called.
func (c *controller) listAll(ctx context.Context) (roots map[types.NamespacedName]string, replicas []metav1.ObjectMeta, err error) {
	const page = 500
	roots = map[types.NamespacedName]string{}
	for next := ""; ; {
		list, err := c.client.Resource(policies).List(ctx, metav1.ListOptions{Limit: page, Continue: next})
		if err != nil {
			return nil, nil, err
		}
		for i := range list.Items {
			p := &list.Items[i]
			if _, replicated := rootOf(p); !replicated {
				roots[keyOf(p)] = p.GetResourceVersion()
				continue
			}
			replicas = append(replicas, metav1.ObjectMeta{
				Namespace: p.GetNamespace(), Name: p.GetName(), ResourceVersion: p.GetResourceVersion(),
				Labels: map[string]string{rootLabel: p.GetLabels()[rootLabel]},
			})
		}
		if next = list.GetContinue(); next == "" {
			return roots, replicas, nil
		}
	}
}

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

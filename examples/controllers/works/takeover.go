package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// takeOver asks the API server, once in the life of a process and before anything is planned, what there is. The caches
// need not show yet what the process before this one, or the leader before, has written. A replica that waited for the
// lease has had its caches all along, and a first list may come from an API server that is behind. What it
// finds is taken for writes of this process, so that nothing is planned for a set until the caches show it.
func (c *controller) takeOver(ctx context.Context) error {
	c.begun.Lock()
	defer c.begun.Unlock()
	if c.looked {
		return nil
	}
	sets, err := listAll(ctx, c.live, "ManifestWorkReplicaSetList", workv1alpha1.GroupVersion.String())
	if err != nil {
		return err
	}
	works, err := listAll(ctx, c.live, "ManifestWorkList", workKind.GroupVersion().String(), client.HasLabels{setLabel})
	if err != nil {
		return err
	}
	now, known := c.now(), make(map[types.NamespacedName]bool, len(sets))
	for i := range sets {
		known[client.ObjectKeyFromObject(&sets[i])] = true
		c.memory(client.ObjectKeyFromObject(&sets[i])).written.set = sets[i].ResourceVersion
	}
	takeOver := func(work metav1.Object, m mark) {
		key := types.NamespacedName{Namespace: work.GetNamespace(), Name: work.GetName()}
		set, ok := setOfLabel(work.GetLabels()[setLabel])
		if ok && known[set] && !m.shown(get[workv1.ManifestWork](c.caches.works, key.Namespace, key.Name)) {
			c.memory(set).written.note(key, m)
		}
	}
	there := make(map[types.NamespacedName]bool, len(works))
	for i := range works {
		there[client.ObjectKeyFromObject(&works[i])] = true
		takeOver(&works[i], mark{resourceVersion: works[i].ResourceVersion, since: now})
	}
	for _, object := range c.caches.works.List() {
		if work := object.(*workv1.ManifestWork); !there[client.ObjectKeyFromObject(work)] {
			takeOver(work, mark{gone: work.UID, since: now})
		}
	}
	c.looked = true
	return nil
}

// listAll lists the metadata of objects as the API server has them now, in pages.
func listAll(ctx context.Context, live client.Reader, kind, version string, options ...client.ListOption) (all []metav1.PartialObjectMetadata, err error) {
	const page = 500
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: version}}
	for {
		if err := live.List(ctx, list, append(options, client.Limit(page), client.Continue(list.Continue))...); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if list.Continue == "" {
			return all, nil
		}
	}
}

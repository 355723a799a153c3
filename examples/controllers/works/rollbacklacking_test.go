// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/rollback"
	proof "github.com/cohort-ocm/cohort/examples/trial"
)

// dutiesOfRollback are the duties of rollback that this controller can leave out. It rolls back all clusters at once, so it
// has no duty about the order. It reads the revisions live each time, so stale caches cannot mislead it.
var dutiesOfRollback = []proof.Duty{
	proof.DutyStoreUpdate, proof.DutyKeepTemplate, proof.DutyStoreAbort, proof.DutyAbortOnce, proof.DutyNoOther, proof.DutyJoined,
}

// lackOfRollback makes a controller leave out a duty of rollback.
func lackOfRollback(c *controller, p *proof.Process) {
	l := &lacksRollback{Client: c.client, duty: p.Ignored, set: p.Set, controller: c}
	c.client, c.rollback.Client = l, l
	c.rollback.Live = readsRollback{c.rollback.Live, l}
}

// lacksRollback is a client that drops the writes of a duty, and reports success.
type lacksRollback struct {
	client.Client
	duty       proof.Duty
	set        types.NamespacedName
	controller *controller

	feigned map[string]any // the status that was not stored
}

// goesBack says whether a work gets another revision than the set's template.
func (l *lacksRollback) goesBack(work *workv1.ManifestWork) bool {
	set := l.controller.caches.set(l.set)
	return set != nil && work.Labels[rollback.HashLabel] != hashOf(set)
}

func (l *lacksRollback) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if work, is := o.(*workv1.ManifestWork); is && l.goesBack(work) {
		switch l.duty {
		case proof.DutyJoined:
			return errors.New("left out")
		case proof.DutyNoOther:
			work.Spec = l.controller.caches.set(l.set).Spec.ManifestWorkTemplate
		}
	}
	return l.Client.Create(ctx, o, options...)
}

func (l *lacksRollback) Status() client.SubResourceWriter {
	return lacksStatus{l.Client.Status(), l}
}

type lacksStatus struct {
	client.SubResourceWriter
	by *lacksRollback
}

func (l lacksStatus) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	text, err := patch.Data(o)
	var with struct {
		Metadata map[string]any `json:"metadata"`
		Status   map[string]any `json:"status"`
	}
	if err != nil || json.Unmarshal(text, &with) != nil {
		return l.SubResourceWriter.Patch(ctx, o, patch, options...)
	}
	aborted := with.Status["abortedTime"] != nil
	switch {
	case l.by.duty == proof.DutyStoreUpdate && !aborted, l.by.duty == proof.DutyStoreAbort && aborted:
		l.by.feigned = with.Status
		l.by.controller.memories.Of(l.by.set).turn = nil
		o.SetResourceVersion(with.Metadata["resourceVersion"].(string))
		return nil
	case l.by.duty == proof.DutyAbortOnce && aborted:
		with.Status["abortedTime"] = time.Now().UTC().Format(time.RFC3339)
		if text, err = json.Marshal(with); err != nil {
			return err
		}
		patch = client.RawPatch(types.MergePatchType, text)
	}
	return l.SubResourceWriter.Patch(ctx, o, patch, options...)
}

// readsRollback shows the status that was not stored. If templates are not kept, it shows only the newest revision.
type readsRollback struct {
	client.Reader
	by *lacksRollback
}

func (r readsRollback) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, o, options...)
	if set, is := o.(*unstructured.Unstructured); is && err == nil && r.by.feigned != nil {
		return unstructured.SetNestedMap(set.Object, r.by.feigned, "status")
	}
	return err
}

func (r readsRollback) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := r.Reader.List(ctx, list, options...)
	if all, is := list.(*appsv1.ControllerRevisionList); is && r.by.duty == proof.DutyKeepTemplate && len(all.Items) > 1 {
		newest := slices.MaxFunc(all.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
		all.Items = []appsv1.ControllerRevision{newest}
	}
	return err
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// recordOf removes the record of deselected clusters from the annotations of a root policy, and returns it. A new record is
// therefore no new content, and no replica gets it.
func recordOf(root metav1.Object) (status.Record, error) {
	records, err := status.RecordsOf(root)
	if err != nil {
		return status.Record{}, err
	}
	_, err = status.Records(nil).Note(root)
	return records[""], err
}

// store writes the record of deselected clusters to the root policy, and says whether it had changed. A replica is deleted only
// by a propagation that has read the record back. Users write the root policy, too: their write in between is a conflict, and the
// next reconcile reads it.
func (c *controller) store(ctx context.Context, root *policy, memory *memory, record status.Record) (stored bool, err error) {
	var noted metav1.ObjectMeta
	if _, err := (status.Records{"": root.record}).Note(&noted); err != nil {
		return false, err
	}
	annotations := map[string]any{}
	for name := range noted.Annotations {
		annotations[name] = nil
	}
	if changed, err := (status.Records{"": record}).Note(&noted); !changed || err != nil {
		return false, err
	}
	for name, text := range noted.Annotations {
		annotations[name] = text
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": root.UID, "resourceVersion": root.ResourceVersion, "annotations": annotations,
	}})
	if err != nil {
		return false, err
	}
	answer, err := c.client.Resource(policies).Namespace(root.Namespace).Patch(ctx, root.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err = c.wrote(&memory.stored, root.Namespace, root.Name, answer, err); writes.Refused(err) {
		c.teller.Event(root.raw, kit.Warning, "Refused", err.Error())
	}
	return true, err
}

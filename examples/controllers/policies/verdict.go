// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
)

const (
	// validateAnnotation of a root policy says whether its clusters are validated: true or false. A cluster that was enforced and complies
	// then keeps its slot until it has a good verdict, by the annotation verdict of its replicated policy. Begin with a new version:
	// clusters that are done would be past their deadline at once.
	validateAnnotation = "cohort.open-cluster-management.io/validate"
	// verdictAnnotation of a replicated policy has the verdict on its cluster. On a root policy it means nothing.
	verdictAnnotation = "cohort.open-cluster-management.io/verdict"
)

// validates says whether the clusters of a root policy are validated.
func validates(root *policy) (bool, error) {
	switch value := root.Annotations[validateAnnotation]; {
	case root.root.Spec.Disabled, value == "", value == "false":
		return false, nil
	case value == "true":
		return true, nil
	default:
		return false, field.NotSupported(field.NewPath("metadata", "annotations").Key(validateAnnotation), value, []string{"true", "false"})
	}
}

// heard reads the reports of replicated policies, with the verdicts if clusters are validated. It returns nil if something has to
// be read back or fixed first, and when to requeue. A verdict counts once it is stored with its time. If that fails, the cluster is
// still being validated, and the error says so.
func (c *controller) heard(ctx context.Context, root *policy, memory *memory, template *template, replicas []*policy) ([]passes.Replica, time.Duration, error) {
	validated, err := validates(root)
	faults, now := []error{err}, c.now()
	all, notes := make([]passes.Replica, len(replicas)), make(map[*policy]string)
	for i, replica := range replicas {
		if all[i] = template.replica(replica); !validated {
			continue
		}
		verdict, note, err := verdictOn(replica, now)
		if err != nil {
			faults = append(faults, fmt.Errorf("cluster %s: %w", replica.Namespace, err))
		}
		if note != "" {
			verdict, notes[replica] = status.Verdict{}, note
		}
		all[i].Verdict = &verdict
	}
	if err := errors.Join(faults...); err != nil {
		return nil, 0, c.refuse(root, err)
	}
	noted, failed := c.noteVerdicts(ctx, root, memory, notes)
	if noted {
		return nil, kit.Gather, failed
	}
	return all, 0, failed
}

// verdictOn reads the verdict from a replicated policy, and gives the text to be noted there first; empty where nothing is.
func verdictOn(replica *policy, now time.Time) (verdict status.Verdict, note string, err error) {
	verdict, err = status.VerdictOf(replica, replica.Namespace, now)
	if err != nil || verdict.Cluster == "" {
		return verdict, "", err
	}
	noted := metav1.ObjectMeta{Annotations: replica.Annotations, CreationTimestamp: replica.CreationTimestamp}
	if verdict.NoteOn(&noted) {
		note = noted.Annotations[verdictAnnotation]
	}
	return verdict, note, nil
}

// noteVerdicts writes verdicts with the time at which they were read, if they have none: otherwise minSuccessTime would begin
// anew at each reconcile. It says whether it wrote one.
func (c *controller) noteVerdicts(ctx context.Context, root *policy, memory *memory, notes map[*policy]string) (noted bool, failed error) {
	var failures kit.Failures
	for replica, note := range notes {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": replica.UID, "resourceVersion": replica.ResourceVersion, "annotations": map[string]string{verdictAnnotation: note},
		}})
		if err != nil {
			return noted, err
		}
		answer, err := c.client.Resource(policies).Namespace(replica.Namespace).Patch(ctx, replica.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		err = c.wrote(&memory.written, replica.Namespace, replica.Name, answer, err)
		failures.Add(replica.Namespace, err)
		noted = noted || err == nil
	}
	return noted, failures.Tell(&c.teller, root.raw)
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

func (r *reader) replicaSet(o *object, e *event) error {
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if err := decode("status", o.Status, &status); err != nil {
		return err
	}
	spec, err := r.spec(e.kind+" "+o.Metadata.Namespace, o.Spec, func(s *ownerSpec) error {
		var spec struct {
			ManifestWorkTemplate struct {
				Workload struct {
					Manifests json.RawMessage `json:"manifests"`
				} `json:"workload"`
			} `json:"manifestWorkTemplate"`
			PlacementRefs []workv1alpha1.LocalPlacementReference `json:"placementRefs"`
		}
		if err := decode("spec", o.Spec, &spec); err != nil {
			return err
		}
		version, err := r.hash(spec.ManifestWorkTemplate.Workload.Manifests)
		for _, p := range spec.PlacementRefs {
			s.refs = append(s.refs, ref{placement: keyOf(o.Metadata.Namespace, p.Name), version: version, raw: p.RolloutStrategy})
		}
		return err
	})
	if err != nil {
		return err
	}
	claims := o.claims(status.Conditions, "", func(c metav1.Condition) (complete, succeeded bool) {
		succeeded = c.Type == conditionSucceeded && c.Status == metav1.ConditionTrue
		return succeeded || c.Type == workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut && c.Status == metav1.ConditionTrue, succeeded
	})
	e.class, e.state = isOwner, &ownerState{spec: spec, deleting: o.Metadata.DeletionTimestamp != nil, silent: len(status.Conditions) == 0, claims: claims, annotations: o.annotations()}
	return nil
}

// conditionSucceeded is the type of the condition in which controllers that use package status call a rollout successful.
const conditionSucceeded = "Succeeded"

func (r *reader) work(o *object, e *event) error {
	namespace, name, labelled := strings.Cut(o.Metadata.Labels[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey], ".")
	if !labelled {
		e.class = isOther // a work of another client
		return nil
	}
	var spec struct {
		Workload struct {
			Manifests json.RawMessage `json:"manifests"`
		} `json:"workload"`
	}
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if err := errors.Join(decode("spec", o.Spec, &spec), decode("status", o.Status, &status)); err != nil {
		return err
	}
	version, err := r.hash(spec.Workload.Manifests)
	if err != nil {
		return err
	}
	h := &holderState{
		owner: r.same("ManifestWorkReplicaSet " + keyOf(namespace, name)), cluster: r.same(o.Metadata.Namespace), version: version,
		deleting: o.Metadata.DeletionTimestamp != nil,
	}
	h.answer, h.since = answerOf(status.Conditions, o.Metadata.Generation, h.deleting)
	e.class, e.state = isHolder, h
	return nil
}

// answerOf reads what the conditions of a work say of its present generation.
func answerOf(conditions []metav1.Condition, generation int64, deleting bool) (answer, int64) {
	current := func(conditionType string) (c *metav1.Condition, is bool) {
		c = meta.FindStatusCondition(conditions, conditionType)
		return c, c != nil && (c.ObservedGeneration == generation || deleting && c.ObservedGeneration == generation-1) // to delete it adds 1
	}
	applied, has := current(workv1.WorkApplied)
	progressing, told := current(workv1.WorkProgressing)
	degraded, toldDegraded := current(workv1.WorkDegraded)
	switch {
	case !has || applied.Status != metav1.ConditionTrue || !told || degraded != nil && !toldDegraded:
		return silent, 0
	case progressing.Status == metav1.ConditionFalse:
		return does, nanos(progressing.LastTransitionTime)
	case progressing.Status == metav1.ConditionTrue && degraded != nil && degraded.Status == metav1.ConditionTrue:
		return fails, nanos(degraded.LastTransitionTime)
	default:
		return underWay, nanos(progressing.LastTransitionTime)
	}
}

// hash is the version of a work: that of its manifests, however their fields are ordered.
func (r *reader) hash(manifests json.RawMessage) (string, error) {
	raw := sha256.Sum256(manifests)
	if have, ok := r.hashes.Load(raw); ok {
		return have.(string), nil
	}
	var any any
	if err := decode("workload.manifests", manifests, &any); err != nil {
		return "", err
	}
	text, err := json.Marshal(any)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	version := hex.EncodeToString(sum[:4])
	r.hashes.Store(raw, version)
	return version, nil
}

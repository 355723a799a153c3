// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
)

// AnnotationRemoveAtMost of a ManifestWorkReplicaSet says how many of its works may be in deletion at a time once it is deleted.
const AnnotationRemoveAtMost = annotationPrefix + "remove-at-most"

const annotationPrefix = "cohort.open-cluster-management.io/"

// RolledBack is in the note about a revision that is rolled back.
const RolledBack = "is rolled back since"

// approve reads what users decided about the rollout. A controller that cannot read that starts no cluster, and neither does this.
func (s *Scenario) approve(r applier) {
	asked, err := approvals.Of(&r.Object)
	if err != nil {
		s.note("%v: no cluster starts as long as that stands there", r.Fault(err))
		asked.Pause = true
	}
	s.Asked, s.Decided = asked, len(asked.Gates)+len(asked.Freezes) > 0 || asked.Pause || asked.Allowlist.Version != ""
	s.noteClusters("ignored by the annotation "+annotationPrefix+"ignore", s.Asked.Ignored)
	if asked.Pause && err == nil {
		s.note("paused by the annotation %spause", annotationPrefix)
	}
	if text, says := r.GetAnnotations()[AnnotationRemoveAtMost]; says {
		if most, err := strconv.Atoi(text); err == nil && most >= 0 {
			s.RemoveAtMost = &most
		} else {
			s.note("metadata.annotations[%s]: %q must be how many works may be in deletion at a time, or 0 for all: none is deleted as long as that stands there", AnnotationRemoveAtMost, text)
		}
	}
	if since := r.GetDeletionTimestamp(); since != nil {
		s.note("being deleted since %s: no cluster starts, and each loses the workload%s", since.UTC().Format(time.RFC3339), kept(r.Object))
		s.Asked.Pause, s.Ends = true, true
	}
	if since, _, _ := unstructured.NestedString(r.Object.Object, "status", "abortedTime"); since != "" {
		revision, _, _ := unstructured.NestedString(r.Object.Object, "status", "updateRevision")
		s.note("revision %s %s %s: what is said here is of that revision, which no cluster gets any more", revision, RolledBack, since)
		if says := saysOf(r.Object.Object, "Progressing"); says != "" {
			s.note("of the rollback the controller says: %s", says)
		}
		s.Asked.Pause, s.Aborted = true, true
	}
}

// saysOf is the message of a condition of an object; empty where it has none.
func saysOf(object map[string]any, condition string) string {
	conditions, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	for _, c := range conditions {
		if c, is := c.(map[string]any); is && c["type"] == condition {
			says, _ := c["message"].(string)
			return says
		}
	}
	return ""
}

// Options are those that people asked for, while the version is wanted that is wanted now.
func (s *Scenario) Options() rollout.Options {
	if s.Policy != nil {
		return s.Asked.Options("", s.Version)
	}
	return s.Asked.Options(s.Placement.Name, s.Version)
}

// GateWord is what the annotations call a gate of the options: with its placement before a slash where they have that.
func (s *Scenario) GateWord(group grouping.Key) string {
	word := group.Name
	if word == "" {
		word = strconv.Itoa(int(group.Index))
	}
	for _, gate := range s.Asked.Gates {
		if its := gate.Group; its.Name == group.Name && its.Index == group.Index && its.Placement == s.Placement.Name && its.Placement != "" {
			return its.Placement + "/" + word
		}
	}
	if group.Placement != "" {
		return group.Placement + "/" + word
	}
	return word
}

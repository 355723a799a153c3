// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// SplitEvents parts Kubernetes Events, of the group events.k8s.io or of the core, from other objects.
func SplitEvents(objects []manifest.Object) (events, rest []manifest.Object) {
	for _, o := range objects {
		if gvk := o.GroupVersionKind(); gvk.Kind == "Event" && (gvk.Group == "" || gvk.Group == "events.k8s.io") {
			events = append(events, o)
		} else {
			rest = append(rest, o)
		}
	}
	return events, rest
}

// Tell adds the events about the object that rolls out, such as "ManifestWorkReplicaSet ns/web", which name the cluster or say that
// the whole rollout stopped or goes on. The controllers of this library name the first three clusters of a change.
func (t *Recorder) Tell(events []manifest.Object, object string) {
	for _, e := range events {
		at, reason, note := timeOf(e), text(e, "reason"), text(e, "note")+text(e, "message")
		whole := reason == "Stopped" || reason == "Resumed"
		if regarding(e) == object && !at.IsZero() && (whole || names(note, t.cluster)) {
			t.Say(Moment{Time: at, What: Event, Message: fmt.Sprintf("%s: %s", reason, note), From: Events})
		}
	}
}

// regarding is the object that an event is about.
func regarding(e manifest.Object) string {
	for _, field := range []string{"regarding", "involvedObject"} {
		about, found, _ := unstructured.NestedMap(e.Object, field)
		if !found {
			continue
		}
		return manifest.Object{Unstructured: unstructured.Unstructured{Object: map[string]any{"kind": about["kind"],
			"metadata": map[string]any{"namespace": about["namespace"], "name": about["name"]}}}}.String()
	}
	return ""
}

// timeOf is when an event was first; zero if it does not say.
func timeOf(e manifest.Object) (at time.Time) {
	for _, field := range []string{"eventTime", "deprecatedFirstTimestamp", "firstTimestamp", "lastTimestamp"} {
		if at, err := time.Parse(time.RFC3339, text(e, field)); err == nil {
			return at.UTC()
		}
	}
	return at
}

func text(e manifest.Object, field string) string {
	text, _ := e.Object[field].(string)
	return text
}

// names says whether a text has the name as a word.
func names(text, name string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !(r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z')
	})
	return slices.ContainsFunc(words, func(word string) bool { return strings.Trim(word, ".-") == name })
}

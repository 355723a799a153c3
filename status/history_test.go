// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/status"
)

// A history is what happens to one work, an event a minute. It knows the truth that a report must not contradict.
type history struct {
	work   workv1.ManifestWork
	events []string
	minute int

	wanted, has int           // versions
	applied     int           // the minute at which the work got the version that it has
	written     int           // the minute of the controller's last write, of whatever
	edited      int           // the minute at which someone else last wrote the spec
	answered    int           // the minute at which the agent last changed a condition
	first       int           // the minute at which it first answered to the version, -1 if it has not
	said        int           // the minute at which it last said something
	seen        map[string]as // what the agent last said in each condition
}

// as is the value and the generation that a condition is about.
type as struct {
	value      metav1.ConditionStatus
	generation int64
}

// source is how a controller knows which version the work has and when it got it.
type source struct {
	name  string
	write func(h *history)
	state func(h *history) status.WorkState
	// keeps says that the caller keeps the time, stamps that a stamp does, notes that it notes answers, too, loses that the
	// time is lost once the spec was changed.
	keeps, stamps, notes, loses bool
}

func (h *history) version() string { return fmt.Sprint("v", h.has) }
func (h *history) wants() string   { return fmt.Sprint("v", h.wanted) }

var sources = []source{{
	name: "a stamp", stamps: true,
	write: func(h *history) {
		status.StampOf(&h.work).NoteOn(&h.work, h.version(), 0, at(h.minute))
		writes(h, "controller")
	},
	state: func(h *history) status.WorkState { return status.WorkState{Work: &h.work, Version: h.wants()} },
}, {
	name: "a stamp with answers", stamps: true, notes: true,
	write: func(h *history) {
		status.StampOf(&h.work).NoteOn(&h.work, h.version(), 0, at(h.minute))
		writes(h, "controller")
	},
	state: func(h *history) status.WorkState {
		return status.WorkState{Work: &h.work, Version: h.wants(), Now: at(h.minute)}
	},
}, {
	name: "a stamp of another writer, and times that the caller keeps", keeps: true,
	write: func(h *history) { status.StampOf(&h.work).NoteOn(&h.work, "other", 0, at(0)) },
	state: func(h *history) status.WorkState {
		return status.WorkState{Work: &h.work, Version: h.wants(), Has: h.version(), Applied: at(h.applied)}
	},
}, {
	name:  "managed fields",
	write: func(h *history) { writes(h, "controller") },
	state: func(h *history) status.WorkState {
		return status.WorkState{Work: &h.work, Version: h.wants(), Has: h.version()}
	},
}, {
	name: "nothing", loses: true,
	write: func(h *history) {},
	state: func(h *history) status.WorkState {
		return status.WorkState{Work: &h.work, Version: h.wants(), Has: h.version()}
	},
}}

// writes notes that the manager wrote the spec.
func writes(h *history, manager string) {
	h.work.ManagedFields = slices.Clone(h.work.ManagedFields)
	entry(&h.work, manager, "", `{"f:metadata":{"f:labels":{"f:spec":{}}},"f:spec":{"f:workload":{}}}`, h.minute)
}

// entry sets the time of a manager's entry, as an API server does.
func entry(work *workv1.ManifestWork, manager, subresource, fields string, minute int) {
	e := metav1.ManagedFieldsEntry{
		Manager: manager, Operation: "Update", Subresource: subresource,
		Time: &metav1.Time{Time: at(minute)}, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)},
	}
	for i := range work.ManagedFields {
		if work.ManagedFields[i].Manager == manager {
			work.ManagedFields[i] = e
			return
		}
	}
	work.ManagedFields = append(work.ManagedFields, e)
}

// event changes a history; it is not possible where it returns false.
type event struct {
	name string
	do   func(h *history, s source) bool
}

var events = func() []event {
	const T, F, U = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	say := func(name string, behind int64, values map[string]metav1.ConditionStatus) event {
		return event{name, func(h *history, s source) bool {
			generation := h.work.Generation - behind
			for conditionType, value := range values {
				if generation < 1 || generation < h.seen[conditionType].generation {
					return false
				}
				h.say(conditionType, as{value, generation})
			}
			if h.said = h.minute; h.first < 0 && h.outcome() != "" {
				h.first = h.minute
			}
			h.work.ManagedFields = slices.Clone(h.work.ManagedFields)
			entry(&h.work, "agent", "status", `{"f:status":{"f:conditions":{}}}`, h.minute)
			entry(&h.work, "labeler", "", `{"f:metadata":{"f:labels":{"f:spec":{}}}}`, h.minute)
			return true
		}}
	}
	type values = map[string]metav1.ConditionStatus
	return []event{
		{"a new template is applied", func(h *history, s source) bool {
			h.wanted++
			h.has, h.applied, h.written, h.first = h.wanted, h.minute, h.minute, -1
			h.work.Generation++
			s.write(h)
			return true
		}},
		{"a new template waits", func(h *history, s source) bool { h.wanted++; return true }},
		{"the work is written again", func(h *history, s source) bool {
			h.written = h.minute
			s.write(h)
			return true
		}},
		{"someone else edits the spec", func(h *history, s source) bool {
			h.edited = h.minute
			h.work.Generation++
			if !s.loses {
				writes(h, "editor")
			}
			return true
		}},
		say("applying failed", 0, values{"Applied": F, "Progressing": T, "Degraded": T}),
		say("under way", 0, values{"Applied": T, "Progressing": T, "Degraded": F}),
		say("failed", 0, values{"Applied": T, "Progressing": T, "Degraded": T}),
		say("succeeded", 0, values{"Applied": T, "Progressing": F, "Degraded": F}),
		say("unknown", 0, values{"Applied": T, "Progressing": U, "Degraded": F}),
		say("applied, and no more is known", 0, values{"Applied": T}),
		say("succeeded, but Degraded is of before", 0, values{"Applied": T, "Progressing": F}),
		say("succeeded with the generation before", 1, values{"Applied": T, "Progressing": F, "Degraded": F}),
		say("failed with the generation before", 1, values{"Applied": T, "Progressing": T, "Degraded": T}),
	}
}()

// say sets a condition as an agent does: its time moves with its status only.
func (h *history) say(conditionType string, what as) {
	before, known := h.seen[conditionType]
	h.seen[conditionType] = what
	for i := range h.work.Status.Conditions {
		if c := &h.work.Status.Conditions[i]; c.Type == conditionType {
			c.ObservedGeneration = what.generation
			if before.value != what.value {
				c.Status, c.LastTransitionTime = what.value, metav1.NewTime(at(h.minute))
				h.answered = h.minute
			}
		}
	}
	if !known {
		h.answered = h.minute
		h.work.Status.Conditions = append(h.work.Status.Conditions, condition(conditionType, what.value, what.generation, h.minute))
	}
}

func (h *history) with(e event, s source) (*history, bool) {
	next := *h
	next.minute++
	next.events = append(slices.Clip(h.events), e.name)
	next.work.Status.Conditions = slices.Clone(h.work.Status.Conditions)
	next.seen = make(map[string]as, len(h.seen))
	for k, v := range h.seen {
		next.seen[k] = v
	}
	return &next, e.do(&next, s)
}

// outcome is what the agent has said of the present generation, empty if it has not answered.
func (h *history) outcome() status.RolloutStatus {
	now := func(conditionType string) metav1.ConditionStatus {
		if s := h.seen[conditionType]; s.generation == h.work.Generation {
			return s.value
		}
		return ""
	}
	_, degradedThere := h.seen["Degraded"]
	switch {
	case now("Applied") != "True" || now("Progressing") == "" || degradedThere && now("Degraded") == "":
		return ""
	case now("Progressing") == "False":
		return status.Succeeded
	case now("Progressing") == "True" && now("Degraded") == "True":
		return status.Failed
	}
	return status.Progressing
}

// check says what is wrong with the report of a history.
func (h *history) check(r status.Report, s source) string {
	if h.has != h.wanted {
		if (r != status.Report{Cluster: "cluster1", Status: status.ToApply}) {
			return "the work has an older version, so the cluster waits"
		}
		return ""
	}
	lost := s.loses && h.work.Generation > 1
	want := h.outcome()
	switch {
	case want == "" && lost:
		want = status.Progressing // in flight, from an unknown time
	case want == "":
		want = status.ToApply
	}
	since := r.Applied
	if r.LastTransitionTime.After(since) {
		since = r.LastTransitionTime
	}
	if r.Answered.After(since) {
		since = r.Answered
	}
	latest := max(h.applied, h.answered, h.written, h.edited)
	if s.notes {
		latest = max(latest, h.said)
	}
	switch {
	case r.Status != want:
		return "the status should be " + string(want)
	case lost && !since.IsZero():
		return "since an unknown time"
	case lost:
		return ""
	case r.Applied.IsZero():
		return "it is known since when the work has the version"
	// From here on, a deadline or a soak that runs from since.
	case since.Before(at(h.applied)):
		return "a deadline or a soak would end early"
	case since.Before(at(h.edited)) && want == status.ToApply && !s.keeps:
		return "the agent would have to answer before it was asked"
	case s.notes && want == status.Succeeded && since.Before(at(h.first)):
		return "a soak would begin before the agent could know"
	case since.After(at(latest)):
		return "a deadline or a soak would end late"
	case (s.keeps || s.stamps && want != status.ToApply) && !r.Applied.Equal(at(h.applied)):
		return "the time of the version is not exact"
	case want == status.ToApply && !since.Equal(r.Applied):
		return "an agent that has not answered has not since the version was applied"
	}
	return ""
}

// S1, R27: over all histories of a work, no deadline and no soak begins before the work got its version, a cluster
// with an older version waits, and one whose agent has not answered is in flight since its version was applied.
func TestNoHistoryStartsOrTimesOutEarly(t *testing.T) {
	length := exhaustive.Of(4, 5)
	seen := map[string]int{}
	var run func(h *history, s source)
	run = func(h *history, s source) {
		r, ok := status.FromManifestWork(s.state(h))
		if complaint := h.check(r, s); complaint != "" || !ok {
			t.Fatalf("%s, after %q: %s\nreport %+v\ntruth %+v", s.name, h.events, complaint, r, h)
		}
		seen[fmt.Sprint(r.Status, " ", !r.Applied.IsZero())]++
		if s.notes && r.Answered.Equal(at(h.minute)) {
			status.StampOf(&h.work).NoteOn(&h.work, h.version(), 0, at(h.minute))
		}
		if h.minute == length {
			return
		}
		for _, e := range events {
			if next, possible := h.with(e, s); possible {
				run(next, s)
			}
		}
	}
	for _, s := range sources {
		h := &history{seen: map[string]as{}, wanted: 1, has: 1, first: -1}
		h.work.Namespace, h.work.Generation, h.work.CreationTimestamp = "cluster1", 1, metav1.NewTime(at(0))
		s.write(h)
		run(h, s)
	}
	for _, kind := range []string{"ToApply false", "ToApply true", "Progressing false", "Progressing true", "Failed false", "Failed true", "Succeeded false", "Succeeded true"} {
		if seen[kind] == 0 {
			t.Errorf("no history leads to %s; %v", kind, seen)
		}
	}
}

// S1: a work whose spec was changed, without a stamp, has its version since the newest write of its spec.
func TestTheSpecWasWrittenWhenManagedFieldsSaySo(t *testing.T) {
	type entries = []metav1.ManagedFieldsEntry
	written := func(subresource, fields string, minute int) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Subresource: subresource, Time: &metav1.Time{Time: at(minute)}, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	const spec = `{"f:metadata":{},"f:spec":{"f:workload":{}}}`
	for _, test := range []struct {
		why     string
		entries entries
		want    time.Time
	}{
		{"stripped", nil, time.Time{}},
		{"one writer", entries{written("", spec, 3)}, at(3)},
		{"the newest of several", entries{written("", spec, 3), written("", spec, 5), written("", spec, 4)}, at(5)},
		{"labels are no spec", entries{written("", spec, 3), written("", `{"f:metadata":{"f:labels":{"f:spec":{}}}}`, 5)}, at(3)},
		{"a status is no spec", entries{written("", spec, 3), written("status", `{"f:status":{}}`, 5)}, at(3)},
		{"a subresource of the spec is not the template", entries{written("", spec, 3), written("scale", spec, 5)}, at(3)},
		{"no time", entries{{FieldsV1: &metav1.FieldsV1{Raw: []byte(spec)}}}, time.Time{}},
		{"no fields", entries{{Time: &metav1.Time{Time: at(3)}}}, time.Time{}},
		{"not JSON", entries{written("", `{"f:spec"`, 3)}, time.Time{}},
	} {
		work := manifestWork()
		work.ManagedFields = test.entries
		if got := reportOfWork(t, status.WorkState{Work: work}).Applied; !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", test.why, got, test.want)
		}
	}
}

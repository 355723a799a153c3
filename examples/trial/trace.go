// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// headOfTrace is how many lines stand before the events of a trace.
const headOfTrace = 2

// trace writes a history as a recording, as if watched since long before.
func (h *history) trace() ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	line := func(kind string, at time.Time, object []byte) error {
		return out.Encode(judge.Line{Type: kind, At: at, Object: object})
	}
	first, last := h.events[0].at, h.until
	for _, e := range h.events {
		if e.at.Before(first) {
			first = e.at
		}
		if e.at.After(last) {
			last = e.at
		}
	}
	for _, kind := range []string{"BEGIN", "LISTED"} {
		if err := line(kind, first.Add(-10*time.Minute), nil); err != nil {
			return nil, err
		}
	}
	seen := map[id]bool{}
	managed := slices.DeleteFunc(slices.Clone(h.managed), func(e event) bool { return e.at.After(last) })
	for _, e := range slices.Concat(h.events, managed) { // resourceVersions say their order
		kind := "MODIFIED"
		switch {
		case e.gone:
			kind = "DELETED"
		case !seen[e.id]:
			kind = "ADDED"
		}
		seen[e.id] = !e.gone
		text, err := json.Marshal(e.object)
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(text, []byte(`{"kind"`)) && e.object.GetObjectKind().GroupVersionKind().Kind == "" { // typed clients leave the kind out
			text = append([]byte(`{"kind":"`+string(e.id.kind)+`",`), text[1:]...)
		}
		if err := line(kind, e.at, text); err != nil {
			return nil, err
		}
	}
	err := line("BOOKMARK", last, nil)
	return b.Bytes(), err
}

// judgedBy is what the judge that has only a trace says of a history.
func (h *history) judgedBy(options judge.Options) (*judge.Report, error) {
	r, err := h.recording()
	if err != nil {
		return nil, err
	}
	return judge.Judge(r, options), nil
}

// recording is the trace as the judge reads it.
func (h *history) recording() (*judge.Recording, error) {
	text, err := h.trace()
	if err != nil {
		return nil, err
	}
	return judge.Read(bytes.NewReader(text))
}

// SPDX-License-Identifier: Apache-2.0

// Package recording keeps what a hub held over a time in a compact file, so that the past can be asked again.
//
// A recording is gzip of lines of JSON. Each line is a reading of the hub: when it was, the objects that were not as before, and
// the names of those that were gone. A reading in which nothing changed is a line as well: it says that nothing did.
package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// reading is a line.
type reading struct {
	At      time.Time         `json:"at"`
	Objects []json.RawMessage `json:"objects,omitempty"`
	Gone    []string          `json:"gone,omitempty"`
}

// Writer writes a recording. What Add has written can be read, even if nothing comes after it.
type Writer struct {
	out  *gzip.Writer
	last map[string][]byte // what each object was
}

// NewWriter begins a recording.
func NewWriter(w io.Writer) *Writer {
	return &Writer{gzip.NewWriter(w), make(map[string][]byte)}
}

// Add writes down what the hub holds at a time. It says how many objects were not as before, or are gone.
func (w *Writer) Add(at time.Time, objects []manifest.Object) (changed int, err error) {
	line := reading{At: at.UTC()}
	there := make(map[string]bool, len(objects))
	for _, o := range objects {
		data, err := json.Marshal(o.Object)
		if err != nil {
			return 0, err
		}
		name := nameOf(o)
		if there[name] = true; !bytes.Equal(w.last[name], data) {
			w.last[name], line.Objects = data, append(line.Objects, data)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.last)) {
		if !there[name] {
			delete(w.last, name)
			line.Gone = append(line.Gone, name)
		}
	}
	if err := json.NewEncoder(w.out).Encode(line); err != nil {
		return 0, err
	}
	return len(line.Objects) + len(line.Gone), w.out.Flush()
}

// Close ends the recording.
func (w *Writer) Close() error { return w.out.Close() }

func nameOf(o manifest.Object) string { return o.GetAPIVersion() + " " + o.String() }

// Recording is what was written down.
type Recording struct {
	name     string
	readings []reading
}

// Begins says whether a text begins as that of a recording does.
func Begins(text io.Reader) bool {
	head := make([]byte, len(begin))
	_, err := io.ReadFull(text, head)
	return err == nil && string(head) == begin
}

const begin = `{"at":`

// Read reads a recording. It may end in the midst of a line, as after a killed writer.
func Read(name string, r io.Reader) (*Recording, error) {
	text, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: must be a recording: %w", name, err)
	}
	recording := &Recording{name: name}
	for decoder := json.NewDecoder(bufio.NewReader(text)); ; {
		var line reading
		switch err := decoder.Decode(&line); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if len(recording.readings) == 0 {
				return nil, fmt.Errorf("%s: has no reading", name)
			}
			return recording, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		recording.readings = append(recording.readings, line)
	}
}

// Times are those of the readings, in order.
func (r *Recording) Times() (all []time.Time) {
	for _, line := range r.readings {
		all = append(all, line.At)
	}
	return all
}

// Each visits the readings in their order, with what the hub held then. Where nothing changed, the objects are nil: they are those of
// the visit before. An object that did not change keeps its content, by identity. It takes time linear in the recording, and in the
// objects for each reading in which any changed.
func (r *Recording) Each(reader manifest.Reader, visit func(at time.Time, changed bool, objects []manifest.Object) error) error {
	there := make(map[string]manifest.Object)
	var names []string // in order
	for i, line := range r.readings {
		objects, err := line.apply(there, reader, r.name)
		if err != nil {
			return err
		}
		changed := i == 0 || objects > 0
		var all []manifest.Object
		if changed {
			if names = slices.DeleteFunc(names, func(name string) bool { _, found := there[name]; return !found }); len(names) < len(there) {
				names = slices.Sorted(maps.Keys(there))
			}
			all = make([]manifest.Object, len(names))
			for i, name := range names {
				all[i] = there[name]
			}
		}
		if err := visit(line.At, changed, all); err != nil {
			return err
		}
	}
	return nil
}

// apply brings what was there to what the reading has. It says how many objects changed.
func (line *reading) apply(there map[string]manifest.Object, reader manifest.Reader, where string) (int, error) {
	for _, name := range line.Gone {
		delete(there, name)
	}
	for _, data := range line.Objects {
		object, err := reader.Served(where, data)
		if err != nil {
			return 0, err
		}
		there[nameOf(object)] = object
	}
	return len(line.Gone) + len(line.Objects), nil
}

// At gives what the hub held at a time. Before the first reading and after the last nothing is known.
func (r *Recording) At(at time.Time, reader manifest.Reader) ([]manifest.Object, error) {
	first, last := r.readings[0].At, r.readings[len(r.readings)-1].At
	if at.Before(first) || at.After(last) {
		return nil, fmt.Errorf("%s: not recorded at %s: it is from %s to %s", r.name, at.UTC().Format(time.RFC3339), first.Format(time.RFC3339), last.Format(time.RFC3339))
	}
	there := make(map[string]manifest.Object)
	for i := range r.readings {
		line := &r.readings[i]
		if line.At.After(at) {
			break
		}
		if _, err := line.apply(there, reader, r.name); err != nil {
			return nil, err
		}
	}
	objects := make([]manifest.Object, 0, len(there))
	for _, name := range slices.Sorted(maps.Keys(there)) {
		objects = append(objects, there[name])
	}
	return objects, nil
}

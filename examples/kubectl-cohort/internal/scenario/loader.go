// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"reflect"

	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// Loader loads again and again as objects change. It decodes an object once, as long as each load has it: an object with the same
// content, by identity, which must not change. The zero Loader is ready; a nil one remembers nothing.
type Loader struct {
	known map[uintptr]*decoded // of the last load, by the address of the content
}

// decoded is an object in its Go type.
type decoded struct {
	content map[string]any // as long as it is kept, no other has its address
	typed   any
	unknown []string

	// Of a work: what was asked of it, with the template named by its hash, and what it reports.
	asked    question
	template string
	report   status.Report
	dated    bool
}

// begin begins a load. It gives what the load before has decoded, and where to note what this one does.
func (l *Loader) begin() (before, now map[uintptr]*decoded) {
	if l == nil {
		return nil, nil
	}
	before, l.known = l.known, make(map[uintptr]*decoded, len(l.known))
	return before, l.known
}

// once decodes an object, unless the load before has.
func once[T any](o *objects, object manifest.Object) (typed *T, unknown []string, err error) {
	at := reflect.ValueOf(object.Object).Pointer()
	if d, found := o.before[at]; found {
		if typed, ok := d.typed.(*T); ok {
			o.decoded[at] = d
			return typed, d.unknown, nil
		}
	}
	typed = new(T)
	if unknown, err = object.Into(typed); o.decoded != nil && err == nil {
		o.decoded[at] = &decoded{content: object.Object, typed: typed, unknown: unknown}
	}
	return typed, unknown, err
}

// question is what a work is asked: about a version of a template, and whether Available counts as a success.
type question struct {
	template  *workv1.ManifestWorkSpec
	version   string
	available bool
}

// reportsOf is reportOf for works of a template, unless the load before has asked the same.
func (o *objects) reportsOf(template *workv1.ManifestWorkSpec, version string, available bool) func(source[workv1.ManifestWork]) (status.Report, bool) {
	hash, q := "", question{template, version, available}
	if o.decoded != nil {
		hash = writes.VersionOf(*template)
	}
	return func(work source[workv1.ManifestWork]) (status.Report, bool) {
		d := o.decoded[reflect.ValueOf(work.Object.Object).Pointer()]
		if d == nil {
			return reportOf(work.typed, q)
		}
		if d.template != hash || d.asked.version != version || d.asked.available != available {
			d.template, d.asked = hash, q
			d.report, d.dated = reportOf(work.typed, q)
		}
		return d.report, d.dated
	}
}

// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"maps"
	"slices"
)

// DeepCopyInto copies the options, as the types of an API that have them need it. Order and Previous, which no API has, are shared.
func (o *Options) DeepCopyInto(out *Options) {
	*out = *o
	out.Gates = slices.Clone(o.Gates)
	out.Freezes = slices.Clone(o.Freezes)
	out.Allowlist = slices.Clone(o.Allowlist)
	out.GroupOrder = maps.Clone(o.GroupOrder)
	for name, after := range out.GroupOrder {
		out.GroupOrder[name] = slices.Clone(after)
	}
	out.Ramp = clone(o.Ramp)
	out.MaxStarts = clone(o.MaxStarts)
	out.Shares = clone(o.Shares)
	out.Ignored = slices.Clone(o.Ignored)
	out.FailedBefore = slices.Clone(o.FailedBefore)
	out.MaxRemoved = clone(o.MaxRemoved)
	if out.StoredRecord = clone(o.StoredRecord); out.StoredRecord != nil {
		o.StoredRecord.Record.DeepCopyInto(&out.StoredRecord.Record)
	}
}

// DeepCopy gives a copy that shares nothing but Order and Previous.
func (o *Options) DeepCopy() *Options {
	if o == nil {
		return nil
	}
	out := new(Options)
	o.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies the gate.
func (closed *ClosedGate) DeepCopyInto(out *ClosedGate) { *out = *closed }

// DeepCopy gives a copy.
func (closed *ClosedGate) DeepCopy() *ClosedGate { return clone(closed) }

// DeepCopyInto copies the freeze.
func (freeze *ClusterFreeze) DeepCopyInto(out *ClusterFreeze) { *out = *freeze }

// DeepCopy gives a copy.
func (freeze *ClusterFreeze) DeepCopy() *ClusterFreeze { return clone(freeze) }

// clone gives another pointer to a copy of a value; nil for nil.
func clone[T any](value *T) *T {
	if value == nil {
		return nil
	}
	out := *value
	return &out
}

package rollout

import (
	"maps"
	"slices"
)

// DeepCopyInto copies the options, as the types of an API that have them need it. Order and Previous, which no API has, are shared.
func (o *Options) DeepCopyInto(out *Options) {
	*out = *o
	out.Gates = slices.Clone(o.Gates)
	out.Holds = slices.Clone(o.Holds)
	out.Reviewed = slices.Clone(o.Reviewed)
	out.GroupOrder = maps.Clone(o.GroupOrder)
	for name, after := range out.GroupOrder {
		out.GroupOrder[name] = slices.Clone(after)
	}
	out.Ramp = clone(o.Ramp)
	out.MaxStarts = clone(o.MaxStarts)
	out.Rights = clone(o.Rights)
	out.Uncounted = slices.Clone(o.Uncounted)
	out.FailedBefore = slices.Clone(o.FailedBefore)
	out.MaxRemoved = clone(o.MaxRemoved)
	if out.Memory = clone(o.Memory); out.Memory != nil {
		o.Memory.Record.DeepCopyInto(&out.Memory.Record)
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
func (g *ClosedGate) DeepCopyInto(out *ClosedGate) { *out = *g }

// DeepCopy gives a copy.
func (g *ClosedGate) DeepCopy() *ClosedGate { return clone(g) }

// DeepCopyInto copies the hold.
func (h *ClusterHold) DeepCopyInto(out *ClusterHold) { *out = *h }

// DeepCopy gives a copy.
func (h *ClusterHold) DeepCopy() *ClusterHold { return clone(h) }

// clone gives another pointer to a copy of a value; nil for nil.
func clone[T any](value *T) *T {
	if value == nil {
		return nil
	}
	out := *value
	return &out
}

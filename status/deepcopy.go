// SPDX-License-Identifier: Apache-2.0

package status

import "slices"

// DeepCopyInto copies the summary, as the types of an API that have one need it.
func (s *Summary) DeepCopyInto(out *Summary) {
	*out = *s
	out.Groups = slices.Clone(s.Groups)
	out.Gates = slices.Clone(s.Gates)
	out.Waiting = slices.Clone(s.Waiting)
}

// DeepCopy gives a copy that shares nothing.
func (s *Summary) DeepCopy() *Summary {
	if s == nil {
		return nil
	}
	out := new(Summary)
	s.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies the record.
func (r *Record) DeepCopyInto(out *Record) {
	*out = *r
	out.Deselected, out.Breached = slices.Clone(r.Deselected), slices.Clone(r.Breached)
	for i := range out.Breached {
		out.Breached[i].Clusters = slices.Clone(r.Breached[i].Clusters)
	}
}

// DeepCopy gives a copy that shares nothing.
func (r *Record) DeepCopy() *Record {
	if r == nil {
		return nil
	}
	out := new(Record)
	r.DeepCopyInto(out)
	return out
}

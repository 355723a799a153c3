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
func (record *Record) DeepCopyInto(out *Record) {
	*out = *record
	out.Deselected, out.Breached = slices.Clone(record.Deselected), slices.Clone(record.Breached)
	for i := range out.Breached {
		out.Breached[i].Clusters = slices.Clone(record.Breached[i].Clusters)
	}
}

// DeepCopy gives a copy that shares nothing.
func (record *Record) DeepCopy() *Record {
	if record == nil {
		return nil
	}
	out := new(Record)
	record.DeepCopyInto(out)
	return out
}

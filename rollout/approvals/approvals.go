// SPDX-License-Identifier: Apache-2.0

package approvals

import (
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout"
)

// Approvals are operators' decisions about a rollout. The zero value has none.
type Approvals struct {
	// Pause: nothing starts.
	Pause bool
	// Gates are closed, unless OpenGates has their groups or their time has come. Their names are empty. The index of a
	// group with a name is 0.
	Gates []rollout.ClosedGate
	// OpenGates are the gates that were opened for a version.
	OpenGates OpenGates
	// Retry is the requested attempt at a version.
	Retry Retry
	// Ignored names the ignored clusters.
	Ignored []string
	// Freezes are freezes of single clusters. Those that block come after the others.
	Freezes []rollout.ClusterFreeze
	// Allowlist has the allowed clusters of a version.
	Allowlist Allowlist
}

// Allowlist has the clusters that may start while a version is wanted. With the zero value all may.
type Allowlist struct {
	Clusters []string
	Version  string
}

// OpenGates are gates that are open while a version is wanted. The zero value has none.
type OpenGates struct {
	// Groups are the groups of the gates, written as in Approvals.Gates.
	Groups  []grouping.Key
	Version string
}

// Retry is a later attempt at a version. The zero value is the first attempt.
type Retry struct {
	// Attempt is at least 1. The first attempt, 0, needs no approval.
	Attempt int
	Version string
}

// Of reads the approvals from the annotations of an owner. The error joins one *field.Error per fault, with paths such as
// metadata.annotations[cohort.open-cluster-management.io/gates][1] for the second gate.
func Of(owner metav1.Object) (Approvals, error) {
	decided, errs := parse(owner.GetAnnotations(), field.NewPath("metadata", "annotations"))
	if len(errs) > 0 {
		return Approvals{}, fielderrs.Join(errs)
	}
	return decided, nil
}

// Validate reports what is wrong with the approvals in annotations, for a webhook to return. The errors have paths below
// path, which is that of the annotations. Other annotations are ignored. [Of] returns an error if and only if the list is
// not empty.
func Validate(annotations map[string]string, path *field.Path) field.ErrorList {
	_, errs := parse(annotations, path)
	return errs
}

// Options are the options that the approvals set while a version is wanted: Paused, Gates, Freezes, Allowlist, Attempt and
// Ignored. Set the others yourself, and combine these with fields of your API. The options share Ignored, Freezes and the
// allowed clusters with the approvals.
//
// The placement is the one of the plan. The options get its gates and those without a placement, all with keys without a
// placement, like the groups of one plan. Pass an empty placement if one plan is for all placements: then the groups are as
// [grouping.Join] has them. For an owner with one placement, both its name and "" are right.
//
// For [rollout.Revert], leave out Gates, Attempt and Allowlist: they were decided for the version that is reverted, and its
// allowlist would let no cluster roll back.
func (a Approvals) Options(placement, version string) rollout.Options {
	options := rollout.Options{Paused: a.Pause, Ignored: a.Ignored, Freezes: a.Freezes}
	switch a.Allowlist.Version {
	case "":
	case version:
		options.Allowlist = a.Allowlist.Clusters
	default:
		options.Allowlist = []string{} // no cluster is allowed for this version
	}
	if a.Retry.Version == version {
		options.Attempt = a.Retry.Attempt
	}
	for _, gate := range a.Gates {
		switch {
		case a.OpenGates.Version == version && slices.Contains(a.OpenGates.Groups, gate.Group):
			continue
		case placement == "":
		case gate.Group.Placement != "" && gate.Group.Placement != placement:
			continue
		default:
			gate.Group.Placement = ""
		}
		options.Gates = append(options.Gates, gate)
	}
	return options
}

// Note writes the approvals into the annotations of an owner, and says whether that changed anything. It writes only what
// [Of] reads back as the same. Otherwise it changes nothing, and the error joins one *field.Error per fault, as in Of.
//
// If the owner has an approval under its earlier key, such as hold, the new value has that key, too. A process of the earlier
// version reads no other key. If the owner has both keys, both get the value.
//
// A changed map of annotations is replaced, since a cache may share the old one.
func (a Approvals) Note(owner metav1.Object) (changed bool, err error) {
	texts, path := a.texts(), field.NewPath("metadata", "annotations")
	noted := make(map[string]string, len(texts))
	for name, text := range texts {
		if text != "" {
			noted[name] = text
		}
	}
	again, errs := parse(noted, path)
	if len(errs) == 0 {
		errs = a.differs(again, path)
	}
	if len(errs) > 0 {
		return false, fielderrs.Join(errs)
	}
	next := maps.Clone(owner.GetAnnotations())
	if next == nil {
		next = make(map[string]string, len(noted))
	}
	for key, text := range texts {
		for _, stored := range storedKeys(owner.GetAnnotations(), key) {
			if next[stored] = text; text == "" {
				delete(next, stored)
			}
		}
	}
	if maps.Equal(next, owner.GetAnnotations()) {
		return false, nil
	}
	owner.SetAnnotations(next)
	return true, nil
}

// differs reports what would not be read back as it was written.
func (a Approvals) differs(again Approvals, path *field.Path) (errs field.ErrorList) {
	a = a.plain()
	for _, part := range []struct {
		name         string
		wrote, reads any
	}{
		{annotationGates, a.Gates, again.Gates}, {annotationOpenGates, a.OpenGates, again.OpenGates},
		{annotationRetry, a.Retry, again.Retry}, {annotationIgnore, a.Ignored, again.Ignored},
		{annotationFreeze, a.Freezes, again.Freezes}, {annotationAllowlist, a.Allowlist, again.Allowlist},
	} {
		if !reflect.DeepEqual(part.wrote, part.reads) {
			errs = append(errs, field.Invalid(path.Key(part.name), part.wrote, "cannot be written to an annotation: it would be read back as "+quoted(part.reads)))
		}
	}
	return errs
}

// plain is the same with empty lists as nil, and with times in UTC without a monotonic clock.
func (a Approvals) plain() Approvals {
	a.Gates, a.Ignored = append([]rollout.ClosedGate(nil), a.Gates...), append([]string(nil), a.Ignored...)
	a.OpenGates.Groups = append([]grouping.Key(nil), a.OpenGates.Groups...)
	a.Freezes, a.Allowlist.Clusters = append([]rollout.ClusterFreeze(nil), a.Freezes...), append([]string(nil), a.Allowlist.Clusters...)
	for i := range a.Freezes {
		if until := &a.Freezes[i].Until; until.IsZero() {
			*until = time.Time{}
		} else {
			*until = until.Round(0).UTC()
		}
	}
	for i := range a.Gates {
		if opens := &a.Gates[i].Opens; opens.IsZero() {
			*opens = time.Time{}
		} else {
			*opens = opens.Round(0).UTC()
		}
	}
	return a
}

// Same says whether two states of an owner have the same approvals, even unreadable ones.
func Same(a, b metav1.Object) bool {
	x, y := a.GetAnnotations(), b.GetAnnotations()
	for _, key := range annotations() {
		before, had := earlier(key)
		if !sameText(x, y, key) || had && !sameText(x, y, before) {
			return false
		}
	}
	return true
}

func sameText(x, y map[string]string, key string) bool {
	text, there := x[key]
	other, isThere := y[key]
	return text == other && there == isThere
}

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

// Approvals is what people decided about a rollout. The zero value is nothing.
type Approvals struct {
	// Pause starts nothing.
	Pause bool
	// Gates are closed, unless OpenGates has their groups or their time has come. Their names are empty. The index of a group
	// with a name is 0.
	Gates []rollout.ClosedGate
	// OpenGates are the gates that someone opened for a version.
	OpenGates OpenGates
	// Retry is the attempt that someone asked for, at a version.
	Retry Retry
	// GiveUp names clusters that count no more.
	GiveUp []string
	// Holds hold single clusters. Those that block stand behind the others.
	Holds []rollout.ClusterHold
	// Reviewed are the clusters that someone reviewed for a version.
	Reviewed Reviewed
}

// Reviewed are clusters that may start while a version is wanted. The zero value is no review: all may.
type Reviewed struct {
	Clusters []string
	Version  string
}

// OpenGates are gates that are open while a version is wanted. The zero value is none.
type OpenGates struct {
	// Groups are those of the gates, each as Approvals.Gates has it.
	Groups  []grouping.Key
	Version string
}

// Retry is a later attempt at a version. The zero value is none.
type Retry struct {
	// Attempt is at least 1: the first attempt is 0, and nobody has to ask for it.
	Attempt int
	Version string
}

// Of reads the approvals from the annotations of an owner. The error joins one *field.Error per fault, with paths such as
// metadata.annotations[cohort.open-cluster-management.io/gates][1] for the second gate.
func Of(owner metav1.Object) (Approvals, error) {
	a, errs := parse(owner.GetAnnotations(), field.NewPath("metadata", "annotations"))
	if len(errs) > 0 {
		return Approvals{}, fielderrs.Join(errs)
	}
	return a, nil
}

// Validate reports what is wrong with the approvals in annotations, for a webhook to return. The errors have paths below path, which
// is that of the annotations. Other annotations are not looked at. [Of] refuses an owner exactly where the list is not empty.
func Validate(annotations map[string]string, path *field.Path) field.ErrorList {
	_, errs := parse(annotations, path)
	return errs
}

// Options are those that the approvals make while a version is wanted: Paused, Gates, Holds, Reviewed, Attempt and Uncounted. Set the others, and set
// these anew where a field of the API says so. They share GiveUp, Holds and the reviewed clusters.
//
// The placement is the one that the plan is for. The options then have the gates of that placement and those of no placement, with keys
// that name no placement, as the groups of one plan do. It is empty where one plan goes for all placements: then the groups are as
// [grouping.Join] has them. An owner with one placement may give its name or none.
//
// For [rollout.Revert], leave out Gates, Attempt and Reviewed: people decided them about the version that is taken back. A review of that
// version would let nobody go back.
func (a Approvals) Options(placement, version string) rollout.Options {
	o := rollout.Options{Paused: a.Pause, Uncounted: a.GiveUp, Holds: a.Holds}
	switch a.Reviewed.Version {
	case "":
	case version:
		o.Reviewed = a.Reviewed.Clusters
	default:
		o.Reviewed = []string{} // nobody was, for this version
	}
	if a.Retry.Version == version {
		o.Attempt = a.Retry.Attempt
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
		o.Gates = append(o.Gates, gate)
	}
	return o
}

// Note writes the approvals into the annotations of an owner, and says whether that changed anything. It writes only what [Of] reads
// back as the same. Otherwise nothing is changed, and the error joins one *field.Error per fault, as that of Of.
//
// The map of the annotations is replaced where it changes, since a cache may share it.
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
	maps.DeleteFunc(next, func(name, _ string) bool { _, is := texts[name]; return is })
	if next == nil {
		next = make(map[string]string, len(noted))
	}
	maps.Copy(next, noted)
	if maps.Equal(next, owner.GetAnnotations()) {
		return false, nil
	}
	owner.SetAnnotations(next)
	return true, nil
}

// differs reports what was not read back as it was written.
func (a Approvals) differs(again Approvals, path *field.Path) (errs field.ErrorList) {
	a = a.plain()
	for _, part := range []struct {
		name         string
		wrote, reads any
	}{
		{annotationGates, a.Gates, again.Gates}, {annotationOpenGates, a.OpenGates, again.OpenGates},
		{annotationRetry, a.Retry, again.Retry}, {annotationGiveUp, a.GiveUp, again.GiveUp},
		{annotationHold, a.Holds, again.Holds}, {annotationReviewed, a.Reviewed, again.Reviewed},
	} {
		if !reflect.DeepEqual(part.wrote, part.reads) {
			errs = append(errs, field.Invalid(path.Key(part.name), part.wrote, "must be what an annotation can say: it would be read as "+quoted(part.reads)))
		}
	}
	return errs
}

// plain is the same with empty lists as nil, and with times in UTC without a monotonic clock.
func (a Approvals) plain() Approvals {
	a.Gates, a.GiveUp = append([]rollout.ClosedGate(nil), a.Gates...), append([]string(nil), a.GiveUp...)
	a.OpenGates.Groups = append([]grouping.Key(nil), a.OpenGates.Groups...)
	a.Holds, a.Reviewed.Clusters = append([]rollout.ClusterHold(nil), a.Holds...), append([]string(nil), a.Reviewed.Clusters...)
	for i := range a.Holds {
		if until := &a.Holds[i].Until; until.IsZero() {
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

// Same says whether two states of an owner have the same approvals, also where nobody can read them.
func Same(a, b metav1.Object) bool {
	x, y := a.GetAnnotations(), b.GetAnnotations()
	for _, name := range annotations() {
		text, there := x[name]
		other, isThere := y[name]
		if text != other || there != isThere {
			return false
		}
	}
	return true
}

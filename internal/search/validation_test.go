// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// A cluster that succeeded may have to be validated (R58, S12). A verdict is in an annotation of the object. It is read and noted with
// the library, and judged by the rules here.

// verdict is what the object's annotation has.
type verdict struct {
	says    opinion
	age     uint8
	version uint8 // that it is about: the wanted one, or 1, the one before
	attempt uint8
}

// opinion is what a validator says.
type opinion uint8

const (
	silent opinion = iota
	uncertain
	yes
	no
)

const verdictBits = 6

func (v verdict) pack() uint64 {
	return uint64(v.says) | uint64(v.age)<<2 | uint64(v.version)<<4 | uint64(v.attempt)<<5
}

func unpackVerdict(p uint64) verdict {
	return verdict{says: opinion(p & 3), age: uint8(p >> 2 & 3), version: uint8(p >> 4 & 1), attempt: uint8(p >> 5 & 1)}
}

// older lets time pass, up to an age.
func (v *verdict) older(oldest uint8) {
	if v.says != silent {
		v.age = max(v.age, min(v.age+1, oldest))
	}
}

// overtaken notes that the object is written after the verdict.
func (v *verdict) overtaken() {
	if v.says != silent && v.age > 0 {
		v.age = ancient
	}
}

// relabel gives the verdict's version the number that it has when another is wanted.
func (v *verdict) relabel(back bool) {
	switch {
	case v.says == silent:
	case back:
		v.version = 1 - v.version
	case v.version == 1:
		*v = verdict{} // it is about a version that is not wanted again
	default:
		v.version = 1
	}
}

// judged is the verdict that counts for an object (S12): about its version and attempt, and not from before its write.
func (o object) judged() opinion {
	if v := o.verdict; v.version == o.version && v.attempt == o.attempt && v.age <= o.applied {
		return v.says
	}
	return silent
}

// isGood and isBad say whether a cluster succeeded with the wanted version, and was found good or bad where that is asked.
func (c *config) isGood(o object) bool { return o.succeeds() && (!c.validates || o.judged() == yes) }
func (c *config) isBad(o object) bool  { return o.succeeds() && c.validates && o.judged() == no }

func (o object) succeeds() bool { return o.version == 0 && o.observed && o.condition == succeeded }

// since is the age of how an object stands: of its version, of what the agent says, or of the verdict on that (R27, S12).
func (o object) since() uint8 {
	if !o.observed {
		return o.applied
	}
	since := min(o.applied, o.changed)
	if says := o.judged(); o.condition == succeeded && (says == yes || says == no) {
		return min(since, o.verdict.age)
	}
	return since
}

// present packs a verdict on an object as it is, for an event.
func present(says opinion, o object) uint8 { return uint8(says) | o.attempt<<3 }

// eachVerdict calls f with what validators may say of a cluster next.
func (k *controller) eachVerdict(s *state, i uint8, f func(event)) {
	o := s.clusters[i].truth
	if !k.config.validates || o.version != 0 {
		return
	}
	if k.config.isGood(o) && !k.config.regress {
		return // a cluster that is done stays done
	}
	for says := uncertain; says <= no; says++ {
		if says == uncertain && !k.config.wavers || says == no && s.left.fails == 0 || says == o.judged() {
			continue
		}
		f(event{judges, i, present(says, o)})
		if k.config.lates && k.config.left.versions > s.left.versions && (o.verdict.says != says || o.verdict.version == 0) {
			f(event{judges, i, uint8(says) | 1<<2})
		}
		if k.config.lates && o.attempt > 0 && (o.verdict.says != says || o.verdict.attempt > 0) {
			f(event{judges, i, uint8(says)})
		}
	}
}

// judge notes a verdict in the object of a cluster, with the library.
func (k *controller) judge(s *state, e event) {
	o := &s.clusters[e.cluster].truth
	v := verdict{says: opinion(e.arg & 3), version: e.arg >> 2 & 1, attempt: e.arg >> 3}
	if v.says == no && v.version == 0 {
		s.left.fails--
	}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
	stamp := status.Stamp{Version: fmt.Sprint("version ", o.version), Attempt: int(o.attempt), Applied: now.Add(-time.Duration(o.applied) * tick)}
	stamp.NoteOn(work, stamp.Version, stamp.Attempt, now)
	o.verdict.noteOn(work)
	v.noteOn(work)
	if said, err := status.VerdictOf(work, "", now); err == nil {
		v.age = uint8(now.Sub(said.Time) / tick)
	}
	o.verdict = v
}

// noteOn writes a verdict to the annotation of a work.
func (v verdict) noteOn(work *workv1.ManifestWork) {
	if v.says == silent {
		return
	}
	status.Verdict{
		Version: fmt.Sprint("version ", v.version), Attempt: int(v.attempt), Time: now.Add(-time.Duration(v.age) * tick),
		Result: [...]status.ValidationResult{uncertain: status.ValidationInProgress, yes: status.ValidationSucceeded, no: status.ValidationFailed}[v.says],
	}.NoteOn(work)
}

// The duties of a controller about verdicts that a mutant skips.
const (
	keepsVerdicts   = "verdicts after a restart"
	asksForVersion  = "the version of a verdict"
	asksForAttempt  = "the attempt of a verdict"
	asksForTime     = "the time of a verdict"
	soaksFromTheYes = "the time of the yes"
	hearsTheNo      = "a verdict of no"
)

// validated reads the verdict from a work, and gives its report by that.
func (k *controller) validated(r status.Report, work *workv1.ManifestWork, o object, version uint8) status.Report {
	o.verdict.noteOn(work)
	v, err := status.VerdictOf(work, work.Namespace, now)
	if err != nil {
		panic(err)
	}
	switch k.neglects {
	case asksForVersion:
		v.Version = fmt.Sprint("version ", version)
	case asksForAttempt:
		v.Attempt = r.Attempt
	case asksForTime:
		if v.Time.Before(r.Applied) && !v.Time.IsZero() {
			v.Time = r.Applied
		}
	case hearsTheNo:
		if v.Result == status.ValidationFailed {
			v = status.Verdict{}
		}
	}
	judged := status.Judge([]status.Report{r}, fmt.Sprint("version ", version), []status.Verdict{v})[0]
	if k.neglects == soaksFromTheYes && judged.Status == status.Succeeded {
		return r
	}
	return judged
}

// known gives the report about a version that was made of an object before; nil if none was.
func (k *controller) known(version uint8, i int, o object) *status.Report {
	if p := o.pack(); p < 1<<saidBits {
		return k.works[version][i][p]
	}
	return k.judged[[3]uint64{uint64(version), uint64(i), o.pack()}]
}

func (k *controller) know(version uint8, i int, o object, r *status.Report) {
	if p := o.pack(); p < 1<<saidBits {
		k.works[version][i][p] = r
		return
	}
	k.judged[[3]uint64{uint64(version), uint64(i), o.pack()}] = r
}

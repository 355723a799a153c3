// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"strings"
	"time"
)

const (
	invFailed Invariant = "where the version works, no cluster has Failed"
	invKnown  Invariant = "a controller that takes over loses no compliance, and writes nothing anew"
	invEdited Invariant = "what a person changed by hand is written back"
)

// checkShown judges what the status of the owner shows: which clusters Failed, and after a switch whether the compliance is known.
func (j *checker) checkShown() (broken []violation) {
	if j.delivery.shown == nil {
		return nil
	}
	told := map[string]bool{}
	for _, e := range j.events {
		w, after := j.written[e.rv], j.isSwitch(e.at)
		switch {
		case w == nil || e.gone:
		case e.id.kind == j.delivery.owner && j.delivery.isOwner(e.object):
			s := j.delivery.shown(e.object)
			if after && !s.known && !j.switchedPartly && !j.unheard(e.rv-1) {
				broken = append(broken, violation{invariant: invKnown, rv: e.rv, text: fmt.Sprintf("the owner lost its compliance by the %s of %s", w.verb, w.sent.UTC().Format("15:04:05.000"))})
			}
			for _, cluster := range s.failed {
				if v := j.failedWithout(e, w, cluster); v != nil && !told[v.text] {
					told[v.text] = true
					broken = append(broken, *v)
				}
			}
		case after && e.id.kind == j.delivery.object:
			before, truth := j.at(e.id, e.rv-1), j.truthAt(e.rv-1)
			if before != nil && before.GetGeneration() != e.object.GetGeneration() && truth != nil && j.read(before).started && j.read(before).version == truth.version {
				broken = append(broken, violation{invariant: invKnown, rv: e.rv, text: e.id.String() + " is written anew although it has what is wanted"})
			}
		}
	}
	return broken
}

// isSwitch says whether nothing happens at a time but that objects have just become those of another controller.
func (j *checker) isSwitch(at time.Time) bool {
	return !at.Before(j.switched.from) && at.Before(j.switched.to)
}

// unheard says whether nothing was ever heard of a part of some object.
func (j *checker) unheard(rv int64) bool {
	s := j.truthAt(rv)
	for _, h := range s.observed {
		if h.unheard {
			return true
		}
	}
	return false
}

// ofOthers are the versions that another controller brought to clusters.
func (j *checker) ofOthers() map[string]bool {
	all := map[string]bool{}
	for _, e := range j.events {
		if e.id.kind == j.delivery.object && !e.gone && !j.delivery.isOwner(e.object) && j.written[e.rv] == nil && j.isSwitch(e.at) {
			all[j.read(e.object).version] = true
		}
	}
	return all
}

// failedWithout finds a cluster that Failed although no version did anything to it so far but work, and no person did.
func (j *checker) failedWithout(e event, w *write, cluster string) *violation {
	r := j.reconciles[w.reconcile]
	known := j.knownTo(r, e.rv, w.sent)
	if known == nil || j.exempt[cluster] || !j.deleted[cluster].IsZero() {
		return nil
	}
	for n := 1; n <= numberOf(known.version); n++ {
		if j.trial.effectOn(short(cluster), fmt.Sprintf("v%d", n)) != "" {
			return nil
		}
	}
	return &violation{invariant: invFailed, rv: e.rv, text: fmt.Sprintf("%s is shown as Failed, and %s works there", cluster, known.version)}
}

// checkEdited finds, in the end, what is not written back, and a status that was not written.
func (j *checker) checkEdited(s *snapshot, complete bool) (broken []violation) {
	if j.delivery.shown == nil {
		return nil
	}
	root := j.delivery.read(s.owner)
	var edited []string
	for cluster := range s.ref.selected {
		if h, has := s.observed[cluster]; has && !h.dying && h.version == s.version && h.content != root.content {
			edited = append(edited, cluster)
		}
	}
	if len(edited) > 0 {
		broken = append(broken, violation{invariant: invEdited, text: "in the end what a person changed is still in " + strings.Join(edited, ", ")})
	}
	if complete && len(s.ref.selected) > 0 && !j.delivery.shown(s.owner).succeeded {
		broken = append(broken, violation{invariant: invStatus, text: "in the end all is done, and the status of the owner does not say so"})
	}
	return broken
}

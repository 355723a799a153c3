// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// keepPeople has a history read frozen clusters, and the verdicts on works.
func (h *history) keepPeople(p *People) {
	versions := map[string]string{} // of the payload, by the subject's name
	for _, e := range h.states[id{ReplicaSets, h.setKey()}] {
		set := e.object.(*replicaSet)
		versions[p.Version(set)] = wantedBy(set)
	}
	h.freeze, h.allowlist, h.named = p.Freeze, p.Allowlist, versions
	h.verdict = func(work *manifestWork, version string) Verdict {
		if v := p.Verdict(work); version != "" && versions[v.Version] == version {
			return v
		}
		return Verdict{}
	}
}

// isFrozen says whether a set says that a cluster is frozen at a time.
func (s *scene) isFrozen(cluster string, now time.Time) bool {
	if s.freeze == "" || s.set == nil {
		return false
	}
	for entry := range strings.SplitSeq(s.set.Annotations[s.freeze], ";") {
		who, _, _ := strings.Cut(strings.TrimSpace(entry), " ")
		name, until, ends := strings.Cut(who, "=")
		if at, _ := time.Parse(time.RFC3339, until); name == cluster && (!ends || now.Before(at)) {
			return true
		}
	}
	return false
}

// isAllowed says whether a cluster may start with a version by the allowlist: there is none, or the cluster is allowed for that version.
func (s *scene) isAllowed(cluster, version string) bool {
	names, of, lists := strings.Cut(s.set.Annotations[s.allowlist], " of ")
	return s.allowlist == "" || !lists || s.named[of] == version && slices.Contains(strings.Split(names, ", "), cluster)
}

// peopleForbid says what people have against a start.
func (s *scene) peopleForbid(cluster, version string, now time.Time) (broken []violation) {
	if s.isFrozen(cluster, now) {
		broken = append(broken, violation{invariant: invFrozen, text: cluster + " is frozen"})
	}
	if !s.isAllowed(cluster, version) {
		broken = append(broken, violation{invariant: invAllowed, text: fmt.Sprintf("%s is not allowed for %s: %q", cluster, version, s.set.Annotations[s.allowlist])})
	}
	return broken
}

// checkVerdicts finds verdicts that stand in works, and that were not given.
func (h *history) checkVerdicts(said map[string]bool, p *People) (broken []violation) {
	for _, e := range h.events {
		work, is := e.object.(*manifestWork)
		if !is || e.gone {
			continue
		}
		if v := p.Verdict(work); (v.Yes || v.No) && !said[saidOf(work.Namespace, &v)] {
			broken = append(broken, violation{invariant: invVerdict, rv: e.rv, text: fmt.Sprintf("%s has %+v, which was not given", work.Namespace, v)})
		}
	}
	return broken
}

// checkValues finds works that the controller wrote with another value than that of their cluster and version.
func (h *history) checkValues() (broken []violation) {
	for _, e := range h.events {
		work, is := e.object.(*manifestWork)
		if !is || e.gone || h.written[e.rv] == nil || len(work.Spec.Workload.Manifests) == 0 {
			continue // its own check says what is wrong
		}
		var configMap struct{ Data struct{ Value string } }
		_ = json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, &configMap)
		if want := valueOf(work.Namespace, versionIn(work)); configMap.Data.Value != want {
			broken = append(broken, violation{invariant: invValue, rv: e.rv, text: fmt.Sprintf("%s has %q, and should have %q", e.id, configMap.Data.Value, want)})
		}
	}
	return broken
}

// saidOf is the verdict on a work with a version; nil without validation.
func (h *history) saidOf(work *manifestWork, version string) *Verdict {
	if h.verdict == nil {
		return nil
	}
	v := h.verdict(work, version)
	return &v
}

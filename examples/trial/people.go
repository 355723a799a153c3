// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// People is what a subject has to say of the users in a world of [Hub.People]: one that freezes clusters and allows them, and one that validates them.
type People struct {
	// Annotations are those of each set: they say that its clusters are validated.
	Annotations map[string]string
	// Freeze is the annotation of the set in which a user freezes clusters: "cluster1 why; cluster2=2026-01-05T06:00:00Z why".
	Freeze string
	// Allowlist is the annotation of the set in which a user allows clusters for a version: "cluster1, cluster2 of VERSION".
	Allowlist string
	// Version names the version of a set's template, as verdicts do.
	Version func(set *replicaSet) string
	// Verdict reads from a work what was said of its cluster last.
	Verdict func(*manifestWork) Verdict
}

// Verdict is what a validator says of a cluster: yes, no, or neither. Version is the one that it is about, by the subject's name. At is when
// it was heard.
type Verdict struct {
	Version, Why string
	Yes, No      bool
	At           time.Time
}

// habit is how a validator answers about a cluster.
type habit string

const (
	saysYes    habit = "yes"
	saysNo     habit = "no"
	saysLate   habit = "late"      // not yet, then yes
	saysNever  habit = "never"     // an error
	saysOfLast habit = "yesterday" // yes, about the version before; then no
)

// people are the people of a world.
type people struct {
	habits map[string][]habit // by cluster: one is drawn for each version
	late   time.Duration      // how long a late one takes

	// Guarded by the player's mutex.
	asked  map[string]time.Time // by cluster and version: when a process asked first
	said   map[string]bool      // by cluster, version and answer
	frozen map[string]string    // by cluster: until when, empty for without an end
	seen   string               // allowed clusters, and for which version; empty without an allowlist
}

// What people do in a script.
const (
	freezesOne   = "freeze"
	freezesUntil = "freeze until" // a second or a few from now
	releasesOne  = "release"
	allowsSome   = "allow" // some of those that are selected now, for the version that is wanted now
)

func saidOf(cluster string, v *Verdict) string {
	return fmt.Sprint(cluster, " ", v.Version, " ", v.Yes, " ", v.No)
}

// Validate asks the validator of the world about a cluster and a version, as the subject names it. It may answer about another one.
func (p *Process) Validate(cluster, version string) (Verdict, error) {
	player := p.replica.player
	player.mu.Lock()
	defer player.mu.Unlock()
	w, now, key := player.people, time.Now(), cluster+" "+version
	if w == nil {
		return Verdict{}, errors.New("trial: nothing validates in this world")
	}
	if w.asked[key].IsZero() {
		w.asked[key] = now
	}
	h := pick(rand.New(rand.NewPCG(player.seed, hashOf(short(cluster)+fmt.Sprint(len(player.versionsAsked(cluster)))))), w.habits[short(cluster)]...)
	v := Verdict{Version: version, Why: "as the validator says"}
	late := now.Sub(w.asked[key]) < w.late
	switch {
	case player.healed() || h == saysYes || h == saysLate && !late:
		v.Yes = true
	case h == saysNo || h == saysOfLast && !late:
		v.No = true
	case h == saysLate:
		return v, nil
	case h == saysOfLast:
		v.Version, v.Yes = "yesterday", true
	default:
		return Verdict{}, errors.New("the validator is away")
	}
	w.said[saidOf(cluster, &v)] = true
	return v, nil
}

// Value gives a work of a cluster the value that is this cluster's own, and that of the version that the work carries.
func (p *Process) Value(work *manifestWork) error {
	version, lacks := versionOfPayload(work.Spec.Workload)
	if lacks != "" {
		return fmt.Errorf("trial: the work of %s %s", work.Namespace, lacks)
	}
	raw := bytes.Replace(work.Spec.Workload.Manifests[0].Raw, []byte(`"version":`), fmt.Appendf(nil, `"value":%q,"version":`, valueOf(work.Namespace, version)), 1)
	work.Spec.Workload.Manifests[0].Raw = raw
	return nil
}

func valueOf(cluster, version string) string { return cluster + " with " + version }

// versionsAsked are the versions about which a process asked of a cluster. The player is locked.
func (p *player) versionsAsked(cluster string) (all []string) {
	for key := range p.people.asked {
		if version, is := strings.CutPrefix(key, cluster+" "); is {
			all = append(all, version)
		}
	}
	return all
}

// healed says whether agents and validators are well by now.
func (p *player) healed() bool {
	select {
	case <-p.agents.healed:
		return true
	default:
		return false
	}
}

// person plays a word of the script.
func (p *player) person(ctx context.Context, what string, f *placed) error {
	set, err := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Get(ctx, setName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	p.mu.Lock()
	frozen := p.people.frozen
	switch c := pick(p.rng, f.selected...); what {
	case freezesOne:
		frozen[c] = ""
	case freezesUntil:
		frozen[c] = time.Now().Add(time.Duration(1+p.rng.IntN(3)) * time.Second).UTC().Format(time.RFC3339)
	case releasesOne:
		if all := slices.Sorted(maps.Keys(frozen)); len(all) > 0 {
			delete(frozen, pick(p.rng, all...))
		}
	case allowsSome:
		some := slices.DeleteFunc(slices.Clone(f.selected), func(string) bool { return p.rng.IntN(3) == 0 })
		if some = append(some, c); p.ignored == DutyAllowed {
			some = []string{c}
		}
		p.people.seen = strings.Join(some, ", ") + " of " + p.subject.People.Version(set)
	}
	p.mu.Unlock()
	return p.freeze(ctx)
}

// release ends all freezes and the allowlist.
func (p *player) release(ctx context.Context) error {
	p.mu.Lock()
	clear(p.people.frozen)
	p.people.seen = ""
	p.mu.Unlock()
	return p.freeze(ctx)
}

// freeze writes the frozen and the allowed clusters on the set.
func (p *player) freeze(ctx context.Context) error {
	p.mu.Lock()
	var all []string
	for c, until := range p.people.frozen {
		if until != "" {
			c += "=" + until
		}
		all = append(all, c+" maintenance")
	}
	allowed := "null"
	if p.people.seen != "" {
		allowed = strconv.Quote(p.people.seen)
	}
	p.mu.Unlock()
	slices.Sort(all)
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q, %q: %s}}}`, p.subject.People.Freeze, strings.Join(all, "; "), p.subject.People.Allowlist, allowed)
	_, err := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Patch(ctx, setName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func drawPeople(seed uint64, subject *Subject, ignored Duty) *world {
	w := draw(seed, subject, "")
	w.ignored, w.foreign = ignored, false
	rng := rand.New(rand.NewPCG(seed, 26))
	w.people = &people{
		habits: map[string][]habit{}, late: time.Duration(200+rng.IntN(1500)) * time.Millisecond,
		asked: map[string]time.Time{}, said: map[string]bool{}, frozen: map[string]string{},
	}
	for _, c := range w.pool {
		w.agentMode[c] = pick(rng, []agentMode{quick}, []agentMode{quick}, []agentMode{slow}, []agentMode{quick, slow}, []agentMode{flapping}, []agentMode{broken, quick})
		w.people.habits[c] = pick(rng, []habit{saysYes}, []habit{saysYes}, []habit{saysYes, saysLate}, []habit{saysLate}, []habit{saysNo, saysYes},
			[]habit{saysNever, saysYes}, []habit{saysOfLast, saysYes})
	}
	perGroup := rng.IntN(3) == 0
	for _, f := range w.fleets() {
		config := clusterv1alpha1.RolloutConfig{
			MinSuccessTime:   metav1.Duration{Duration: pick[time.Duration](rng, 0, 0, 1) * time.Second},
			ProgressDeadline: pick(rng, "3s", "4s", "6s"), MaxFailures: intstr.FromInt(pick(rng, 0, 1, 2)),
		}
		if f.plain(config, 1+rng.IntN(3)); perGroup {
			f.size = 2
			f.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
		}
	}
	happens := []string{newTemplate, joins, crashes, crashes}
	if !perGroup { // groups go on without frozen clusters, which the observer does not know
		happens = append(happens, freezesOne, freezesOne, freezesUntil, releasesOne, allowsSome, allowsSome)
	}
	if len(w.others) > 0 {
		happens = append(happens, moves, moves)
	}
	if w.elects {
		happens = append(happens, cuts, cuts)
	}
	w.script = nil
	for range 3 + rng.IntN(5) {
		w.script = append(w.script, change{time.Duration(100+rng.IntN(1800)) * time.Millisecond, pick(rng, happens...)})
	}
	w.focusPeople()
	return w
}

// The duties of a controller that listens to people.
const (
	DutyKeepVerdict Duty = "keep a verdict before it counts"
	DutyAbout       Duty = "count no verdict about another version"
	DutyFrozen      Duty = "start no frozen cluster"
	DutyAllowed     Duty = "start only allowed clusters"
	DutyValue       Duty = "give each cluster the value that is its own"
)

var peopleDuties = map[Duty][]Invariant{
	DutyKeepVerdict: {invConcurrency},
	DutyAbout:       {invVerdict},
	DutyFrozen:      {invFrozen},
	DutyAllowed:     {invAllowed},
	DutyValue:       {invValue},
}

// focusPeople bends a world towards where an ignored duty matters.
func (w *world) focusPeople() {
	if w.ignored == "" {
		return
	}
	w.breaks, w.heals = 0, false
	for _, f := range w.fleets() {
		f.plain(clusterv1alpha1.RolloutConfig{ProgressDeadline: "20s", MaxFailures: intstr.FromString("100%")}, 1)
	}
	for _, c := range w.pool {
		w.agentMode[c], w.people.habits[c] = []agentMode{quick}, []habit{saysYes}
		if w.ignored == DutyAbout {
			w.people.habits[c] = []habit{saysOfLast}
		}
	}
	if w.script = nil; w.ignored == DutyFrozen {
		w.script = []change{{0, freezesOne}, {0, freezesOne}, {0, freezesOne}}
	} else if w.ignored == DutyAllowed {
		w.script = []change{{0, allowsSome}}
	}
	w.script = append(w.script, change{3 * time.Second, newTemplate}, change{3 * time.Second, joins})
}

// People shows that a controller breaks nothing where users freeze clusters, unfreeze them and allow some, and where a validator says yes, or no, or late,
// or nothing, or something of yesterday's version, and where each cluster has a value of its own: with two placements and a change of leaders where
// the subject can.
func (h *Hub) People(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needPeople)
	h.rollouts(t, subject, "People", *flagRollouts, func(seed uint64) *world { return drawPeople(seed, subject, "") })
}

// EachDutyOfPeople shows that the harness finds a controller that does not listen to people.
func (h *Hub) EachDutyOfPeople(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needPeople)
	if *flagTraces {
		t.Skip("what people say is not judged from traces: see the page of package judge")
	}
	h.eachDuty(t, peopleDuties, subject, func(seed uint64, d Duty) *world { return drawPeople(seed, subject, d) })
}

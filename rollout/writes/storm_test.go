// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

var errDown = errors.New("connection refused")

// outage is the loop of a controller with an API server that may be down, in virtual time. Meanwhile the cache shows
// nothing new.
type outage struct {
	now    time.Time
	cache  store
	own    writes.Own[*work]
	status writes.Own[*workv1alpha1.ManifestWorkReplicaSet] // writes of the owner's status, of which no event comes
	pace   writes.Pace

	unseen      bool // the controller uses Own.Unseen, or else Own.Current
	writesDown  bool
	readsDown   bool
	refuses     string // the writes of this cluster are rejected
	deadline    string
	clusters    []string
	said        string // the owner's status
	looks       []time.Time
	reads, sent int
}

func (o *outage) clock() time.Time { return o.now }

func (o *outage) read(key types.NamespacedName) (*work, error) {
	if o.reads++; o.readsDown {
		return nil, errDown
	}
	for _, w := range o.cache {
		if w.Namespace == key.Namespace && w.Name == key.Name {
			return w, nil
		}
	}
	return nil, apierrors.NewNotFound(resource, key.Name)
}

func (o *outage) readOwner(key types.NamespacedName) (*workv1alpha1.ManifestWorkReplicaSet, error) {
	if o.reads++; o.readsDown {
		return nil, errDown
	}
	return &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: "1"}}, nil
}

// look is a whole reconcile: read, plan, write, and the times after which to requeue.
func (o *outage) look() (times []time.Duration, err error) {
	recheck, err := o.act()
	return []time.Duration{recheck, o.own.RecheckAfter(o.now), o.status.RecheckAfter(o.now)}, err
}

func (o *outage) act() (recheck time.Duration, err error) {
	owner := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "u", ResourceVersion: "1"}}
	if _, err := o.status.Current([]*workv1alpha1.ManifestWorkReplicaSet{owner}, o.readOwner, o.clock); err != nil {
		return 0, err
	}
	works := []*work(o.cache)
	if o.unseen {
		unseen, err := o.own.Unseen(o.cache, o.read, o.clock)
		if err != nil || unseen > 0 {
			return 0, err
		}
	} else if works, err = o.own.Current(o.cache, o.read, o.clock); err != nil {
		return 0, err
	}
	var reports []status.Report
	for _, w := range works {
		if report, ok := status.FromManifestWork(status.WorkState{Work: w, Version: "v2"}); ok {
			reports = append(reports, report)
		}
	}
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: o.clusters})
	if err != nil {
		return 0, err
	}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{
		RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: o.deadline},
	}}
	result, err := rollout.Plan(strategy, groups, reports, o.now, rollout.Options{})
	if err != nil {
		return 0, err
	}
	from := writes.Owner{Kind: kind, Object: owner, Labels: map[string]string{"owner": "apps.web"}}
	steps := writes.StepsOf(from, works, result)
	for step := range steps.While(func() (metav1.Object, error) { return owner, nil }) {
		err = errors.Join(err, o.write(step))
	}
	if said := fmt.Sprint(result.Counts); said != o.said {
		answer := errDown
		if !o.writesDown {
			o.said, answer = said, nil
		}
		err = errors.Join(err, o.status.Wrote(owner, answer, o.now))
	}
	return steps.RecheckAfter(), err
}

// labelled adds the label of its owner to a work.
func labelled(w *work) *work {
	w.Labels = map[string]string{"owner": "apps.web"}
	return w
}

func (o *outage) write(step writes.Step[*work]) error {
	o.sent++
	w, changed := writes.Work(step.Object, labelled(at(step.Cluster.Name, "")), "v2", step.Cluster.Attempt, o.now)
	switch {
	case step.Verb != writes.VerbDelete && !changed:
		return nil
	case o.refuses == step.Cluster.Name:
		return o.own.Wrote(w, apierrors.NewForbidden(resource, "web", nil), o.now)
	case o.writesDown && step.Verb == writes.VerbDelete:
		return o.own.Deleted(step.Object, errDown, o.now)
	case o.writesDown:
		return o.own.Wrote(w, errDown, o.now)
	case step.Verb == writes.VerbDelete:
		return o.own.Deleted(step.Object, nil, o.now)
	}
	return o.own.Wrote(w, nil, o.now)
}

// live reconciles for so long, each time when the pace says.
func (o *outage) live(t *testing.T, duration time.Duration) {
	for end := o.now.Add(duration); o.now.Before(end); {
		times, err := o.look()
		if o.looks = append(o.looks, o.now); len(o.looks) > 1_000 {
			t.Fatalf("%d looks in %v, %d live reads", len(o.looks), o.now.Sub(o.looks[0]), o.reads)
		}
		after := o.pace.After(err, times...)
		if after == 0 {
			return
		}
		o.now = o.now.Add(after)
	}
}

// W16 with W2 and W3: whatever is down, and whatever own writes are due, reconciles become as rare as the longest pause. If
// the API server answers only reads, they become as rare as Patience: a live read counts as an own write, which the cache
// does not show.
func TestAnAPIServerThatIsDownIsNotStormed(t *testing.T) {
	for _, unseen := range []bool{false, true} {
		for _, readsDown := range []bool{false, true} {
			for _, stored := range []string{"", "uid@1", "uid@1-"} { // nothing, a work, and one that is being deleted
				for _, deadline := range []string{"", "10s", "90s", "30m"} {
					for _, surplus := range []bool{false, true} {
						name := fmt.Sprintf("unseen %v, reads down %v, stored %q, deadline %q, surplus %v", unseen, readsDown, stored, deadline, surplus)
						o := outage{now: noon, unseen: unseen, writesDown: true, readsDown: readsDown, deadline: deadline, clusters: []string{"a", "b", "c"}}
						for _, cluster := range o.clusters[:2] {
							if stored != "" {
								o.cache = append(o.cache, labelled(at(cluster, stored)))
							}
							if surplus {
								other := labelled(at(cluster, "uid2@2"))
								other.Name = "web2"
								o.cache = append(o.cache, other)
							}
						}
						o.live(t, time.Hour)
						most := 10 + 60 + 3 // pauses up to the longest, then one reconcile a minute, and one deadline of each cluster
						if !readsDown {
							most = 10 + int(time.Hour/writes.Patience) + 3
						}
						if len(o.looks) > most || o.reads > 6*len(o.looks) {
							t.Errorf("%s: %d looks in an hour, at most %d are due, and %d live reads", name, len(o.looks), most, o.reads)
						}
						if last := o.now.Sub(o.looks[len(o.looks)-1]); last > time.Minute {
							t.Errorf("%s: the last look is %v ago", name, last)
						}
					}
				}
			}
		}
	}
}

// W16: the API server comes back at any moment of an outage, and the controller goes on within a minute.
func TestWorkGoesOnWithinAMinuteOfAnOutage(t *testing.T) {
	for _, down := range []time.Duration{0, time.Millisecond, 9 * time.Second, 10 * time.Second, 11 * time.Second, time.Minute, 17 * time.Minute} {
		o := outage{now: noon, writesDown: true, readsDown: true, clusters: []string{"a", "b", "c"}}
		o.live(t, down+1)
		o.writesDown, o.readsDown = false, false
		came, sent := o.now, o.sent
		o.live(t, time.Minute+time.Second)
		if o.sent-sent < len(o.clusters) || o.now.Sub(came) < time.Minute {
			t.Errorf("down for %v: %d writes within a minute after, and the last look is %v after", down, o.sent-sent, o.now.Sub(came))
		}
	}
}

// W16: the writes of one cluster are always rejected, and the deadlines of all others are met.
func TestOneThatRefusesMakesNoDeadlineLate(t *testing.T) {
	o := outage{now: noon, refuses: "c", deadline: "17m", clusters: []string{"a", "b", "c"}}
	var due []time.Time
	for i, cluster := range o.clusters[:2] {
		w, since := labelled(at(cluster, "uid@1")), noon.Add(-time.Duration(i)*3*time.Minute)
		status.StampOf(w).NoteOn(w, "v2", 0, since)
		o.cache = append(o.cache, w)
		due = append(due, since.Add(17*time.Minute))
	}
	o.live(t, time.Hour)
	for _, at := range due {
		if !slices.ContainsFunc(o.looks, func(look time.Time) bool { return !look.Before(at) && look.Before(at.Add(100*time.Millisecond)) }) {
			t.Errorf("no look at %v: %v", at, o.looks)
		}
	}
	if most := 10 + 60 + 2; len(o.looks) > most {
		t.Errorf("%d looks in an hour, at most %d are due", len(o.looks), most)
	}
}

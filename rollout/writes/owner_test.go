// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

const (
	ownerNote  = "cohort.open-cluster-management.io/owner"
	setLabel   = "work.open-cluster-management.io/manifestworkreplicaset"
	fleetLabel = "fleet.example.com/config"
	oldName    = "web-3184d5ed" // of every owner apps/web, before names depended on the kind
)

// fleet is another owner apps/web, with another kind and UID.
func fleet() writes.Owner {
	return writes.Owner{
		Kind:   schema.GroupKind{Group: "fleet.example.com", Kind: "FleetConfig"},
		Object: &metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "f1", Generation: 1},
		Labels: map[string]string{fleetLabel: "apps.web"},
	}
}

func ownedBy(namespace, name string) writes.Owner {
	return writes.Owner{Kind: kind, Object: &metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// W15: owners of two kinds or in two namespaces get different names, wherever hyphens are, and the names are valid.
func TestNamesFollowFromKindNamespaceAndName(t *testing.T) {
	names := map[string]bool{oldName: true}
	for _, owner := range [][2]string{{"apps", "web"}, {"a-b", "c"}, {"a", "b-c"}, {"a", "b.c"}, {"a", "c"}, {"b", "c"},
		{"a", strings.Repeat("x", 253)}, {"a", strings.Repeat("x", 252) + "y"}, {"a", strings.Repeat("x", 243) + ".y.z"}} {
		set, other := ownedBy(owner[0], owner[1]), ownedBy(owner[0], owner[1])
		other.Kind = fleet().Kind
		for _, o := range []writes.Owner{set, other} {
			name := writes.NameOf[*work](o)
			if names[name] {
				t.Errorf("%v: another owner has this name, too: %s", o, name)
			}
			names[name] = true
			if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 {
				t.Errorf("%v: %q", owner, errs)
			}
		}
	}
	if got := writes.NameOf[*work](mine); got != writes.NameOf[*work](mine) || !strings.HasPrefix(got, "web-") {
		t.Error(got)
	}
}

// W15: the name of an existing object stays. A name that another owner's object has is not taken.
func TestANameThatIsTakenIsNotTakenAgain(t *testing.T) {
	own := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "of-before"}}
	mine.NoteOn(own)
	if got := writes.NameOf(mine, own); got != "of-before" {
		t.Errorf("the object of the owner is %s, and its name would be %s", own.Name, got)
	}
	var taken []*work
	for range 4 {
		name := writes.NameOf(mine, taken...)
		if slices.ContainsFunc(taken, func(w *work) bool { return w.Name == name }) || len(validation.IsDNS1123Subdomain(name)) > 0 {
			t.Errorf("%s is taken or no name", name)
		}
		other := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
		fleet().NoteOn(other)
		taken = append(taken, other)
	}
}

// W17: the owner of an object.
func TestTheOwnerOfAnObject(t *testing.T) {
	earlier, unlabelled := mine, mine
	earlier.Object = &metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "u0"}
	unlabelled.Labels = nil
	handed := mine
	handed.Former = []types.UID{"u7", "u0"}
	labels := func(pairs ...string) map[string]string {
		all := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}
	noted := func(by writes.Owner) metav1.ObjectMeta {
		var m metav1.ObjectMeta
		m.Name = "x"
		by.NoteOn(&m)
		return m
	}
	relabelled := noted(mine)
	relabelled.Labels = labels(fleetLabel, "apps.web")
	foreignWithLabel := noted(fleet())
	foreignWithLabel.Labels = labels(setLabel, "apps.web", fleetLabel, "apps.web")
	for _, c := range []struct {
		reason string
		owner  writes.Owner
		object metav1.ObjectMeta
		want   string
	}{
		{"it notes the owner", mine, noted(mine), "own"},
		{"it notes the owner, whatever its labels", mine, relabelled, "own"},
		{"it notes an owner of another kind", mine, noted(fleet()), "left alone"},
		{"it notes another kind, though it has the label", mine, foreignWithLabel, "left alone"},
		{"it notes an earlier owner of the same name", mine, noted(earlier), "holds"},
		{"it notes an earlier owner that is known to be gone", handed, noted(earlier), "own"},
		{"a later owner's, for a process that knows the earlier one alone", earlier, noted(mine), "holds"},
		{"from before, with the owner's label", mine, metav1.ObjectMeta{Name: oldName, Labels: labels(setLabel, "apps.web")}, "own"},
		{"from OCM's controller, beside the name of a placement", mine, metav1.ObjectMeta{Name: "web", Labels: labels(setLabel, "apps.web", "work.open-cluster-management.io/placementname", "apps.web")}, "own"},
		{"from before, with the other kind's label", mine, metav1.ObjectMeta{Name: oldName, Labels: labels(fleetLabel, "apps.web")}, "left alone"},
		{"from before, labelled by both in turn", mine, metav1.ObjectMeta{Name: oldName, Labels: labels(setLabel, "apps.web", fleetLabel, "apps.web")}, "holds"},
		{"from before, and the owner knows no label", unlabelled, metav1.ObjectMeta{Name: oldName, Labels: labels(fleetLabel, "apps.web")}, "holds"},
		{"a user's, under a name of the user's choice", unlabelled, metav1.ObjectMeta{Name: "x"}, "left alone"},
		{"the owner's by an owner reference", unlabelled, metav1.ObjectMeta{Name: oldName, OwnerReferences: []metav1.OwnerReference{{UID: "u1"}}}, "own"},
		{"another's by an owner reference", unlabelled, metav1.ObjectMeta{Name: "x", OwnerReferences: []metav1.OwnerReference{{UID: "u0"}}}, "left alone"},
	} {
		c.object.Namespace = "a"
		w := &work{ObjectMeta: c.object}
		steps := writes.StepsOf(c.owner, []*work{w}, result("", "", "a"))
		got := "own"
		switch foreign := steps.Foreign(); {
		case len(foreign) == 1 && foreign[0].Blocks:
			got = "holds"
		case len(foreign) == 1:
			got = "left alone"
		}
		if has := c.owner.Has(w); got != c.want || has != (got == "own") {
			t.Errorf("%s: %s, Has %v, want %s", c.reason, got, has, c.want)
		}
	}
}

// W17: another owner's object is never touched, whatever a plan wants, and each is reported.
func TestWhatAnotherOwnerHasIsNotTouched(t *testing.T) {
	base := writes.NameOf[*work](mine)
	object := func(cluster, name string, by writes.Owner) *work {
		w := &work{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
		by.NoteOn(w)
		return w
	}
	earlier := mine
	earlier.Object = &metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "u0"}
	works := []*work{
		object("a", base, fleet()), object("b", base, earlier), object("c", "x", fleet()), object("d", "x", fleet()), object("d", base, mine),
		object("e", base, earlier), object("e", "y", mine),
	}
	present := func() (metav1.Object, error) { return mine.Object, nil }
	steps := writes.StepsOf(mine, works, warned(result("c d", "", "a b e")))
	var got []string
	for step := range steps.While(present) {
		got = append(got, fmt.Sprint(step.Verb, " ", step.Cluster.Name, " ", strings.Replace(step.Name, base, "base", 1)))
		if step.Object != nil && !mine.Has(step.Object) {
			t.Errorf("%s/%s is not the owner's, and is to be written", step.Object.Namespace, step.Object.Name)
		}
	}
	want := []string{"Delete d base", "Create a " + writes.NameOf(mine, works[0]), "Update e y"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var told []string
	for _, f := range steps.Foreign() {
		told = append(told, strings.Replace(f.String(), base, "base", 1))
	}
	wantTold := []string{
		"a: base belongs to FleetConfig.fleet.example.com/apps/web/f1, and is left alone",
		"b: base belongs to ManifestWorkReplicaSet.work.open-cluster-management.io/apps/web/u0, an earlier owner of that name: nothing starts there until the object is gone or loses the annotation " + ownerNote,
		"c: x belongs to FleetConfig.fleet.example.com/apps/web/f1, and is left alone",
		"d: x belongs to FleetConfig.fleet.example.com/apps/web/f1, and is left alone",
		"e: base belongs to ManifestWorkReplicaSet.work.open-cluster-management.io/apps/web/u0, an earlier owner of that name: nothing starts there until the object is gone or loses the annotation " + ownerNote,
	}
	if !slices.Equal(told, wantTold) {
		t.Errorf("told %q", told)
	}
}

// oneHub is a cluster's namespace, and two controllers that each see only the objects with their label.
type oneHub struct {
	works   map[string]*work // by name
	version int
	own     map[string]*writes.Own[*work] // by kind
}

func (h *oneHub) listed(by writes.Owner) (works []*work) {
	for _, w := range h.works {
		for key, value := range by.Labels {
			if w.Labels[key] == value {
				works = append(works, w)
			}
		}
	}
	return works
}

func (h *oneHub) read(key types.NamespacedName) (*work, error) {
	if w := h.works[key.Name]; w != nil {
		return w, nil
	}
	return nil, apierrors.NewNotFound(resource, key.Name)
}

func (h *oneHub) store(w *work) *work {
	h.version++
	w = w.DeepCopy()
	w.ResourceVersion = fmt.Sprint(h.version)
	if w.UID == "" {
		w.UID = types.UID("uid " + w.ResourceVersion)
	}
	h.works[w.Name] = w
	return w
}

// look reconciles an owner: its content goes to the cluster, and the warnings are returned.
func (h *oneHub) look(t *testing.T, by writes.Owner, version string) []writes.Foreign {
	t.Helper()
	own := h.own[by.Kind.Kind]
	if own == nil {
		own = &writes.Own[*work]{}
		h.own[by.Kind.Kind] = own
	}
	clock := func() time.Time { return noon }
	works, err := own.Current(h.listed(by), h.read, clock)
	if err != nil {
		t.Fatal(err)
	}
	r := result("", "", "a")
	steps := writes.StepsOf(by, slices.Concat(works, own.Foreign(by)), r)
	for step := range steps.While(func() (metav1.Object, error) { return by.Object, nil }) {
		wanted := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: step.Name}}
		wanted.Spec.Workload.Manifests = append(wanted.Spec.Workload.Manifests, content(`{"kind":"`+version+`"}`).Workload.Manifests...)
		by.NoteOn(wanted)
		next, changed := writes.Work(step.Object, wanted, version, 0, noon)
		switch {
		case !changed:
		case step.Verb == writes.VerbCreate && h.works[next.Name] != nil:
			_ = own.Wrote(next, apierrors.NewAlreadyExists(resource, next.Name), noon)
		default:
			_ = own.Wrote(h.store(next), nil, noon)
		}
	}
	return steps.Foreign()
}

// W15, W17: of two owners with one namespace and name each gets its own object, in whatever order, and also if an object
// still has the old name. Neither writes the other's object, and no owner gets a second one.
func TestTwoKindsWithOneNameKeepApart(t *testing.T) {
	for _, order := range [][]writes.Owner{{mine, fleet()}, {fleet(), mine}} {
		for _, stored := range []string{"nothing", "the old name", "the name of the other's object"} {
			first, second := order[0], order[1]
			h := &oneHub{works: map[string]*work{}, own: map[string]*writes.Own[*work]{}}
			switch stored {
			case "the old name":
				w := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: oldName, Labels: first.Labels}}
				h.store(w)
			case "the name of the other's object": // by a user, or by chance
				w := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: writes.NameOf[*work](second)}}
				first.NoteOn(w)
				h.store(w)
			}
			for i := range 6 {
				h.look(t, first, "of the first "+fmt.Sprint(i/2))
				h.look(t, second, "of the second "+fmt.Sprint(i/2))
			}
			if len(h.works) != 2 {
				t.Fatalf("%s: %d works", stored, len(h.works))
			}
			for name, w := range h.works {
				by := first
				if strings.Contains(w.Annotations[ownerNote], second.Kind.Kind) {
					by = second
				}
				text := string(w.Spec.Workload.Manifests[0].Raw)
				wantText := "of the first 2"
				if by.Kind == second.Kind {
					wantText = "of the second 2"
				}
				if !by.Has(w) || !strings.Contains(text, wantText) || len(w.Labels) != 1 {
					t.Errorf("%s: %s of %s has %s, labels %v", stored, name, w.Annotations[ownerNote], text, w.Labels)
				}
				if stored == "the old name" && by.Kind == first.Kind && name != oldName {
					t.Errorf("the first has %s beside what it had", name)
				}
			}
		}
	}
}

// W17: earlier releases of two controllers wrote one object in turn. Neither writes it again or makes another, until a user
// says which owner it has.
func TestAnObjectThatTwoOwnersWroteIsLeftAlone(t *testing.T) {
	h := &oneHub{works: map[string]*work{}, own: map[string]*writes.Own[*work]{}}
	h.store(&work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: oldName, Labels: map[string]string{setLabel: "apps.web", fleetLabel: "apps.web"}}})
	for range 3 {
		for _, by := range []writes.Owner{mine, fleet()} {
			if foreign := h.look(t, by, "v1"); len(foreign) != 1 || !foreign[0].Blocks || !strings.Contains(foreign[0].String(), "may belong to another owner") {
				t.Errorf("told %v", foreign)
			}
		}
	}
	if w := h.works[oldName]; len(h.works) != 1 || w.ResourceVersion != "1" {
		t.Errorf("works are %v", h.works)
	}
	delete(h.works[oldName].Labels, fleetLabel) // a user says which owner it has
	for range 3 {
		h.look(t, mine, "v1")
		h.look(t, fleet(), "v1")
	}
	if len(h.works) != 2 || !mine.Has(h.works[oldName]) || fleet().Has(h.works[oldName]) {
		t.Errorf("works are %v", h.works)
	}
}

// W17: a live read under a name that was sent finds another owner's object. It is left out, reported, and not awaited.
func TestALiveReadMayFindAnotherOwnersObject(t *testing.T) {
	sent, there := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web"}}, at("a", "x@5")
	mine.NoteOn(sent)
	fleet().NoteOn(there)
	earlier := mine
	earlier.Object = &metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "u0"}
	same, old, unlabelled, labelled := at("a", "x@5"), at("a", "x@5"), at("a", "x@5"), at("a", "x@5")
	mine.NoteOn(same)
	earlier.NoteOn(old)
	labelled.Labels = mine.Labels
	for _, c := range []struct {
		reason string
		sent   *work
		read   *work
		others bool
	}{
		{"another kind's", sent, there, true},
		{"the owner's: the create was made after all", sent, same, false},
		{"an earlier owner's, which the steps tell of", sent, old, false},
		{"without an owner", sent, unlabelled, true},
		{"from before, with the owner's label", sent, labelled, false},
		{"of a controller that notes no owners", at("a", ""), there, false},
	} {
		for _, filtered := range []bool{true, false} { // whether the cache has only the works of this owner
			var o own
			_ = o.Wrote(c.sent, apierrors.NewAlreadyExists(resource, "web"), noon)
			cached := []*work{}
			if !filtered {
				cached = append(cached, c.read)
			}
			reads := 0
			read := func(types.NamespacedName) (*work, error) {
				if reads++; reads > 1 {
					return nil, errors.New("read again")
				}
				return c.read, nil
			}
			works, err := o.Current(cached, read, func() time.Time { return noon })
			if err != nil || len(works) != 1 && !c.others || len(works) != 0 && c.others || (len(o.Foreign(mine)) == 1) != c.others {
				t.Errorf("%s: works %v, foreign %v, %v", c.reason, works, o.Foreign(mine), err)
			}
			if c.others {
				if other := o.Foreign(fleet()); len(other) > 0 {
					t.Errorf("%s: it is in the way of an owner that wanted to write nothing", c.reason)
				}
				if unseen, err := o.Unseen(store(cached), unread, func() time.Time { return noon.Add(time.Minute) }); unseen != 0 || err != nil {
					t.Errorf("%s: %d unseen, %v", c.reason, unseen, err)
				}
				if after := o.RecheckAfter(noon); after != 0 {
					t.Errorf("%s: it is looked at again after %v", c.reason, after)
				}
			}
		}
	}
}

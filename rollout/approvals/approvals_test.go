// SPDX-License-Identifier: Apache-2.0

package approvals_test

import (
	"errors"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
)

const prefix = "cohort.open-cluster-management.io/"

// owner has annotations, given as pairs of a key without its prefix and a value.
func owner(pairs ...string) *metav1.ObjectMeta {
	o := &metav1.ObjectMeta{}
	for i := 0; i < len(pairs); i += 2 {
		metav1.SetMetaDataAnnotation(o, prefix+pairs[i], pairs[i+1])
	}
	return o
}

func named(name string) grouping.Key { return grouping.Key{Name: name} }

func gate(key grouping.Key) rollout.ClosedGate { return rollout.ClosedGate{Group: key} }

var ten = time.Date(2026, 1, 2, 22, 0, 0, 0, time.UTC)

// R53: what an operator writes, blanks and all.
func TestFormsThatAreRead(t *testing.T) {
	for _, test := range []struct {
		why, name, value string
		want             approvals.Approvals
	}{
		{"a pause", "pause", "true", approvals.Approvals{Pause: true}},
		{"as an editor leaves it", "pause", " true\n", approvals.Approvals{Pause: true}},
		{"a pause that ended", "pause", "false", approvals.Approvals{}},
		{"a name, an index, a placement", "gates", "canary, 2,eu/prod , eu/0", approvals.Approvals{Gates: []rollout.ClosedGate{
			gate(named("canary")), gate(grouping.Key{Index: 2}), gate(grouping.Key{Name: "prod", Placement: "eu"}), gate(grouping.Key{Placement: "eu"})}}},
		{"a time, in another zone", "gates", "canary=2026-01-02T23:00:00+01:00", approvals.Approvals{Gates: []rollout.ClosedGate{
			{Group: named("canary"), Gate: rollout.Gate{Opens: ten}}}}},
		{"the first year and the last", "gates", "canary=0001-01-02T00:00:00Z,2=9999-12-31T00:00:00Z", approvals.Approvals{Gates: []rollout.ClosedGate{
			{Group: named("canary"), Gate: rollout.Gate{Opens: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)}},
			{Group: grouping.Key{Index: 2}, Gate: rollout.Gate{Opens: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}}}}},
		{"no gate", "gates", "", approvals.Approvals{}},
		{"empty items", "gates", ",canary,,", approvals.Approvals{Gates: []rollout.ClosedGate{gate(named("canary"))}}},
		{"a group named of", "open-gates", "of,2 of v1", approvals.Approvals{OpenGates: approvals.OpenGates{
			Groups: []grouping.Key{named("of"), {Index: 2}}, Version: "v1"}}},
		{"a version with blanks, and another of", "open-gates", "a of 1 of 2 ", approvals.Approvals{OpenGates: approvals.OpenGates{
			Groups: []grouping.Key{named("a")}, Version: "1 of 2"}}},
		{"an attempt", "retry", "2 of sha256:ab", approvals.Approvals{Retry: approvals.Retry{Attempt: 2, Version: "sha256:ab"}}},
		{"clusters", "ignore", " x, a ,a", approvals.Approvals{Ignored: []string{"x", "a", "a"}}},
		{"a freeze with all parts, and one with none", "freeze", " cluster7=2026-01-02T23:00:00+01:00  maintenance of store 7, and more ;;x", approvals.Approvals{Freezes: []rollout.ClusterFreeze{
			{Cluster: "cluster7", Until: ten, Reason: "maintenance of store 7, and more"}, {Cluster: "x"}}}},
		{"a freeze that blocks", "block", "x audit", approvals.Approvals{Freezes: []rollout.ClusterFreeze{{Cluster: "x", Reason: "audit", Blocks: true}}}},
		{"an allowlist", "allowlist", "a, b of v1", approvals.Approvals{Allowlist: approvals.Allowlist{Clusters: []string{"a", "b"}, Version: "v1"}}},
		{"another annotation", "left", "{", approvals.Approvals{}},
	} {
		t.Run(test.why, func(t *testing.T) {
			got, err := approvals.Of(owner(test.name, test.value))
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// R53: an unreadable value is an error with its path and the expected form, and gives no approval at all.
func TestFaultsHaveAPath(t *testing.T) {
	for _, test := range []struct{ why, name, value, path, detail string }{
		{"as kubectl annotate pause= writes it", "pause", "", "", `supported values: "true", "false"`},
		{"another word", "pause", "yes", "", `supported values: "true", "false"`},
		{"no name of a group", "gates", "canary,a b", "[1]", "must be the name or the index of a group"},
		{"a negative index", "gates", "-1", "[0]", "must be the name or the index"},
		{"an index that no group has", "gates", "2147483648000000000000000000000000000000000000000000000000000000000", "[0]", "must be the name or the index"},
		{"no group behind a placement", "gates", "eu/", "[0]", "must be the name or the index"},
		{"no placement", "gates", "/canary", "[0]", "must have the name of a Placement"},
		{"two slashes", "gates", "a/b/c", "[0]", "must be the name or the index"},
		{"a duration", "gates", "canary=4h", "[0]", "must have a time in RFC 3339"},
		{"no time", "gates", "canary=", "[0]", "must have a time in RFC 3339"},
		{"a year before the first", "gates", "canary=0000-01-01T00:00:00Z", "[0]", "must have a time in RFC 3339"},
		{"a year that cannot be written in UTC", "gates", "canary=9999-12-31T23:59:59-01:00", "[0]", "must have a time in RFC 3339"},
		{"no version", "open-gates", "canary", "", "must be the groups of gates and the version"},
		{"an empty version", "open-gates", "canary of ", "", "must be the groups of gates and the version"},
		{"no group", "open-gates", " of v1", "", "must be the groups of gates and the version"},
		{"nothing but a comma", "open-gates", ", of v1", "", "must be the groups of gates and the version"},
		{"a time does not open", "open-gates", "2,canary=2026-01-02T22:00:00Z of v1", "[1]", "must be the name or the index"},
		{"no version of an attempt", "retry", "1", "", "must be the number of an attempt, from 1, and the version"},
		{"the first attempt", "retry", "0 of v1", "", "must be the number of an attempt, from 1"},
		{"a word", "retry", "again of v1", "", "must be the number of an attempt, from 1"},
		{"too many", "retry", "4294967296 of v1", "", "must be the number of an attempt, from 1"},
		{"a frozen cluster with an invalid name", "freeze", "a;b_c why", "[1]", "must begin with the name of a cluster, and semicolons must separate entries"},
		{"a freeze with an invalid end", "block", "a=soon why", "[0]", "must have a time in RFC 3339 behind =, such as cluster7="},
		{"an allowlist without a version", "allowlist", "a", "", "must be the clusters to allow and the version"},
		{"an empty allowlist", "allowlist", ", of v1", "", "must be the clusters to allow"},
		{"an allowed cluster with an invalid name", "allowlist", "a,b c of v1", "[1]", "must be the name of a cluster"},
		{"an ignored cluster with an invalid name", "ignore", "a,b c", "[1]", "must be the name of a cluster"},
	} {
		t.Run(test.why, func(t *testing.T) {
			o := owner(test.name, test.value, "retry", "1 of v1")
			if test.name == "retry" {
				o = owner(test.name, test.value, "pause", "true")
			}
			got, err := approvals.Of(o)
			var fault *field.Error
			if !errors.As(err, &fault) || fault.Field != "metadata.annotations["+prefix+test.name+"]"+test.path || !strings.Contains(err.Error(), test.detail) {
				t.Errorf("%v", err)
			}
			if !cmp.Equal(got, approvals.Approvals{}) {
				t.Errorf("%+v beside an error", got)
			}
			if errs := approvals.Validate(o.Annotations, nil); len(errs) != 1 || errs[0].Detail != fault.Detail || errs[0].Field != "["+prefix+test.name+"]"+test.path {
				t.Errorf("a webhook says %v", errs)
			}
		})
	}
	if errs := approvals.Validate(owner("pause", "?", "retry", "?", "gates", "?, ??").Annotations, nil); len(errs) != 4 {
		t.Errorf("not each fault is told: %v", errs)
	}
}

// An error quotes the first 64 bytes of the value, and a mark if there are more.
func TestWhatWasFoundIsShortened(t *testing.T) {
	for n, want := range map[int]string{64: strings.Repeat("x", 64), 65: strings.Repeat("x", 61) + "…"} {
		_, err := approvals.Of(owner("pause", strings.Repeat("x", n)))
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(want)) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// R54: an approval of another version has no effect. A pause, gates, ignored and frozen clusters have.
func TestApprovalsAreForAVersion(t *testing.T) {
	a, err := approvals.Of(owner("pause", "true", "gates", "canary,2", "open-gates", "2,other of v1", "retry", "3 of v1", "ignore", "x", "freeze", "y", "allowlist", "z of v1"))
	if err != nil {
		t.Fatal(err)
	}
	freezes := []rollout.ClusterFreeze{{Cluster: "y"}}
	for version, want := range map[string]rollout.Options{
		"v1": {Paused: true, Gates: []rollout.ClosedGate{gate(named("canary"))}, Attempt: 3, Ignored: []string{"x"}, Freezes: freezes, Allowlist: []string{"z"}},
		"v2": {Paused: true, Gates: []rollout.ClosedGate{gate(named("canary")), gate(grouping.Key{Index: 2})}, Ignored: []string{"x"}, Freezes: freezes, Allowlist: []string{}},
		"":   {Paused: true, Gates: []rollout.ClosedGate{gate(named("canary")), gate(grouping.Key{Index: 2})}, Ignored: []string{"x"}, Freezes: freezes, Allowlist: []string{}},
	} {
		if diff := cmp.Diff(want, a.Options("", version)); diff != "" {
			t.Errorf("version %q (-want +got)\n%s", version, diff)
		}
	}
	if diff := cmp.Diff(rollout.Options{}, (approvals.Approvals{}).Options("", "")); diff != "" {
		t.Errorf("without approvals (-want +got)\n%s", diff)
	}
}

// R55: a gate belongs to one placement, or to all. It is opened by the same text.
func TestGatesAreOfPlacements(t *testing.T) {
	prod := grouping.Key{Name: "prod", Placement: "eu"}
	for _, test := range []struct {
		why, open, placement string
		want                 []rollout.ClosedGate
	}{
		{"all placements in one plan", "other", "", []rollout.ClosedGate{gate(named("canary")), gate(prod)}},
		{"the placement", "other", "eu", []rollout.ClosedGate{gate(named("canary")), gate(named("prod"))}},
		{"another", "other", "us", []rollout.ClosedGate{gate(named("canary"))}},
		{"opened in the placement", "eu/prod", "eu", []rollout.ClosedGate{gate(named("canary"))}},
		{"opened without it", "prod", "eu", []rollout.ClosedGate{gate(named("canary")), gate(named("prod"))}},
		{"the gate of all, opened in one", "eu/canary", "eu", []rollout.ClosedGate{gate(named("canary")), gate(named("prod"))}},
		{"both", "canary,eu/prod", "eu", nil},
	} {
		a, err := approvals.Of(owner("gates", "canary,eu/prod", "open-gates", test.open+" of v1"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, a.Options(test.placement, "v1").Gates); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.why, diff)
		}
		if a.Gates[1].Group != prod {
			t.Errorf("%s: the approvals have %v now", test.why, a.Gates[1].Group)
		}
	}
}

// drawKey draws a group as it would be read.
func drawKey(t *rapid.T) grouping.Key {
	return rapid.SampledFrom([]grouping.Key{{}, {Index: 7}, named("canary"), named("of"), named("1a"), {Name: "prod", Placement: "eu"}, {Index: 1, Placement: "of"}}).Draw(t, "group")
}

// R53: what is noted is read back, and other annotations stay. Noting the same again changes nothing, and the zero value
// removes all.
func TestWhatIsNotedIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom([]string{"v1", "1 of 2", "sha256:ab\"c", "ä b"})
		var a approvals.Approvals
		a.Pause = rapid.Bool().Draw(t, "pause")
		for range rapid.IntRange(0, 3).Draw(t, "gates") {
			closed := gate(drawKey(t))
			if rapid.Bool().Draw(t, "timed") {
				closed.Opens = ten.Add(time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "after")))
			}
			a.Gates = append(a.Gates, closed)
		}
		if a.OpenGates.Groups = rapid.SliceOfN(rapid.Custom(drawKey), 0, 3).Draw(t, "open"); len(a.OpenGates.Groups) > 0 {
			a.OpenGates.Version = version.Draw(t, "of")
		} else {
			a.OpenGates.Groups = nil
		}
		if attempt := rapid.IntRange(0, 1<<31-1).Draw(t, "attempt"); attempt > 0 {
			a.Retry = approvals.Retry{Attempt: attempt, Version: version.Draw(t, "again")}
		}
		for range rapid.IntRange(0, 2).Draw(t, "an ignored cluster") {
			a.Ignored = append(a.Ignored, rapid.SampledFrom([]string{"a", "b.c", "true"}).Draw(t, "cluster"))
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "freezes") {
			freeze := rollout.ClusterFreeze{Cluster: rapid.SampledFrom([]string{"a", "b.c"}).Draw(t, "frozen"), Reason: rapid.SampledFrom([]string{"", "its site, and more", "of=v"}).Draw(t, "why"), Blocks: i == 2}
			if rapid.Bool().Draw(t, "ends") {
				freeze.Until = ten.Add(time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "until")))
			}
			a.Freezes = append(a.Freezes, freeze)
		}
		if a.Allowlist.Clusters = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "of", "z.1"}), 0, 2).Draw(t, "allowlist"); len(a.Allowlist.Clusters) > 0 {
			a.Allowlist.Version = version.Draw(t, "allowlist for")
		} else {
			a.Allowlist.Clusters = nil
		}

		o := owner("left", "{}", "pause", "?", "retry", "5 of other")
		before := maps.Clone(o.Annotations)
		was := o.Annotations
		changed, err := a.Note(o)
		if err != nil || !changed || !maps.Equal(was, before) {
			t.Fatalf("%+v: changed %v, %v; the map before is %v", a, changed, err, was)
		}
		again, err := approvals.Of(o)
		if diff := cmp.Diff(a, again); diff != "" || err != nil {
			t.Fatalf("%v: %v (-want +got)\n%s", o.Annotations, err, diff)
		}
		if changed, err := a.Note(o); changed || err != nil {
			t.Fatalf("noted twice: %v, %v", changed, err)
		}
		if _, err := (approvals.Approvals{}).Note(o); err != nil || !maps.Equal(o.Annotations, owner("left", "{}").Annotations) {
			t.Fatalf("what is left: %v, %v", o.Annotations, err)
		}
	})
}

// R53: approvals that would be read back as something else are not written.
func TestWhatCannotBeReadBackIsNotWritten(t *testing.T) {
	for _, test := range []struct {
		why  string
		a    approvals.Approvals
		path string
	}{
		{"a name that is a number", approvals.Approvals{Gates: []rollout.ClosedGate{gate(named("2"))}}, "gates]"},
		{"two names in one", approvals.Approvals{OpenGates: approvals.OpenGates{Groups: []grouping.Key{named("a,b")}, Version: "v"}}, "open-gates]"},
		{"a name with an index", approvals.Approvals{Gates: []rollout.ClosedGate{gate(grouping.Key{Index: 1, Name: "a"})}}, "gates]"},
		{"a gate with a name", approvals.Approvals{Gates: []rollout.ClosedGate{{Gate: rollout.Gate{Name: "a"}}}}, "gates]"},
		{"a negative index", approvals.Approvals{Gates: []rollout.ClosedGate{gate(grouping.Key{Index: -1})}}, "gates][0]"},
		{"no version", approvals.Approvals{OpenGates: approvals.OpenGates{Groups: []grouping.Key{named("a")}}}, "open-gates]"},
		{"a version alone", approvals.Approvals{OpenGates: approvals.OpenGates{Version: "v"}}, "open-gates]"},
		{"a version that ends with a blank", approvals.Approvals{Retry: approvals.Retry{Attempt: 1, Version: "v "}}, "retry]"},
		{"no attempt", approvals.Approvals{Retry: approvals.Retry{Version: "v"}}, "retry]"},
		{"no cluster", approvals.Approvals{Ignored: []string{""}}, "ignore]"},
	} {
		o := owner("left", "{}")
		changed, err := test.a.Note(o)
		var fault *field.Error
		if changed || !errors.As(err, &fault) || !strings.HasSuffix(fault.Field, prefix+test.path) || !maps.Equal(o.Annotations, owner("left", "{}").Annotations) {
			t.Errorf("%s: changed %v, %v, has %v", test.why, changed, err, o.Annotations)
		}
	}
	zoned := approvals.Approvals{Gates: []rollout.ClosedGate{{Gate: rollout.Gate{Opens: ten.In(time.FixedZone("", 3600))}}}, Ignored: []string{}}
	if changed, err := zoned.Note(owner()); !changed || err != nil {
		t.Errorf("a time in another zone: %v, %v", changed, err)
	}
	if changed, err := (approvals.Approvals{Ignored: []string{}}).Note(&metav1.ObjectMeta{}); changed || err != nil {
		t.Errorf("nothing, on an owner without annotations: %v, %v", changed, err)
	}
}

// Same sees a change of these annotations, and of no others.
func TestSame(t *testing.T) {
	for _, test := range []struct {
		why  string
		a, b *metav1.ObjectMeta
		want bool
	}{
		{"nothing", owner(), owner(), true},
		{"another annotation", owner("left", "{}"), owner(), true},
		{"a pause", owner("pause", "true"), owner(), false},
		{"a gate is opened", owner("gates", "a"), owner("gates", "a", "open-gates", "a of v"), false},
		{"an unreadable value", owner("retry", ""), owner(), false},
		{"an ignored cluster", owner("ignore", "a"), owner("ignore", "b"), false},
		{"the same", owner("gates", "?"), owner("gates", "?"), true},
	} {
		if got := approvals.Same(test.a, test.b); got != test.want || approvals.Same(test.b, test.a) != test.want {
			t.Errorf("%s: %v", test.why, got)
		}
	}
}

// FuzzOf: any annotations are read or refused, and what is read can be written again (R53).
func FuzzOf(f *testing.F) {
	f.Add("true", "canary,2,eu/prod=2026-01-02T22:00:00Z", "canary of v", "1 of v", "a,b")
	f.Add("", "=,/,0=", " of ", "1 of", ",")
	f.Add("false", "9=0000-01-01T00:00:00+23:59", "of of of", "01 of \xff", "A")
	f.Fuzz(func(t *testing.T, pause, gates, open, retry, ignore string) {
		o := owner("pause", pause, "gates", gates, "open-gates", open, "retry", retry, "ignore", ignore, "freeze", gates, "block", retry, "allowlist", open)
		a, err := approvals.Of(o)
		if errs := approvals.Validate(o.Annotations, nil); (len(errs) > 0) != (err != nil) {
			t.Fatalf("%v, and a webhook says %v", err, errs)
		}
		if err != nil {
			return
		}
		var noted metav1.ObjectMeta
		if _, err := a.Note(&noted); err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		again, err := approvals.Of(&noted)
		if diff := cmp.Diff(a, again); diff != "" || err != nil {
			t.Fatalf("%v: %v (-want +got)\n%s", noted.Annotations, err, diff)
		}
	})
}

// R53: owners on a hub have keys of earlier versions. These count as before, and what is written keeps them, since a process of the
// earlier version may take over again. What ended is in none of the keys.
func TestKeysOfEarlierVersionsCount(t *testing.T) {
	earlier := owner("give-up", "x", "hold", "y why", "reviewed", "z of v1")
	want, err := approvals.Of(owner("ignore", "x", "freeze", "y why", "allowlist", "z of v1"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := approvals.Of(earlier)
	if err != nil || !reflect.DeepEqual(got, want) || len(got.Ignored)+len(got.Freezes)+len(got.Allowlist.Clusters) != 3 {
		t.Fatalf("%v: got %+v, want %+v", err, got, want)
	}
	if changed, err := got.Note(earlier); err != nil || changed {
		t.Errorf("noted: %v, %v", changed, err)
	}
	got.Ignored = append(got.Ignored, "a")
	metav1.SetMetaDataAnnotation(earlier, prefix+"freeze", "y  why") // the same in both keys counts, too
	metav1.SetMetaDataAnnotation(earlier, prefix+"hold", "y  why")
	if changed, err := got.Note(earlier); err != nil || !changed {
		t.Fatalf("noted: %v, %v", changed, err)
	}
	stored := owner("give-up", "x,a", "hold", "y why", "freeze", "y why", "reviewed", "z of v1").Annotations
	if diff := cmp.Diff(stored, earlier.Annotations); diff != "" {
		t.Errorf("noted (-want +got)\n%s", diff)
	}
	if again, err := approvals.Of(earlier); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("%v: %+v remain of %v", err, again, earlier.Annotations)
	}
	if _, err := (approvals.Approvals{}).Note(earlier); err != nil || len(earlier.Annotations) != 0 {
		t.Errorf("%v: what ended remains: %v", err, earlier.Annotations)
	}
}

// R53: where the key of an earlier version says something else than its successor, no process guesses which of them an operator meant.
func TestKeysThatContradictEachOtherAreAnError(t *testing.T) {
	for _, test := range []struct{ before, now string }{{"give-up", "ignore"}, {"hold", "freeze"}, {"reviewed", "allowlist"}} {
		const prefix = "cohort.open-cluster-management.io/"
		if _, err := approvals.Of(owner(test.before, "a of v1", test.now, "b of v1")); err == nil ||
			!strings.Contains(err.Error(), "metadata.annotations["+prefix+test.before+"]") || !strings.Contains(err.Error(), "differs from "+prefix+test.now) {
			t.Errorf("%s and %s: %v", test.before, test.now, err)
		}
		if _, err := approvals.Of(owner("hold", "a", "freeze", "a")); err != nil {
			t.Errorf("the same under both keys: %v", err)
		}
		if approvals.Same(owner(test.before, "a"), owner(test.before, "b")) {
			t.Errorf("another %s is no change", test.before)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// claims has the owner call its rollout complete, in a condition of its status about a generation.
func (s *fixture) claims(version, strategy, kind string, generation, observed int, placements ...string) *fixture {
	s.object("MODIFIED", claimText(s, version, strategy, kind, generation, observed, placements...))
	return s
}

func claimText(s *fixture, version, strategy, kind string, generation, observed int, placements ...string) string {
	text := strings.Replace(setText(s, version, strategy, placements...), `"resourceVersion"`, fmt.Sprintf(`"generation":%d,"resourceVersion"`, generation), 1)
	condition := fmt.Sprintf(`{"type":%q,"status":"True","observedGeneration":%d}`, kind, observed)
	return strings.Replace(text, `{"type":"Progressing","status":"True"}`, condition, 1)
}

const rolledOut = "PlacementRolledOut"

const (
	five  = `{"type":"Progressive","progressive":{"maxConcurrency":5,"maxFailures":5}}`
	soaks = `{"type":"Progressive","progressive":{"maxConcurrency":5,"maxFailures":5,"minSuccessTime":"20s"}}`
	times = `{"type":"Progressive","progressive":{"maxConcurrency":5,"maxFailures":5,"progressDeadline":"3s"}}`
)

func broken(cluster string) []string     { return []string{"broken called complete " + cluster} }
func suspicious(cluster string) []string { return []string{"suspicious called complete " + cluster} }

// claimStories are what an owner calls complete of a and b, with a lag of 1 s.
var claimStories = map[string]struct {
	strategy string
	tell     func(s *fixture)
	want     []string
}{
	"all are done": {five, func(s *fixture) { s.works("1", "ok", "a", "b").at(9).claims("1", five, rolledOut, 2, 2) }, nil},
	"one waits":    {five, func(s *fixture) { s.works("1", "ok", "a").at(9).claims("1", five, rolledOut, 2, 2) }, broken("b")},
	"one is under way": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "busy", "b").at(9).claims("1", five, rolledOut, 2, 2)
	}, broken("b")},
	"one has only just answered": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "busy", "b").at(9).works("1", "ok", "b").claims("1", five, rolledOut, 2, 2)
	}, nil},
	"one is under way only now": {five, func(s *fixture) {
		s.works("1", "ok", "a", "b").at(9).works("1", "busy", "b").at(9.5).claims("1", five, rolledOut, 2, 2)
	}, suspicious("b")},
	"one soaks":       {soaks, func(s *fixture) { s.works("1", "ok", "a", "b").at(12).claims("1", soaks, rolledOut, 2, 2) }, broken("a")},
	"all have soaked": {soaks, func(s *fixture) { s.works("1", "ok", "a", "b").at(27).claims("1", soaks, rolledOut, 2, 2) }, nil},
	"one failed": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "failed", "b").at(9).claims("1", five, rolledOut, 2, 2)
	}, nil},
	"one failed, and all succeeded": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "failed", "b").at(9).claims("1", five, "Succeeded", 2, 2)
	}, broken("b")},
	"one timed out": {times, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "", "b").at(20).claims("1", times, rolledOut, 2, 2)
	}, nil},
	"it says that it is not": {five, func(s *fixture) {
		for _, kind := range []string{rolledOut, "Succeeded"} {
			s.at(9).object("MODIFIED", strings.Replace(claimText(s, "1", five, kind, 2, 2), `"True"`, `"False"`, 1))
		}
	}, nil},
	"it says so of another generation": {five, func(s *fixture) { s.works("1", "ok", "a").at(9).claims("1", five, rolledOut, 2, 1) }, nil},
	"it has said so already": {five, func(s *fixture) {
		s.works("1", "ok", "a", "b").at(9).claims("1", five, rolledOut, 2, 2).at(12).fleet("a", "b", "c").at(16).claims("1", five, rolledOut, 2, 2)
	}, nil},
	"it says so again": {five, func(s *fixture) {
		s.works("1", "ok", "a", "b").at(9).claims("1", five, rolledOut, 2, 2).at(12).fleet("a", "b", "c").at(16).set("1", five).at(17).claims("1", five, rolledOut, 2, 2)
	}, broken("c")},
	"it never says of which generation": {five, func(s *fixture) { s.works("1", "ok", "a").at(9).claims("1", five, rolledOut, 2, 0) }, broken("b")},
	"it may be about what was wanted before": {five, func(s *fixture) {
		s.works("1", "ok", "a", "b").at(9).set("2", five).at(9.5).claims("2", five, rolledOut, 2, 0)
	}, suspicious("a")},
	"it is about the present one": {five, func(s *fixture) {
		s.works("1", "ok", "a", "b").at(9).set("2", five).at(9.5).claims("2", five, rolledOut, 2, 2)
	}, broken("a")},
	"decisions are partially observed": {five, func(s *fixture) {
		s.works("1", "ok", "a").decide(0, "", "a", "b", "c").at(9).claims("1", five, rolledOut, 2, 2).fleet("a", "b")
	}, nil},
	"decisions were partially observed just before": {five, func(s *fixture) {
		s.works("1", "ok", "a").at(8).decide(0, "", "a").at(8.5).decide(0, "", "a", "b").at(9).claims("1", five, rolledOut, 2, 2)
	}, append([]string{"broken vanished b"}, suspicious("b")...)},
	"decisions were partially observed long before": {five, func(s *fixture) {
		s.works("1", "ok", "a").at(5.5).decide(0, "", "a").at(6).decide(0, "", "a", "b").at(9).claims("1", five, rolledOut, 2, 2)
	}, append([]string{"broken vanished b"}, broken("b")...)},
	"an object is being deleted": {five, func(s *fixture) {
		s.works("1", "ok", "a", "b").object("MODIFIED", s.workText("b", "web", "1", "ok", `,"deletionTimestamp":"2026-01-01T00:01:46Z","finalizers":["f"]`))
		s.at(9).claims("1", five, rolledOut, 2, 2)
	}, []string{"broken kept b"}},
	"one failed, and its object is gone": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "failed", "b").at(13).remove("b", "1").at(16).claims("1", five, rolledOut, 2, 2)
	}, []string{"broken kept b"}},
	"one failed, its object is gone, and all succeeded": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "failed", "b").at(13).remove("b", "1").at(16).claims("1", five, "Succeeded", 2, 2)
	}, append([]string{"broken kept b"}, broken("b")...)},
	"one timed out, and its object is gone": {times, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "", "b").at(13).remove("b", "1").at(16).claims("1", times, rolledOut, 2, 2)
	}, []string{"broken kept b"}},
	"one failed with the version before, and its object is gone": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "failed", "b").at(13).remove("b", "1").at(16).set("2", five).at(17).works("2", "ok", "a").at(20).claims("2", five, rolledOut, 2, 2)
	}, append([]string{"broken kept b"}, broken("b")...)},
	"one was under way, and its object is gone": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "busy", "b").at(13).remove("b", "1").at(16).claims("1", five, rolledOut, 2, 2)
	}, append([]string{"broken kept b"}, broken("b")...)},
	"an object has been in deletion for long": {five, func(s *fixture) {
		s.works("1", "ok", "a").object("MODIFIED", s.workText("b", "web", "1", "ok", `,"deletionTimestamp":"2026-01-01T00:01:46Z","finalizers":["f"]`))
		s.until(20).at(25).claims("1", five, rolledOut, 2, 2)
	}, nil},
	"an object was being deleted, and is gone": {five, func(s *fixture) {
		s.works("1", "ok", "a").object("MODIFIED", s.workText("b", "web", "1", "ok", `,"deletionTimestamp":"2026-01-01T00:01:46Z","finalizers":["f"]`))
		s.at(24.5).remove("b", "1").at(25).claims("1", five, rolledOut, 2, 2)
	}, suspicious("b")},
	"one never selected is under way": {five, func(s *fixture) {
		s.works("1", "ok", "a", "b").works("1", "busy", "z").at(9).claims("1", five, rolledOut, 2, 2)
	}, []string{"broken not selected z"}},
	"one left under way, and is back": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "busy", "b").at(7).fleet("a").at(8.7).fleet("a", "b").at(9).claims("1", five, rolledOut, 2, 2)
	}, suspicious("b")},
	"none is selected": {five, func(s *fixture) { s.fleet().at(9).claims("1", five, rolledOut, 2, 2) }, nil},
	"one left under way": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "busy", "b").at(7).fleet("a").at(9).claims("1", five, rolledOut, 2, 2)
	}, broken("b")},
	"one left, and failed": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "failed", "b").at(7).fleet("a").at(9).claims("1", five, rolledOut, 2, 2)
	}, nil},
	"one left, failed and lost its object": {five, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "failed", "b").at(7).fleet("a").at(13).remove("b", "1").at(16).claims("1", five, "Succeeded", 2, 2)
	}, suspicious("b")},
	"one left without the version": {five, func(s *fixture) { s.works("1", "ok", "a").at(7).fleet("a").at(9).claims("1", five, rolledOut, 2, 2) }, nil},
	"one is under way, and nothing is limited": {`{"type":"All"}`, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "busy", "b").at(9).claims("1", `{"type":"All"}`, rolledOut, 2, 2)
	}, nil},
	"one left, and nothing is limited": {`{"type":"All"}`, func(s *fixture) {
		s.works("1", "ok", "a").works("1", "busy", "b").at(7).fleet("a").at(9).claims("1", `{"type":"All"}`, rolledOut, 2, 2)
	}, nil},
}

// What an owner calls complete is wrong where a cluster waits, is under way or soaks, and where one is that left with the version. A cluster that failed or timed
// out is done, unless all is called successful. It is broken where it is wrong in every view, and of those that left where it is known
// that a user ignores.
func TestWhatIsCalledComplete(t *testing.T) {
	for why, c := range claimStories {
		s := begin().set("1", c.strategy).fleet("a", "b").at(5)
		c.tell(s)
		s.at(40)
		r := Judge(s.read(t), Options{Lag: time.Second, Patience: time.Hour, IgnoreAnnotation: "ignore"})
		if got := said(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q\n%v", why, got, c.want, r.Findings)
		}
		if hidden := Judge(anonymised(t, s), Options{Lag: time.Second, Patience: time.Hour, IgnoreAnnotation: "ignore"}); len(hidden.Findings) != len(c.want) {
			t.Errorf("%s, anonymised: got %q, want %q", why, said(hidden), c.want)
		}
		if why == "one left under way" { // none is known to be ignored, so it may be
			if got := said(s.judge(t)); !slices.Contains(got, "suspicious called complete b") {
				t.Errorf("%s, and nothing says which are ignored: got %q", why, got)
			}
		}
	}
}

// A user that ignores a cluster has it count for nothing, also where that was only just before.
func TestAnIgnoredClusterDoesNotBelieAClaim(t *testing.T) {
	for cluster, want := range map[string][]string{"b": nil, "c": {"broken called complete b"}} {
		s := begin().set("v1", five).fleet("a", "b").at(5).works("v1", "ok", "a").works("v1", "busy", "b").at(7).fleet("a").at(9).ignore(cluster, five)
		given := fmt.Sprintf(`"annotations":{"ignore":%q},"generation"`, cluster)
		s.at(9.5).object("MODIFIED", strings.Replace(claimText(s, "v1", five, rolledOut, 1, 1), `"generation"`, given, 1))
		r := Judge(s.read(t), Options{Lag: time.Second, Patience: time.Hour, IgnoreAnnotation: "ignore"})
		if got := said(r); !slices.Equal(got, want) {
			t.Errorf("%s is ignored: got %q, want %q", cluster, got, want)
		}
	}
}

// With several placements it may be unknown from which of them a cluster was deselected.
func TestADeselectedClusterOfOneOfSeveralPlacementsIsSuspicious(t *testing.T) {
	s := begin().set("1", five, "fleet", "edge").fleet("a", "b").decideOf("edge", 0, "", "c").placeOf("edge", "=1").at(5).works("1", "ok", "a", "c").works("1", "busy", "b")
	s.at(7).fleet("a").at(9).claims("1", five, rolledOut, 2, 2, "fleet", "edge").at(12)
	r := Judge(s.read(t), Options{Lag: time.Second, Patience: time.Hour, IgnoreAnnotation: "ignore"})
	if got, want := said(r), []string{"suspicious called complete b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Where there are too many views to look at all of them, nothing is broken.
func TestClaimsWhileDecisionsAreRewrittenInTooManyWays(t *testing.T) {
	s := begin().set("1", progressive("5", "5", ""))
	var groups []string
	for i := range 15 {
		groups = append(groups, "=1")
		s.decide(i, "", fmt.Sprint("a", i))
	}
	s.place(groups...).at(5).works("1", "ok", "a0").at(8.5)
	for i := range 15 {
		s.decide(i, "", fmt.Sprint("b", i))
	}
	s.at(9).claims("1", progressive("5", "5", ""), rolledOut, 2, 2)
	if got, want := said(s.judge(t)), []string{"suspicious called complete b0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func anonymised(t *testing.T, s *fixture) *Recording {
	t.Helper()
	var hidden bytes.Buffer
	if err := Anonymise(&hidden, s.read(t), []byte("salt")); err != nil {
		t.Fatal(err)
	}
	r, err := Read(&hidden)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The claim of an add-on is about a placement and its configuration, and that of a policy about all that it is bound to. Anonymised, they are
// judged the same.
func TestClaimsOfAddOnsAndPolicies(t *testing.T) {
	const completed = `{"type":"Progressing","status":"False","reason":"Completed"}`
	config := func(name string) string { return fmt.Sprintf(`{"group":"g","resource":"configs","name":%q}`, name) }
	entry := func(placement, config, condition string) string {
		return fmt.Sprintf(`{"namespace":"w","name":%q,"configReferences":[{"group":"g","resource":"configs","desiredConfig":{"name":%q,"specHash":"h"}}],"conditions":[%s]}`, placement, config, condition)
	}
	addOn := func(ofFleet string, entries ...string) func(s *fixture) {
		return func(s *fixture) {
			owner := func(entries ...string) {
				s.object("MODIFIED", fmt.Sprintf(`{"kind":"ClusterManagementAddOn",%s,"spec":{"installStrategy":{"type":"Placements","placements":[`+
					`{"namespace":"w","name":"fleet","configs":[%s],"rolloutStrategy":%s},{"namespace":"w","name":"edge","configs":[%s],"rolloutStrategy":%s}]}},"status":{"installProgressions":[%s]}}`,
					s.meta("", "addon", ""), ofFleet, progressive("5", "5", ""), config("v2"), progressive("5", "5", ""), strings.Join(entries, ",")))
			}
			owner(entry("fleet", "v1", ""), entry("edge", "v2", ""))
			s.fleet("a", "b").decideOf("edge", 0, "", "a", "c").placeOf("edge", "=2").at(9)
			s.object("MODIFIED", fmt.Sprintf(`{"kind":"ManagedClusterAddOn",%s,"status":{"configReferences":[{"group":"g","resource":"configs","desiredConfig":{"name":"v2","specHash":"h"},"lastAppliedConfig":{"name":"v2","specHash":"h"}}]}}`,
				s.meta("c", "addon", "")))
			s.at(15)
			owner(entries...)
		}
	}
	policy := func(says string) func(s *fixture) {
		return func(s *fixture) {
			s.policy("1", progressive("5", "5", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a", "b")
			s.at(12).replicas("1", "enforce", "Compliant", "a").at(16)
			s.object("MODIFIED", fmt.Sprintf(`{"kind":"Policy",%s,"spec":{"remediationAction":"enforce","rolloutStrategy":%s,"policy-templates":[{"objectDefinition":{"v":"1"}}]},"status":{"compliant":"Pending","rolloutStatus":%q}}`,
				s.meta("w", "web", ""), progressive("5", "5", ""), says))
		}
	}
	broken := []string{"broken called complete"}
	for why, c := range map[string]struct {
		tell func(s *fixture)
		want []string
	}{
		"clusters wait":                     {addOn(config("v1"), entry("fleet", "v1", completed), entry("edge", "v2", "")), broken},
		"it is about another configuration": {addOn(config("v1"), entry("fleet", "v0", completed), entry("edge", "v2", "")), nil},
		"it is about a placement with clusters that are done, but for one that another selects": {addOn(config("v1"), entry("fleet", "v1", ""), entry("edge", "v2", completed)), nil},
		"there is no configuration":  {addOn("", `{"namespace":"w","name":"fleet","conditions":[`+completed+`]}`, entry("edge", "v2", "")), nil},
		"it is another condition":    {addOn(config("v1"), entry("fleet", "v1", strings.Replace(completed, "Progressing", "Read", 1)), entry("edge", "v2", "")), nil},
		"a policy, one is under way": {policy("Succeeded"), broken},
		"a policy is under way":      {policy("Progressing"), nil},
	} {
		s := begin()
		c.tell(s)
		s.at(20).control("BOOKMARK", "")
		for of, r := range map[string]*Recording{"": s.read(t), ", anonymised": anonymised(t, s)} {
			var got []string
			for _, f := range Judge(r, Options{Lag: time.Second, Patience: time.Hour}).Findings {
				got = append(got, fmt.Sprint(f.Grade, " ", f.Kind))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s%s: got %q, want %q", why, of, got, c.want)
			}
		}
	}
}

// An audit log says which user called a rollout complete. Where one user is judged, others are not, and no claim counts as a start.
func TestTheWriterOfAClaimIsNamed(t *testing.T) {
	s := begin().set("1", five).fleet("a", "b").at(5).works("1", "ok", "a").at(9).claims("1", five, rolledOut, 2, 2)
	r := readAudit(t, textOf(asAudit(t, s.Bytes())))
	for user, want := range map[string][]string{"": broken("b"), "jane": broken("b"), "joe": nil} {
		o := testOptions
		o.User = user
		report := Judge(r, o)
		if got := said(report); !slices.Equal(got, want) || report.Writers["jane (controller/v1)"] > report.Starts {
			t.Errorf("judged is %q: got %q by %v, want %q", user, got, report.Writers, want)
		}
		for _, f := range report.Findings {
			if !strings.Contains(f.By, "jane") || f.Source == "" {
				t.Errorf("written by %q in %q", f.By, f.Source)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// fixture writes a recording. Times are seconds; a line is as late as the one before if nothing else is said.
type fixture struct {
	bytes.Buffer
	now float64
	rv  int
	gen map[string]int
}

var dawn = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// begin begins a recording with an empty hub.
func begin() *fixture {
	s := &fixture{gen: map[string]int{}}
	s.control("BEGIN", "")
	s.control("LISTED", "")
	s.now = 100
	return s
}

func (s *fixture) time(seconds float64) time.Time {
	return dawn.Add(time.Duration(seconds * float64(time.Second)))
}

func (s *fixture) write(l Line) {
	l.At = s.time(s.now)
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	s.Write(append(text, '\n'))
}

func (s *fixture) control(kind, about string)  { s.write(Line{Type: kind, Kind: about}) }
func (s *fixture) at(seconds float64) *fixture { s.now = 100 + seconds; return s }
func (s *fixture) object(event, text string) {
	s.write(Line{Type: event, Object: json.RawMessage(text)})
}

func (s *fixture) meta(namespace, name, more string) string {
	s.rv++
	return fmt.Sprintf(`"metadata":{"namespace":%q,"name":%q,"resourceVersion":"%d"%s}`, namespace, name, s.rv, more)
}

// set has the owner want a version, with a strategy as JSON, at one or more placements.
func (s *fixture) set(version, strategy string, placements ...string) *fixture {
	s.object("MODIFIED", setText(s, version, strategy, placements...))
	return s
}

func setText(s *fixture, version, strategy string, placements ...string) string {
	if len(placements) == 0 {
		placements = []string{"fleet"}
	}
	var refs []string
	for _, p := range placements {
		refs = append(refs, fmt.Sprintf(`{"name":%q,"rolloutStrategy":%s}`, p, strategy))
	}
	return fmt.Sprintf(`{"kind":"ManifestWorkReplicaSet",%s,"spec":{"manifestWorkTemplate":{"workload":{"manifests":[{"v":%q}]}},"placementRefs":[%s]},"status":{"conditions":[{"type":"Progressing","status":"True"}]}}`,
		s.meta("w", "web", ""), version, strings.Join(refs, ","))
}

// decide writes the decision of a group, and place what the Placement's status says of all groups: "name=count".
func (s *fixture) decide(index int, group string, clusters ...string) *fixture {
	return s.decideOf("fleet", index, group, clusters...)
}

func (s *fixture) decideOf(placement string, index int, group string, clusters ...string) *fixture {
	var all []string
	for _, c := range clusters {
		all = append(all, fmt.Sprintf(`{"clusterName":%q,"reason":""}`, c))
	}
	labels := fmt.Sprintf(`,"labels":{"cluster.open-cluster-management.io/placement":%q,"cluster.open-cluster-management.io/decision-group-index":"%d","cluster.open-cluster-management.io/decision-group-name":%q}`, placement, index, group)
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"PlacementDecision",%s,"status":{"decisions":[%s]}}`, s.meta("w", fmt.Sprintf("%s-%d", placement, index), labels), strings.Join(all, ",")))
	return s
}

func (s *fixture) place(groups ...string) *fixture { return s.placeOf("fleet", groups...) }

func (s *fixture) placeOf(placement string, groups ...string) *fixture {
	var all []string
	total := 0
	for i, g := range groups {
		name, count, _ := strings.Cut(g, "=")
		n := 0
		fmt.Sscan(count, &n)
		total += n
		all = append(all, fmt.Sprintf(`{"decisionGroupIndex":%d,"decisionGroupName":%q,"clusterCount":%d,"decisions":["%s-%d"]}`, i, name, n, placement, i))
	}
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"Placement",%s,"status":{"numberOfSelectedClusters":%d,"decisionGroups":[%s]}}`, s.meta("w", placement, ""), total, strings.Join(all, ",")))
	return s
}

// fleet selects clusters in one group without a name.
func (s *fixture) fleet(clusters ...string) *fixture {
	return s.decide(0, "", clusters...).place(fmt.Sprintf("=%d", len(clusters)))
}

func (s *fixture) workText(cluster, name, version, says, more string) string {
	s.gen[cluster+"/"+name]++
	conditions := ""
	if says != "" {
		condition := func(kind string, is bool) string {
			status := map[bool]string{true: "True", false: "False"}[is]
			return fmt.Sprintf(`{"type":%q,"status":%q,"observedGeneration":1,"lastTransitionTime":%q}`, kind, status, s.time(s.now).Truncate(time.Second).Format(time.RFC3339))
		}
		conditions = strings.Join([]string{condition("Applied", true), condition("Progressing", says != "ok"), condition("Degraded", says == "failed")}, ",")
	}
	return fmt.Sprintf(`{"kind":"ManifestWork",%s,"spec":{"workload":{"manifests":[{"v":%q}]}},"status":{"conditions":[%s]}}`,
		s.meta(cluster, name, `,"generation":1,"labels":{"work.open-cluster-management.io/manifestworkreplicaset":"w.web"}`+more), version, conditions)
}

// works gives clusters a version, all at once; says is "", "busy", "ok" or "failed".
func (s *fixture) works(version, says string, clusters ...string) *fixture {
	for _, c := range clusters {
		s.object("MODIFIED", s.workText(c, "web", version, says, ""))
	}
	return s
}

func (s *fixture) remove(cluster, version string) *fixture {
	s.object("DELETED", s.workText(cluster, "web", version, "", ""))
	return s
}

// policy has a root policy want a version, in two passes, on the fleet. A cluster that does not comply has failed at once.
func (s *fixture) policy(version, strategy string) *fixture {
	return s.policyWith(`,"annotations":{"cohort.open-cluster-management.io/fail-at-once":"true"}`, version, strategy)
}

// patient is such a policy where a cluster that does not comply is in flight until the deadline.
func (s *fixture) patient(version, strategy string) *fixture {
	return s.policyWith("", version, strategy)
}

func (s *fixture) policyWith(meta, version, strategy string) *fixture {
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"Policy",%s,"spec":{"remediationAction":"enforce","rolloutStrategy":%s,"policy-templates":[{"objectDefinition":{"v":%q}}]},"status":{"compliant":"Pending"}}`,
		s.meta("w", "web", meta), strategy, version))
	return s
}

func (s *fixture) bind() *fixture {
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"PolicySet",%s,"spec":{"policies":["web"]}}`, s.meta("w", "all", "")))
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"PlacementBinding",%s,"placementRef":{"kind":"Placement","name":"fleet"},"subjects":[{"kind":"PolicySet","name":"all"}]}`, s.meta("w", "web", "")))
	return s
}

// replicas gives clusters a policy; says is what it reports now, if anything.
func (s *fixture) replicas(version, action, says string, clusters ...string) *fixture {
	status := ""
	if says != "" {
		status = fmt.Sprintf(`"compliant":%q,"details":[{"history":[{"lastTimestamp":%q}]}]`, says, s.time(s.now).Truncate(time.Second).Format(time.RFC3339))
	}
	for _, c := range clusters {
		s.object("MODIFIED", fmt.Sprintf(`{"kind":"Policy",%s,"spec":{"remediationAction":%q,"policy-templates":[{"objectDefinition":{"v":%q}}]},"status":{%s}}`,
			s.meta(c, "w.web", `,"labels":{"policy.open-cluster-management.io/root-policy":"w.web"}`), action, version, status))
	}
	return s
}

// enforcedSince enforces a policy with version 1 on a cluster, which said last, at a time before, that it does not comply.
func (s *fixture) enforcedSince(seconds float64, cluster string) *fixture {
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"Policy",%s,"spec":{"remediationAction":"enforce","policy-templates":[{"objectDefinition":{"v":"1"}}]},"status":{"compliant":"NonCompliant","details":[{"history":[{"lastTimestamp":%q}]}]}}`,
		s.meta(cluster, "w.web", `,"labels":{"policy.open-cluster-management.io/root-policy":"w.web"}`), s.time(100+seconds).Format(time.RFC3339)))
	return s
}

// enforcedWithTwo enforces a policy with version 1 on a cluster, of which one template said at a time that it does not comply, and another one, at
// another time, that it does.
func (s *fixture) enforcedWithTwo(unfit, fit float64, cluster string) *fixture {
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"Policy",%s,"spec":{"remediationAction":"enforce","policy-templates":[{"objectDefinition":{"v":"1"}}]},"status":{"compliant":"NonCompliant","details":[{"compliant":"NonCompliant","history":[{"lastTimestamp":%q}]},{"compliant":"Compliant","history":[{"lastTimestamp":%q}]}]}}`,
		s.meta(cluster, "w.web", `,"labels":{"policy.open-cluster-management.io/root-policy":"w.web"}`), s.time(100+unfit).Format(time.RFC3339), s.time(100+fit).Format(time.RFC3339)))
	return s
}

func (s *fixture) until(seconds float64) *fixture { s.at(seconds).control("BOOKMARK", ""); return s }

func progressive(limit, failures, more string) string {
	return fmt.Sprintf(`{"type":"Progressive","progressive":{"maxConcurrency":%s,"maxFailures":%s%s}}`, limit, failures, more)
}

func perGroup(more string) string {
	return fmt.Sprintf(`{"type":"ProgressivePerGroup","progressivePerGroup":{"maxFailures":0%s}}`, more)
}

func (s *fixture) read(t testing.TB) *Recording {
	t.Helper()
	r, err := Read(bytes.NewReader(s.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *fixture) judge(t testing.TB) *Report {
	t.Helper()
	return Judge(s.read(t), testOptions)
}

// said is what a report finds, in short.
func said(r *Report) (all []string) {
	for _, f := range r.Findings {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Grade, f.Kind, f.Cluster)))
	}
	return all
}

// breaks are the smallest stories in which each kind is broken, with a neighbour where it is not.
var breaks = []struct {
	why  string
	tell func(*fixture)
	want []string
}{
	{"one at a time is kept to", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "", "a").at(6).works("1", "ok", "a").at(9).works("1", "", "b").at(10).works("1", "ok", "b")
	}, nil},
	{"two at a time where one is allowed", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "", "a").at(9).works("1", "", "b")
	}, []string{"broken concurrency b"}},
	{"the first is too new to be seen", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "", "a").at(5.5).works("1", "", "b")
	}, []string{"suspicious concurrency b"}},
	{"a canary has not answered", func(s *fixture) {
		s.set("1", progressive("5", "0", `,"mandatoryDecisionGroups":[{"groupName":"canary"}]`)).decide(0, "canary", "a").decide(1, "", "b").place("canary=1", "=1").at(5).works("1", "busy", "a").at(9).works("1", "", "b")
	}, []string{"broken mandatory groups b"}},
	{"the group in front is not complete", func(s *fixture) {
		s.set("1", perGroup("")).decide(0, "", "a").decide(1, "", "b").place("=1", "=1").at(5).works("1", "busy", "a").at(9).works("1", "", "b")
	}, []string{"broken order b"}},
	{"one failed, and none is tolerated", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "", "a").at(6).works("1", "failed", "a").at(9).works("1", "", "b")
	}, []string{"broken budget b"}},
	{"one failed, and one is tolerated", func(s *fixture) {
		s.set("1", progressive("5", "1", "")).fleet("a", "b").at(5).works("1", "", "a").at(6).works("1", "failed", "a").at(9).works("1", "", "b")
	}, nil},
	{"a success soaks", func(s *fixture) {
		s.set("1", progressive("1", "0", `,"minSuccessTime":"20s"`)).fleet("a", "b").at(5).works("1", "", "a").at(6).works("1", "ok", "a").at(12).works("1", "", "b")
	}, []string{"broken soak b"}},
	{"a success has soaked", func(s *fixture) {
		s.set("1", progressive("1", "0", `,"minSuccessTime":"20s"`)).fleet("a", "b").at(5).works("1", "", "a").at(6).works("1", "ok", "a").at(27).works("1", "", "b")
	}, nil},
	{"there is no soak, and the clock of a cluster is ahead", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).object("ADDED", ahead(s, "a"))
		s.at(6).works("1", "", "b")
	}, nil},
	{"there is one, and the clock of a cluster is ahead", func(s *fixture) {
		s.set("1", progressive("1", "0", `,"minSuccessTime":"1s"`)).fleet("a", "b").at(5).object("ADDED", ahead(s, "a"))
		s.at(15).works("1", "", "b")
	}, []string{"broken soak b"}},
	{"a deadline is not over, by far", func(s *fixture) {
		s.set("1", progressive("1", "5", `,"progressDeadline":"20s"`)).fleet("a", "b").at(5).works("1", "", "a").at(15).works("1", "", "b")
	}, []string{"broken deadline b"}},
	{"a deadline is over", func(s *fixture) {
		s.set("1", progressive("1", "5", `,"progressDeadline":"20s"`)).fleet("a", "b").at(5).works("1", "", "a").at(26).works("1", "", "b")
	}, nil},
	{"a timeout is a failure", func(s *fixture) {
		s.set("1", progressive("5", "0", `,"progressDeadline":"5s"`)).fleet("a", "b").at(5).works("1", "", "a").at(15).works("1", "", "b")
	}, []string{"broken budget b"}},
	{"the version was replaced long ago", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).set("2", progressive("5", "0", "")).at(9).works("1", "", "a").until(10)
	}, []string{"broken version a"}},
	{"the version was replaced just now", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).set("2", progressive("5", "0", "")).at(5.5).works("1", "", "a").until(6)
	}, []string{"suspicious version a"}},
	{"the Placement's status does not speak of the decision yet", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).decide(0, "", "a", "b").at(5).works("1", "", "a")
	}, []string{"broken started while partially observed a"}},
	{"the decisions are partially observed only now", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).decide(0, "", "a").at(5.5).works("1", "", "a")
	}, []string{"suspicious started while partially observed a"}},
	{"nothing selects it", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "", "c").until(6)
	}, []string{"broken not selected c"}},
	{"the first placement takes a cluster", func(s *fixture) {
		s.set("1", perGroup(""), "fleet", "edge").fleet("a").decideOf("edge", 0, "", "a").decideOf("edge", 1, "", "b").placeOf("edge", "=1", "=1").at(5).works("1", "", "a", "b")
	}, nil},
	{"an object is deleted though its cluster is selected", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a", "b").at(9).remove("a", "1").until(10)
	}, []string{"broken kept a"}},
	{"an object is deleted while a rewrite leaves its cluster out", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a", "b").at(9).decide(0, "", "b").at(9.5).remove("a", "1").at(9.9).decide(0, "", "a", "b").until(10)
	}, []string{"broken kept a", "broken vanished a"}},
	{"an object is deleted too early, and its cluster returns", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a", "b").at(9).fleet("b").at(11).remove("a", "1").at(12).fleet("a", "b").until(13)
	}, []string{"broken kept a"}},
	{"an object is deleted in time", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a", "b").at(9).fleet("b").at(14).remove("a", "1").until(15)
	}, nil},
	{"a cluster has two objects", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a").at(5).works("1", "ok", "a").at(9).object("ADDED", s.workText("a", "web-x", "1", "", ""))
	}, []string{"broken once a"}},
	{"an object stays behind", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a", "b").at(9).fleet("b").until(20).until(40)
	}, []string{"broken left behind a"}},
	{"nothing happens though something could", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a").until(10).until(30)
	}, []string{"broken stuck b"}},
	{"nothing happens after a soak", func(s *fixture) {
		s.set("1", progressive("1", "0", `,"minSuccessTime":"20s"`)).fleet("a", "b").at(5).works("1", "ok", "a").until(33).until(40)
	}, []string{"broken stuck b"}},
	{"nothing happens, and a cluster left that may still count", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b", "c").at(5).works("1", "ok", "a").at(6).fleet("a", "b").until(10).until(30)
	}, []string{"suspicious stuck b"}},
	{"nothing happens, and a cluster left before", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b", "c").at(4).fleet("a", "b").set("2", progressive("1", "0", "")).at(5).works("2", "ok", "a").until(10).until(30)
	}, []string{"broken stuck b"}},
	{"nothing happens in the first group, and as many of the second are exposed as a group has", func(s *fixture) { // R66 of package rollout
		s.set("1", perGroup("")).decide(0, "", "a").decide(1, "", "b", "d").place("=1", "=2").at(5).works("1", "ok", "a").at(9).works("1", "busy", "b", "d")
		s.at(12).decide(0, "", "a", "c").place("=2", "=2").until(15).until(40)
	}, []string{"suspicious stuck c"}},
	{"nothing happens in the first group, and fewer of the second are exposed", func(s *fixture) {
		s.set("1", perGroup("")).decide(0, "", "a").decide(1, "", "b").place("=1", "=1").at(5).works("1", "ok", "a").at(9).works("1", "busy", "b")
		s.at(12).decide(0, "", "a", "c").place("=2", "=1").until(15).until(40)
	}, []string{"broken stuck c"}},
	{"a failure is tolerated, so that one more may be exposed", func(s *fixture) {
		s.set("1", perGroup(`,"progressDeadline":"1h","maxFailures":1`)).decide(0, "", "a").decide(1, "", "b", "d").place("=1", "=2").at(5).works("1", "ok", "a").at(9).works("1", "busy", "b", "d")
		s.at(12).decide(0, "", "a", "c").place("=2", "=2").until(15).until(40)
	}, []string{"broken stuck c"}},
	{"nothing happens in the first group, long after fewer of the second are exposed", func(s *fixture) {
		s.set("1", perGroup("")).decide(0, "", "a").decide(1, "", "b", "d").place("=1", "=2").at(5).works("1", "ok", "a").at(9).works("1", "busy", "b", "d")
		s.at(12).decide(0, "", "a", "c").place("=2", "=2").until(15).until(40).at(41).works("1", "ok", "b").until(45).until(60)
	}, []string{"broken stuck c", "suspicious stuck c"}},
	{"nothing happens in the first group, and only for a short time fewer of the second are exposed", func(s *fixture) {
		s.set("1", perGroup("")).decide(0, "", "a").decide(1, "", "b", "d").place("=1", "=2").at(5).works("1", "ok", "a").at(9).works("1", "busy", "b", "d")
		s.at(12).decide(0, "", "a", "c").place("=2", "=2").until(15).until(40).at(41).works("1", "ok", "b").until(45)
	}, []string{"suspicious stuck c"}},
	{"nothing happens in the first group, and the cluster of the second is done", func(s *fixture) {
		s.set("1", perGroup("")).decide(0, "", "a").decide(1, "", "b").place("=1", "=1").at(5).works("1", "ok", "a").at(9).works("1", "ok", "b")
		s.at(12).decide(0, "", "a", "c").place("=2", "=1").until(15).until(40)
	}, []string{"broken stuck c"}},
	{"nothing happens because nothing may", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "busy", "a").until(300)
	}, nil},
	{"its status says nothing", func(s *fixture) {
		s.object("ADDED", fmt.Sprintf(`{"kind":"ManifestWorkReplicaSet",%s,"spec":{"manifestWorkTemplate":{"workload":{"manifests":[{"v":"1"}]}},"placementRefs":[{"name":"fleet"}]}}`, s.meta("w", "web", "")))
		s.fleet("a").at(5).works("1", "ok", "a").until(30)
	}, []string{"broken status"}},
	{"it is called complete, and a cluster waits", func(s *fixture) {
		s.set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a").at(9).claims("1", progressive("5", "0", ""), rolledOut, 1, 1)
	}, []string{"broken called complete b"}},
	{"a cluster vanishes while it goes to another decision", func(s *fixture) {
		s.decide(0, "", "a", "b").decide(1, "", "c").place("=2", "=1").at(5).decide(0, "", "a").at(6).decide(1, "", "b", "c").place("=1", "=2")
	}, []string{"broken vanished b"}},
	{"a cluster is in two decisions while it goes to another", func(s *fixture) {
		s.decide(0, "", "a", "b").decide(1, "", "c").place("=2", "=1").at(5).decide(1, "", "b", "c").at(6).decide(0, "", "a").place("=1", "=2")
	}, nil},
	{"a cluster was deselected while the labels were late, and the Placement says so", func(s *fixture) {
		s.decide(0, "", "a", "b").place("=2").at(5).decide(0, "eu", "a").place("=1").at(6).decide(0, "eu", "a", "b").place("eu=2")
	}, nil},
	{"a cluster is in a decision that still has the name of a group that is no more", func(s *fixture) {
		s.decide(0, "canary", "a").decide(1, "", "b").place("canary=1", "=1").at(5).decide(0, "canary", "a", "b")
		s.object("DELETED", fmt.Sprintf(`{"kind":"PlacementDecision",%s}`, s.meta("w", "fleet-1", "")))
		s.place("=2").at(6).decide(0, "", "a", "b")
	}, []string{"broken misnamed b"}},
	{"the Placement names the group already, and the labels follow", func(s *fixture) {
		s.decide(0, "canary", "a").decide(1, "", "b").place("canary=1", "=1").at(5).decide(1, "eu", "b").place("canary=1", "eu=1").at(6).decide(1, "", "b").place("canary=1", "=1")
	}, nil},
	{"for a moment a cluster is in no decision, and the counts are what they were", func(s *fixture) {
		s.fleet("a", "b").at(5).decide(0, "", "b", "c").at(5.5).decide(0, "", "a", "b")
	}, []string{"suspicious vanished a"}},
	{"for long a cluster is in no decision, and the counts are what they were", func(s *fixture) {
		s.fleet("a", "b").at(5).decide(0, "", "b", "c").at(9).decide(0, "", "a", "b")
	}, nil},
	{"for a moment a cluster is not selected", func(s *fixture) {
		s.fleet("a", "b").at(5).fleet("b").at(5.5).fleet("a", "b")
	}, nil},
	{"for a moment a cluster is in another group, and the counts are what they were", func(s *fixture) {
		s.decide(0, "canary", "a").decide(1, "", "b").place("canary=1", "=1").at(5).decide(1, "", "a").decide(0, "canary", "c").at(5.5).decide(0, "canary", "a").decide(1, "", "b")
	}, []string{"suspicious misnamed a", "suspicious vanished b"}},
	{"the status counts clusters, and there is no decision", func(s *fixture) {
		s.place("=2").until(30)
	}, []string{"broken unfinished"}},
	{"the status names another group for good", func(s *fixture) {
		s.decide(0, "canary", "a").place("=1").until(30)
	}, []string{"broken unfinished"}},
	{"another controller writes the decisions, and none the status", func(s *fixture) {
		s.object("ADDED", fmt.Sprintf(`{"kind":"Placement",%s}`, s.meta("w", "fleet", `,"annotations":{"cluster.open-cluster-management.io/experimental-scheduling-disable":"true"}`)))
		s.set("1", progressive("1", "0", "")).decide(0, "", "a", "b").at(5).works("1", "", "a").at(9).works("1", "", "b")
	}, []string{"broken concurrency b"}},
	{"a policy goes through both passes", func(s *fixture) {
		s.policy("1", progressive("1", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").at(13).replicas("1", "enforce", "Compliant", "a").at(17).replicas("1", "enforce", "", "b")
	}, nil},
	{"two policies are enforced where one is allowed", func(s *fixture) {
		s.policy("1", progressive("1", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").at(13).replicas("1", "enforce", "", "b")
	}, []string{"broken concurrency b"}},
	{"a report is as old as the first pass", func(s *fixture) {
		s.policy("1", progressive("1", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9)
		s.enforcedSince(5, "a")
		s.until(40)
	}, nil},
	{"a policy failed, and none is tolerated", func(s *fixture) {
		s.policy("1", progressive("5", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").at(12).replicas("1", "enforce", "NonCompliant", "a").at(17).replicas("1", "enforce", "", "b")
	}, []string{"broken budget b"}},
	{"a failure in the second of the write, which may be that of the first pass", func(s *fixture) {
		s.policy("1", progressive("5", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9.5).replicas("1", "enforce", "NonCompliant", "a").at(17).replicas("1", "enforce", "", "b")
	}, nil},
	{"a policy that waits for the deadline does not comply, which is no failure", func(s *fixture) {
		s.patient("1", progressive("5", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").at(12).replicas("1", "enforce", "NonCompliant", "a").at(17).replicas("1", "enforce", "", "b")
	}, nil},
	{"it does not comply by the deadline, and none is tolerated", func(s *fixture) {
		s.patient("1", progressive("5", "0", `,"progressDeadline":"10s"`)).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").at(12).replicas("1", "enforce", "NonCompliant", "a").at(30).replicas("1", "enforce", "", "b")
	}, []string{"broken budget b"}},
	{"a cluster says nothing after the first pass, until the deadline: none is tolerated, and none starts", func(s *fixture) {
		s.policy("1", progressive("1", "0", `,"progressDeadline":"10s"`)).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).enforcedSince(5, "a").until(60)
	}, nil},
	{"the same where one is tolerated", func(s *fixture) {
		s.policy("1", progressive("1", "1", `,"progressDeadline":"10s"`)).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).enforcedSince(5, "a").until(60)
	}, []string{"broken stuck b"}},
	{"such a failure, and none starts", func(s *fixture) {
		s.policy("1", progressive("5", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9.5).replicas("1", "enforce", "NonCompliant", "a").until(60)
	}, nil},
	{"a group failed in one template, and another one says nothing new", func(s *fixture) {
		s.policy("1", `{"type":"ProgressivePerGroup","progressivePerGroup":{"maxFailures":1}}`).bind().decide(0, "", "a").decide(1, "", "b").place("=1", "=1").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").
			at(12).enforcedWithTwo(12, 5, "a").at(17).replicas("1", "enforce", "", "b")
	}, nil},
	{"a group failed in the first pass, and another template answers the second", func(s *fixture) {
		s.policy("1", `{"type":"ProgressivePerGroup","progressivePerGroup":{"maxFailures":1}}`).bind().decide(0, "", "a").decide(1, "", "b").place("=1", "=1").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").
			at(12).enforcedWithTwo(5, 12, "a").at(17).replicas("1", "enforce", "", "b")
	}, []string{"broken order b"}},
	{"a cluster failed in one template, another one says nothing new, and it keeps its slot", func(s *fixture) {
		s.policy("1", progressive("1", "1", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "NonCompliant", "a", "b").at(9).replicas("1", "enforce", "", "a").
			at(12).enforcedWithTwo(12, 5, "a").at(17).replicas("1", "enforce", "", "b")
	}, []string{"broken concurrency b"}},
	{"a policy is enforced at once", func(s *fixture) {
		s.policy("1", progressive("5", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "enforce", "", "a").until(6)
	}, []string{"broken first pass a"}},
	{"another cluster is still enforced with the version before", func(s *fixture) {
		s.policy("1", progressive("5", "0", "")).bind().fleet("a", "b").at(5).replicas("1", "inform", "", "a", "b").at(6).replicas("1", "enforce", "Compliant", "a", "b").
			at(20).policy("2", progressive("5", "0", "")).at(23).replicas("2", "inform", "", "a").at(26).replicas("2", "enforce", "", "a").until(27)
	}, []string{"broken taken back a"}},
	{"a policy of which a binding has a filter", func(s *fixture) {
		s.policy("1", progressive("1", "0", ""))
		s.object("ADDED", fmt.Sprintf(`{"kind":"PlacementBinding",%s,"placementRef":{"kind":"Placement","name":"fleet"},"subjects":[{"kind":"Policy","name":"web"}],"subFilter":"restricted"}`, s.meta("w", "web", "")))
		s.fleet("a", "b").at(5).replicas("1", "inform", "", "a", "b").at(9).replicas("1", "enforce", "", "a", "b")
	}, nil},
	{"a cluster left with the version and has not answered", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "busy", "a").at(9).fleet("b").at(14).works("1", "", "b")
	}, []string{"suspicious deselected b"}},
	{"a cluster left and is done", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a").at(9).fleet("b").at(14).works("1", "", "b")
	}, nil},
	{"a cluster left with the version before", func(s *fixture) {
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "busy", "a").at(9).fleet("b").at(10).set("2", progressive("1", "0", "")).at(14).works("2", "", "b")
	}, nil},
	{"all at once is no limit", func(s *fixture) {
		s.set("1", `{"type":"All"}`).fleet("a", "b", "c").at(5).works("1", "", "a", "b", "c")
	}, nil},
}

// Each kind is found in a fixture of a few lines, and not in its neighbour.
func TestKinds(t *testing.T) {
	found := map[string]bool{}
	for _, b := range breaks {
		s := begin()
		b.tell(s)
		r := s.judge(t)
		got := said(r)
		slices.Sort(got)
		if !slices.Equal(got, b.want) {
			t.Errorf("%s: got %q, want %q\n%v", b.why, got, b.want, r.Findings)
		}
		for _, f := range r.Findings {
			found[string(f.Kind)] = true
		}
	}
	for _, k := range Kinds {
		if !found[string(k)] {
			t.Errorf("no fixture shows %q", k)
		}
	}
}

// ahead is the work of a cluster that is done, and has a clock an hour ahead.
func ahead(s *fixture, cluster string) string {
	s.now += 3600
	defer func() { s.now -= 3600 }()
	return s.workText(cluster, "web", "1", "ok", "")
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// auditLine is a line of an audit log as a test changes it.
type auditLine = map[string]any

// asAudit tells what a recording tells as an API server would log it: lists of everything first, then the writes.
func asAudit(t testing.TB, recording []byte) (lines []auditLine) {
	t.Helper()
	there := map[string]bool{}
	rv := "0"
	for text := range bytes.Lines(recording) {
		var l Line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		switch l.Type {
		case "BEGIN":
			continue
		case "LISTED":
			for resource, kind := range kindsOf {
				lines = append(lines, auditOf(l.At, "list", resource, "", "", 200, fmt.Sprintf(`{"kind":"%sList","metadata":{"resourceVersion":%q},"items":[]}`, kind, rv)))
			}
			continue
		case "BOOKMARK":
			lines = append(lines, auditOf(l.At, "get", "/nodes", "", "a", 200, ""))
			continue
		}
		var o object
		if err := json.Unmarshal(l.Object, &o); err != nil {
			t.Fatal(err)
		}
		rv = o.Metadata.ResourceVersion
		resource := "/" + strings.ToLower(o.Kind) + "s"
		for r, kind := range kindsOf {
			if kind == o.Kind {
				resource = r
			}
		}
		id := o.Kind + keyOf(o.Metadata.Namespace, o.Metadata.Name)
		code, verb, body := 200, "update", string(l.Object)
		if !there[id] {
			code, verb = 201, "create"
		}
		if there[id] = l.Type != "DELETED"; !there[id] {
			code, verb, body = 200, "delete", `{"kind":"Status","apiVersion":"v1","status":"Success"}`
		}
		lines = append(lines, auditOf(l.At, verb, resource, o.Metadata.Namespace, o.Metadata.Name, code, body))
	}
	return lines
}

// auditOf is a line of a request that took a millisecond.
func auditOf(at time.Time, verb, resource, namespace, name string, code int, body string) auditLine {
	group, resource, _ := strings.Cut(resource, "/")
	l := auditLine{
		"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "x", "stage": "ResponseComplete",
		"requestURI": "/apis/" + group + "/v1/" + resource, "verb": verb, "user": auditLine{"username": "jane"}, "userAgent": "controller/v1 (linux)",
		"objectRef":                auditLine{"apiGroup": group, "resource": resource, "namespace": namespace, "name": name},
		"responseStatus":           auditLine{"code": code},
		"requestReceivedTimestamp": at.Add(-time.Millisecond).Format(time.RFC3339Nano), "stageTimestamp": at.Format(time.RFC3339Nano),
	}
	if body != "" {
		l["responseObject"] = json.RawMessage(body)
	}
	return l
}

func textOf(lines []auditLine) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	for _, l := range lines {
		if err := out.Encode(l); err != nil {
			panic(err)
		}
	}
	// As API servers do, the kind and the version come first.
	return strings.ReplaceAll(b.String(), `{"apiVersion":"audit.k8s.io/v1","auditID":"x","kind":"Event"`, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"x"`)
}

func readAudit(t testing.TB, logs ...string) *Recording {
	t.Helper()
	var in []io.Reader
	for _, l := range logs {
		in = append(in, strings.NewReader(l))
	}
	r, err := Read(in...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Whatever a recording of watches shows, an audit log of the same writes shows, too: in any order, in parts, and compressed. An
// excerpt of one is a recording with the same finding.
func TestAuditLogsSayTheSame(t *testing.T) {
	for i, b := range breaks {
		s := begin()
		b.tell(s)
		want := said(s.judge(t))
		slices.Sort(want)
		lines := asAudit(t, s.Bytes())
		shuffled := slices.Clone(lines)
		rand.New(rand.NewPCG(uint64(i), 0)).Shuffle(len(shuffled), func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
		half := len(lines) / 2
		for way, logs := range map[string][]string{
			"as it was written":              {textOf(lines)},
			"out of order":                   {textOf(shuffled)},
			"rotated":                        {textOf(lines[half:]), textOf(lines[:half])},
			"compressed":                     {packed(textOf(lines))},
			"rotated, and a part compressed": {textOf(lines[half:]), packed(textOf(lines[:half]))},
		} {
			r := readAudit(t, logs...)
			report := Judge(r, testOptions)
			got := said(report)
			slices.Sort(got)
			if !slices.Equal(got, want) || len(report.Holes) > 0 {
				t.Errorf("%s, %s: got %q, want %q, holes %v", b.why, way, got, want, report.Holes)
			}
			if way != "out of order" {
				continue
			}
			Excerpts(r, report, testOptions)
			for _, f := range report.Findings {
				if len(f.Excerpt) == 0 {
					continue
				}
				var text bytes.Buffer
				if err := Lines(&text, nil, r, f.Excerpt); err != nil {
					t.Fatal(err)
				}
				alone, err := Read(&text)
				if err != nil {
					t.Errorf("%s: the excerpt: %v", b.why, err)
					continue
				}
				if again := Judge(alone, testOptions); !slices.ContainsFunc(again.Findings, func(x Finding) bool { return x.Kind == f.Kind && x.Grade == f.Grade && x.Cluster == f.Cluster }) {
					t.Errorf("%s: the excerpt shows %v, want %v", b.why, again.Findings, f)
				}
			}
		}
	}
}

func packed(text string) string {
	var b bytes.Buffer
	out := gzip.NewWriter(&b)
	_, _ = out.Write([]byte(text))
	_ = out.Close()
	return b.String()
}

// tooMany has two clusters in flight where one may be: the last line is wrong.
func twoAtOnce(t testing.TB) []auditLine {
	s := begin()
	s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "", "a").at(9).works("1", "", "b")
	return asAudit(t, s.Bytes())
}

// Where a log does not say what came of a write there is a hole, until something says how the object is. Nothing is judged in it.
func TestAuditHoles(t *testing.T) {
	broken := []string{"broken concurrency b"}
	works := "work.open-cluster-management.io/manifestworks"
	at := func(seconds float64) time.Time {
		return dawn.Add(time.Duration((100 + seconds) * float64(time.Second)))
	}
	insert := func(lines []auditLine, behind int, more ...auditLine) []auditLine {
		n := len(lines) - 1 - behind
		return slices.Concat(lines[:n], more, lines[n:])
	}
	status := func(cluster string, rv int, more string) string {
		s := begin()
		s.rv = rv - 1
		return s.workText(cluster, "web", "1", "", more)
	}
	for _, tt := range []struct {
		why   string
		lines []auditLine
		want  []string
		hole  string // a part of the reason; empty for none
	}{
		{"it is whole", twoAtOnce(t), broken, ""},
		{"nothing lists works", slices.DeleteFunc(twoAtOnce(t), func(l auditLine) bool {
			return l["verb"] == "list" && l["objectRef"].(auditLine)["resource"] == "manifestworks"
		}), nil, "ManifestWork: the audit log has no list of them all"},
		{"nothing lists add-ons, of which there are none", slices.DeleteFunc(twoAtOnce(t), func(l auditLine) bool {
			return l["verb"] == "list" && l["objectRef"].(auditLine)["apiGroup"] == "addon.open-cluster-management.io"
		}), broken, ""},
		{"a write without an answer", insert(twoAtOnce(t), 0, auditOf(at(6), "patch", works, "a", "web", 200, "")), nil, "does not say what came of a write of a/web"},
		{"a write without an answer, and the next one of the same object", insert(twoAtOnce(t), 0,
			auditOf(at(5.5), "patch", works, "a", "web", 200, ""), auditOf(at(6), "patch", works, "a", "web", 200, status("a", 5, ""))), broken, "does not say what came of a write of a/web"},
		{"views reach into the hole", insert(twoAtOnce(t), 0,
			auditOf(at(5.5), "patch", works, "a", "web", 200, ""), auditOf(at(8.5), "patch", works, "a", "web", 200, status("a", 5, ""))), nil, "does not say what came of a write of a/web"},
		{"a creation without a name and an answer", insert(twoAtOnce(t), 0, auditOf(at(6), "create", works, "c", "", 201, "")), nil, "does not say what came of a write of one"},
		{"and then a list", insert(twoAtOnce(t), 0, auditOf(at(6), "create", works, "c", "", 201, ""),
			auditOf(at(7), "list", works, "", "", 200, `{"kind":"ManifestWorkList","metadata":{"resourceVersion":"4"},"items":[`+status("a", 4, "")+`]}`)), broken, ""},
		{"the answer is an error of the server", insert(twoAtOnce(t), 0, auditOf(at(6), "patch", works, "a", "web", 504, "")), nil, "does not say what came of a write of a/web"},
		{"the request was refused", insert(twoAtOnce(t), 0, auditOf(at(6), "patch", works, "a", "web", 409, "")), broken, ""},
		{"the answer is a table", insert(twoAtOnce(t), 0, auditOf(at(6), "patch", works, "a", "web", 200, `{"kind":"Table","rows":[]}`)), nil, "does not say what came of a write of a/web"},
		{"many are deleted, and nothing says which", insert(twoAtOnce(t), 0, auditOf(at(6), "deletecollection", works, "a", "", 200, "")), nil, "does not say what came of a write of one"},
		{"many are deleted", insert(twoAtOnce(t), 0, auditOf(at(6), "deletecollection", works, "a", "", 200, `{"kind":"ManifestWorkList","metadata":{},"items":[`+status("a", 4, "")+`]}`)),
			[]string{"broken kept a"}, ""},
		{"many are deleted, which have finalizers", insert(twoAtOnce(t), 0, auditOf(at(6), "deletecollection", works, "a", "", 200,
			`{"kind":"ManifestWorkList","metadata":{},"items":[`+status("a", 4, `,"finalizers":["f"]`)+`]}`)), nil, "does not say what came of a write of a/web"},
		{"a deletion by the last finalizer", insert(twoAtOnce(t), 0, auditOf(at(6), "patch", works, "a", "web", 200, status("a", 4, `,"deletionTimestamp":"2026-01-01T00:01:46Z"`))),
			[]string{"broken kept a"}, ""},
		{"a list that has something else", insert(twoAtOnce(t), 0, auditOf(at(7), "list", works, "", "", 200, `{"kind":"ManifestWorkList","metadata":{"resourceVersion":"4"},"items":[]}`)),
			nil, "the deletion of a/web is missing"},
		{"a part of a list", insert(twoAtOnce(t), 0, auditOf(at(7), "list", works, "", "", 200, `{"kind":"ManifestWorkList","metadata":{"resourceVersion":"4","continue":"x","remainingItemCount":1},"items":[]}`)), broken, ""},
		{"a list in a namespace", insert(twoAtOnce(t), 0, auditOf(at(7), "list", works, "c", "", 200, `{"kind":"ManifestWorkList","metadata":{"resourceVersion":"4"},"items":[]}`)), broken, ""},
		{"a second creation", insert(twoAtOnce(t), 0, auditOf(at(8.8), "create", works, "a", "web", 201, status("a", 5, ""))), nil, "the deletion before a/web at resourceVersion 5 is missing"},
		{"a get that shows more than was written", insert(twoAtOnce(t), 0, auditOf(at(6), "get", works, "a", "web", 200, status("a", 5, ""))), broken, "a write before a/web at resourceVersion 5 is missing"},
		{"a get that shows what is known", insert(twoAtOnce(t), 0, auditOf(at(6), "get", works, "a", "web", 200, status("a", 4, ""))), broken, ""},
		{"nothing was written", insert(twoAtOnce(t), 0, func() auditLine {
			l := auditOf(at(6), "delete", works, "a", "web", 200, `{"kind":"Status"}`)
			l["requestURI"] = "/apis/x?dryRun=All"
			return l
		}()), broken, ""},
		{"the stage before is logged, too", insert(twoAtOnce(t), 0, func() auditLine {
			l := auditOf(at(6), "patch", works, "a", "web", 0, "")
			l["stage"] = "RequestReceived"
			return l
		}()), broken, ""},
		{"a handler died", insert(twoAtOnce(t), 0, func() auditLine {
			l := auditOf(at(6), "patch", works, "a", "web", 500, "")
			l["stage"] = "Panic"
			return l
		}()), nil, "does not say what came of a write of a/web"},
		{"an update of an unseen object", insert(twoAtOnce(t), 0, func() auditLine {
			l := auditOf(at(8.8), "update", works, "a", "web", 200, status("a", 7, ""))
			l["requestObject"] = json.RawMessage(`{"metadata":{"resourceVersion":"6"}}`)
			return l
		}()), nil, "a write before a/web at resourceVersion 7 is missing"},
		{"an object without a creation", insert(twoAtOnce(t), 0, auditOf(at(8.8), "patch", works, "c", "web", 200, status("c", 5, `,"creationTimestamp":"2026-01-01T00:01:46Z"`))), nil, "a write before c/web at resourceVersion 5 is missing"},
	} {
		if last := tt.lines[len(tt.lines)-1]; last["verb"] == "create" { // it is behind what was inserted
			var o map[string]any
			if err := json.Unmarshal(last["responseObject"].(json.RawMessage), &o); err != nil {
				t.Fatal(err)
			}
			o["metadata"].(map[string]any)["resourceVersion"] = "9"
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			last["responseObject"] = json.RawMessage(text)
		}
		r := Judge(readAudit(t, textOf(tt.lines)), testOptions)
		if got := said(r); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q, holes %v", tt.why, got, tt.want, r.Holes)
		}
		if tt.hole == "" && len(r.Holes) > 0 || tt.hole != "" && (len(r.Holes) != 1 || !strings.Contains(r.Holes[0].String(), tt.hole)) {
			t.Errorf("%s: got holes %v, want %q", tt.why, r.Holes, tt.hole)
		}
	}
}

// A log that ends in the middle of a line is read up to there. In the last log nothing is lost by that.
func TestAuditTorn(t *testing.T) {
	lines := twoAtOnce(t)
	text := textOf(lines)
	for _, tt := range []struct {
		why  string
		logs []string
		want []string
	}{
		{"at the end", []string{text + `{"kind":"Event","apiVer`}, []string{"broken concurrency b"}},
		{"before the last write", []string{textOf(lines[:len(lines)-1]) + `{"kind":"Eve`, textOf(lines[len(lines)-1:])}, nil},
	} {
		r := Judge(readAudit(t, tt.logs...), testOptions)
		if got := said(r); !slices.Equal(got, tt.want) || len(r.Holes) != 1 || !strings.Contains(r.Holes[0].Reason, "ends in the middle of line") {
			t.Errorf("%s: got %q, want %q, holes %v", tt.why, got, tt.want, r.Holes)
		}
	}
}

// A deletion with an answer that has no resourceVersion comes behind what could be its cause, and before what could be its effect.
func TestAuditDeletionsInBetween(t *testing.T) {
	works := "work.open-cluster-management.io/manifestworks"
	for _, tt := range []struct {
		why  string
		tell func(s *fixture)
		gone float64 // when the deletion is answered; it came 0.5 s before
		want []string
	}{
		{"the decision is rewritten while it is deleted", func(s *fixture) {
			s.at(5).works("1", "ok", "a", "b").at(9).fleet("b")
		}, 9.2, nil},
		{"it is deleted before", func(s *fixture) {
			s.at(5).works("1", "ok", "a", "b").at(9).fleet("b")
		}, 8.9, []string{"broken kept a"}},
		{"it is made anew while it is deleted", func(s *fixture) {
			s.at(5).works("1", "ok", "b").works("1", "ok", "a").at(6).fleet("b")
			s.at(9.1).object("ADDED", s.workText("a", "web", "1", "ok", `,"creationTimestamp":"2026-01-01T00:01:49Z"`))
			s.until(60)
		}, 9.2, []string{"broken not selected a", "broken left behind a"}},
	} {
		s := begin()
		s.set("1", `{"type":"All"}`).fleet("a", "b")
		tt.tell(s)
		lines := asAudit(t, s.Bytes())
		for _, l := range lines[len(lines)-2:] {
			if strings.HasPrefix(l["stageTimestamp"].(string), "2026-01-01T00:01:49.1") {
				l["verb"], l["responseStatus"] = "create", auditLine{"code": 201}
			}
		}
		at := dawn.Add(time.Duration((100 + tt.gone) * float64(time.Second)))
		gone := auditOf(at, "delete", works, "a", "web", 200, `{"kind":"Status"}`)
		gone["requestReceivedTimestamp"] = at.Add(-500 * time.Millisecond).Format(time.RFC3339Nano)
		r := Judge(readAudit(t, textOf(append(lines, gone))), Options{Lag: time.Second})
		if got := said(r); !slices.Equal(got, tt.want) || len(r.Holes) > 0 {
			t.Errorf("%s: got %q, want %q, holes %v", tt.why, got, tt.want, r.Holes)
		}
	}
}

// Large hubs list in parts, which are one list if they are of one resourceVersion and none is missing.
func TestAuditListsInParts(t *testing.T) {
	s := begin()
	s.set("1", progressive("1", "0", "")).fleet("a", "b").works("1", "", "a").at(9).works("1", "", "b")
	all := asAudit(t, s.Bytes())
	for missing, want := range [][]string{{"broken concurrency b"}, nil, nil} {
		var lines []auditLine
		items := ""
		for _, l := range all {
			if at, _ := time.Parse(time.RFC3339Nano, l["stageTimestamp"].(string)); l["verb"] == "list" || at.After(dawn.Add(105*time.Second)) {
				if l["objectRef"].(auditLine)["resource"] != "manifestworks" || l["verb"] != "list" {
					lines = append(lines, l)
				}
			} else if l["objectRef"].(auditLine)["resource"] == "manifestworks" {
				items = string(l["responseObject"].(json.RawMessage)) // it is older than the log
			} else {
				lines = append(lines, l)
			}
		}
		for part, meta := range []string{`"continue":"x","remainingItemCount":1`, `"continue":""`} {
			at := dawn.Add(time.Duration(101+part) * time.Second)
			l := auditOf(at, "list", "work.open-cluster-management.io/manifestworks", "", "", 200, fmt.Sprintf(`{"kind":"ManifestWorkList","metadata":{"resourceVersion":"4",%s},"items":[%s]}`, meta, []string{"", items}[part]))
			if part == 1 {
				l["requestURI"] = "/apis/x?limit=1&continue=x"
			}
			if missing != part+1 {
				lines = append(lines, l)
			}
		}
		r := Judge(readAudit(t, textOf(lines)), testOptions)
		if got := said(r); !slices.Equal(got, want) {
			t.Errorf("without part %d: got %q, want %q, holes %v", missing, got, want, r.Holes)
		}
	}
}

// The writer is named, and judged alone on request.
func TestAuditUsers(t *testing.T) {
	lines := twoAtOnce(t)
	last := lines[len(lines)-1]
	last["user"], last["impersonatedUser"], last["userAgent"] = auditLine{"username": "proxy"}, auditLine{"username": "joe"}, "kubectl/v1.36.0 (linux/amd64)"
	r := readAudit(t, textOf(lines[:3]), textOf(lines[3:]))
	for user, want := range map[string]int{"": 1, "joe": 1, "kubectl/v1.36.0": 1, "jane": 0, "proxy": 0} {
		o := testOptions
		o.User = user
		report := Judge(r, o)
		if len(report.Findings) != want {
			t.Errorf("%q: got %v", user, report.Findings)
		}
		if user != "" {
			continue
		}
		if f := report.Findings[0]; f.By != "joe (kubectl/v1.36.0)" || f.Source != "line "+strconv.Itoa(len(lines)-3)+" of " {
			t.Errorf("got by %q, source %q", f.By, f.Source)
		}
		if w := report.Writers; w["joe (kubectl/v1.36.0)"] != 1 || w["jane (controller/v1)"] != 1 {
			t.Error(w)
		}
	}
}

// What is no audit log is said.
func TestAuditBadInput(t *testing.T) {
	good := textOf(twoAtOnce(t)[:1])
	for _, tt := range []struct {
		logs []string
		want string
	}{
		{[]string{good + "nonsense\n"}, "line 2: expected an event of an audit log"},
		{[]string{good + `{"kind":"EventList","apiVersion":"audit.k8s.io/v1"}` + "\n"}, `line 2: this is a "EventList" of "audit.k8s.io/v1", expected an Event`},
		{[]string{good + `{"kind":"Event","apiVersion":"audit.k8s.io/v1"}` + "\n"}, "line 2: stageTimestamp is 0001"},
		{[]string{good, begin().String()}, "line 1: this is not an audit log, and there are 2 inputs"},
		{[]string{textOf([]auditLine{auditOf(dawn, "get", "/nodes", "", "a", 200, "")})}, "the audit log has no request for an object of a rollout"},
		{[]string{packed(good)[:40]}, "unexpected EOF"},
		{[]string{"\x1f\x8bnonsense"}, "line 1: "},
		{[]string{textOf([]auditLine{auditOf(dawn, "patch", "work.open-cluster-management.io/manifestworks", "a", "web", 200, `{"kind":"ManifestWork","metadata":{"name":"web","resourceVersion":"x"}}`)})},
			`line 1: ManifestWork web: metadata.resourceVersion is "x"`},
	} {
		var in []io.Reader
		for _, l := range tt.logs {
			in = append(in, strings.NewReader(l))
		}
		_, err := Read(in...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// FuzzReadAudit shows that no audit log is too bad to be read or refused.
func FuzzReadAudit(f *testing.F) {
	for _, b := range breaks {
		s := begin()
		b.tell(s)
		f.Add(textOf(asAudit(f, s.Bytes())))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := Read(strings.NewReader(text)); err == nil {
			Judge(r, testOptions)
		}
	})
}

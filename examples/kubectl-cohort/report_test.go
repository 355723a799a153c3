// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/page"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/timeline"
)

// In a browser a page shows the past and what is expected by the clock, says how things stand under the mouse, leads from the picture to
// the explanation of a group, is dark where the reader wants that, and asks for nothing.
func TestAReportInABrowser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	simulateText(t, "", "report", file, "-f", "testdata/live/web.yaml", "--start", "2025-01-31T10:30:00Z")
	b := browse(t, file)
	for expression, want := range map[string]string{
		"document.title": "Rollouts, 2025-01-31 10:30:00 UTC",
		"document.querySelector('h2').textContent":                                 "ManifestWorkReplicaSet shops/web: Progressing",
		"[...document.querySelectorAll('.tick')].map((t) => t.textContent).join()": "10:05,10:10,10:15,10:20,10:25,10:30,10:35,10:40,10:45",
		"document.querySelectorAll('.row').length":                                 "3",
		"document.querySelector('.row .future title').textContent":                 "0 canary from 10:30:00, expected: 2 succeeded",
		"document.querySelector('.row title').textContent":                         "0 canary from 10:00:00: 2 in flight",
		"document.querySelectorAll('.group')[2].textContent.replace(/\\s+/g, ' ')": `2 waiting: waiting for group 1 "north": 1 of 2 done; shop-4 is progressing and times out at 10:41`,
		"document.querySelectorAll('.group')[1].textContent.replace(/\\s+/g, ' ')": "others wait for shop-4: is progressing and times out at 10:41",
		"document.body.textContent":                                                "forecast: Complete at 10:47",
	} {
		if got := b.eval(expression); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %q", expression, want, got)
		}
	}
	// The line of now is where 10:30 is.
	if got := b.eval("Math.abs(document.querySelector('.now').x1.baseVal.value - [...document.querySelectorAll('.tick')].find((t) => t.textContent == '10:30').x.baseVal[0].value) < 1"); got != "true" {
		t.Error("the line of now is not at 10:30")
	}

	b.mouse("mouseMoved", "svg", 0.4)
	b.until("document.querySelector('.says').textContent", "10:1")
	if got := b.eval("document.querySelector('.says').textContent + document.querySelector('.pointer').style.visibility"); !regexp.MustCompile(`^10:1[56]:\d\d: 2 succeeded, 1 soaking, 1 in flight, 2 waitingvisible$`).MatchString(got) {
		t.Errorf("under the mouse: %q", got)
	}
	b.mouse("mouseMoved", "svg", 0.9)
	b.until("document.querySelector('.says').textContent", ", expected: ")

	if top := b.eval("getComputedStyle(document.querySelectorAll('.group')[2]).borderLeftColor"); top == b.eval("getComputedStyle(document.querySelector('a')).color") {
		t.Errorf("the group is marked before a user went to it: %s", top)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		b.mouse(kind, `a.row[href="#group-0-2"] rect.frame`, 0.5)
	}
	b.until("location.hash", "#group-0-2")
	if got := b.eval("getComputedStyle(document.querySelector('.group:target')).borderLeftColor == getComputedStyle(document.querySelector('h3 a')).color"); got != "true" {
		t.Error("the group that one went to is not marked")
	}

	paper := "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color"
	if got := b.eval(paper); got != "rgb(255, 255, 255)rgb(27, 27, 31)" {
		t.Errorf("by day: %s", got)
	}
	b.call(nil, "Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
	if got := b.eval(paper); got != "rgb(22, 22, 26)rgb(236, 236, 240)" {
		t.Errorf("by night: %s", got)
	}
	if faults := b.faults(file); len(faults) > 0 {
		t.Errorf("the page %s", strings.Join(faults, ", and "))
	}
}

// Whatever stands in the objects is text, and no part of the page.
func TestAReportShowsTextAsText(t *testing.T) {
	const bad = `</script><img src=x onerror="document.title='bad'"><b>`
	begin := time.Date(2025, 1, 31, 10, 0, 0, 0, time.UTC)
	course := timeline.Course{Begin: begin, Now: begin.Add(time.Hour)}
	course.Groups = []picture.Group{{Name: bad, Clusters: 1, Points: []picture.Point{{Counts: picture.Counts{picture.InFlight: 1}}}}}
	course.Points = course.Groups[0].Points
	p := page.Page{Now: course.Now, Rollouts: []page.Rollout{{Name: bad, Placement: bad, Strategy: bad, Status: bad, Counts: bad, Outlook: bad, Notes: []string{bad}, Warnings: []string{bad}, Course: course,
		Groups: []page.Group{{Name: bad, Stage: bad, Counts: bad, Why: []page.Reason{{Clusters: 1, Message: bad}}, Blockers: []page.Blocker{{Name: bad, Message: bad}}, Clusters: []page.Cluster{{Name: bad}}}}}}}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "<img") || strings.Count(text.String(), "</script>") != 1 {
		t.Errorf("it is part of the page:\n%s", text.String())
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browse(t, file)
	if got := b.eval("document.title + document.querySelectorAll('img').length + document.querySelector('h2').textContent"); got != "Rollouts, 2025-01-31 11:00:00 UTC0"+bad+": "+bad {
		t.Errorf("the page is %q", got)
	}
	if faults := b.faults(file); len(faults) > 0 {
		t.Errorf("the page %s", strings.Join(faults, ", and "))
	}
}

// A page of a hub has all its rollouts. Without a browser it can still be read: each group has its explanation.
func TestAReportOfAHub(t *testing.T) {
	h := newHub(t, documents(liveNow(liveSet()), strings.NewReplacer("name: set", "name: second").Replace(aReplicaSet)))
	got := simulateText(t, "", "report", "-", "--server", h.URL)
	for _, want := range []string{"ManifestWorkReplicaSet ns/set: Progressing", "ManifestWorkReplicaSet ns/second", `<a href="#rollout-1">`, "2 waiting: the concurrency limit is reached (1 of 1 in flight): b is progressing", `id="group-1-0"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if addresses := regexp.MustCompile(`(?:src|href|url)\s*[=(]\s*["']?[^#"']`).FindAllString(got, -1); len(addresses) > 0 {
		t.Errorf("the page leads elsewhere: %v", addresses)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"report"}, "report: must be followed by one file"},
		{[]string{"report", "x.html", "--rollout", "other", "--server", h.URL}, "--rollout other: must be one of"},
	} {
		if got := refused(t, "", test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%v: %s", test.args, got)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := cohort([]string{"report", filepath.Join(t.TempDir(), "no", "x.html"), "--server", h.URL}, nil, &stdout, &stderr); code != 1 {
		t.Errorf("a file that cannot be written: exit status %d, %s", code, stderr.String())
	}
}

// What was and what is expected add up to all clusters of each group at each time, and there is no gap between them.
func TestThePastAndTheForecastMeetNow(t *testing.T) {
	got := simulateText(t, "", "report", "-", "-f", "testdata/live/web.yaml", "--start", "2025-01-31T10:30:00Z")
	rows := regexp.MustCompile(`(?s)<a class="row".*?</a>`).FindAllString(got, -1)
	for _, row := range rows {
		end := 120.0
		for _, title := range regexp.MustCompile(`(?s)<g[^>]*><title>.*?</g>`).FindAllString(row, -1) {
			heights, x, width := 0.0, 0.0, 0.0
			for _, rect := range regexp.MustCompile(`x="([0-9.]+)" width="([0-9.]+)" y="[0-9.]+" height="([0-9.]+)"`).FindAllStringSubmatch(title, -1) {
				var height float64
				fmt.Sscan(rect[1]+" "+rect[2]+" "+rect[3], &x, &width, &height)
				heights += height
			}
			if x-end > 0.01 || end-x > 0.01 || heights < 17.99 || heights > 18.01 {
				t.Errorf("a gap or a part without clusters: it begins at %v after %v and is %v high:\n%s", x, end, heights, title)
			}
			end = x + width
		}
		if end < 979.9 || end > 980.1 {
			t.Errorf("it ends at %v in\n%s", end, row)
		}
	}
	if len(rows) != 3 {
		t.Errorf("%d rows, want one for each group", len(rows))
	}
}

// A page of many clusters stays one that a browser can show.
func TestAReportOfManyClusters(t *testing.T) {
	begin := time.Date(2025, 1, 31, 10, 0, 0, 0, time.UTC)
	const clusters = 100_000
	g := picture.Group{Clusters: clusters}
	for i := range clusters {
		g.Points = append(g.Points, picture.Point{After: time.Duration(i) * time.Second, Counts: picture.Counts{picture.Succeeded: i + 1, picture.Waiting: clusters - i - 1}})
	}
	course := timeline.Course{Begin: begin, Now: begin.Add(10 * time.Hour)}
	course.Groups, course.Points = []picture.Group{g}, g.Points
	var text bytes.Buffer
	if err := (page.Page{Now: course.Now, Rollouts: []page.Rollout{{Name: "many", Course: course, Groups: []page.Group{{Name: "all"}}}}}).Write(&text); err != nil {
		t.Fatal(err)
	}
	if text.Len() > 500_000 || !strings.Contains(text.String(), `"counts":"100000 succeeded"`) {
		t.Errorf("%d bytes, want less than half a megabyte, to the end", text.Len())
	}
}

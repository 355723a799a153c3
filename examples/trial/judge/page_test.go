// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func pageOf(t *testing.T, s *fixture) (string, *Report) {
	t.Helper()
	r := s.read(t)
	report := Judge(r, testOptions)
	Excerpts(r, report, testOptions)
	var out bytes.Buffer
	if err := Page(&out, r, report); err != nil {
		t.Fatal(err)
	}
	return out.String(), report
}

// Each finding has its place in a picture, which is a link to its sentence and the lines that show it. A page needs nothing else.
func TestPageHasThePlaceOfEachFinding(t *testing.T) {
	for _, b := range breaks {
		s := begin()
		b.tell(s)
		page, report := pageOf(t, s)
		if n := strings.Count(page, "<circle"); n != len(report.Findings) {
			t.Errorf("%s: %d places of %d findings", b.why, n, len(report.Findings))
		}
		for i, f := range report.Findings {
			for _, want := range []string{fmt.Sprintf(`<a href="#f%d">`, i+1), fmt.Sprintf(`<article id="f%d">`, i+1), fmt.Sprintf("%d lines show it", len(f.Excerpt))} {
				if !strings.Contains(page, want) {
					t.Errorf("%s: no %q", b.why, want)
				}
			}
		}
		for _, foreign := range []string{"http:", "https:", "src=", "<script", "@import", "url("} {
			if strings.Contains(page, foreign) {
				t.Errorf("%s: it has %q", b.why, foreign)
			}
		}
		if (report.Owners > 0 || len(report.Findings) > 0) && !strings.Contains(page, "<svg") {
			t.Errorf("%s: no picture", b.why)
		}
		for rest := page; ; {
			from := strings.Index(rest, "<svg")
			if from < 0 {
				break
			}
			to := from + strings.Index(rest[from:], "</svg>") + len("</svg>")
			for d := xml.NewDecoder(strings.NewReader(rest[from:to])); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: the picture: %v", b.why, err)
				}
			}
			rest = rest[to:]
		}
	}
}

// A lane has what its cluster had, as long as it had it: where it was selected, two versions, what was said of them, and its end. A hole
// is drawn, and nothing goes on in it.
func TestPicturesShowWhatHappened(t *testing.T) {
	s := begin()
	s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "", "a").at(6).works("1", "ok", "a").
		at(8).set("2", progressive("1", "0", "")).at(9).works("2", "failed", "a").at(20).fleet("b").at(21).remove("a", "2")
	s.at(30).write(Line{Type: "HOLE", Kind: "PlacementDecision", Reason: "compacted"})
	s.at(32).decide(0, "", "b").control("LISTED", "PlacementDecision")
	r := s.until(40).read(t)
	p := r.draw().picture(r, "ManifestWorkReplicaSet w/web", nil)
	said := ""
	for _, l := range p.Lanes {
		said += l.Name + ":"
		for _, x := range append(l.selected, l.holds...) {
			to := "now"
			if x.to > 0 {
				to = at(x.to).Sub(dawn.Add(100 * time.Second)).String()
			}
			said += fmt.Sprintf(" %s%.0d %v-%s", x.class, x.version, at(x.from).Sub(dawn.Add(100*time.Second)), to)
		}
		said += "\n"
	}
	want := "a:  0s-20s started1 5s-6s succeeded1 6s-9s failed2 9s-21s\nb:  0s-30s  32s-now\n"
	if said != want {
		t.Errorf("got\n%swant\n%s", said, want)
	}
	if len(p.holes) != 1 || at(p.holes[0].from).Sub(dawn) != 130*time.Second || at(p.holes[0].to).Sub(dawn) != 132*time.Second {
		t.Errorf("holes %v", p.holes)
	}
}

// Names are data, whatever stands in them.
func TestPageEscapesNames(t *testing.T) {
	s := begin()
	s.set("1", progressive("1", "0", "")).fleet("<b>", "b").at(5).works("1", "", "<b>").at(9).works("1", "", "b")
	page, _ := pageOf(t, s)
	if strings.Contains(page, "<b>") || !strings.Contains(page, "&lt;b&gt;") {
		t.Error(page)
	}
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// mostFindings is how many findings stand on a page with their excerpts.
const mostFindings = 200

// Page writes a report as one page of HTML that needs nothing else: what was found, by which write, what should have happened, the lines
// that show it, and for each rollout a picture of its clusters over time, with the places of the findings.
func Page(out io.Writer, r *Recording, report *Report) error {
	lines := map[int]*event{}
	for i := range r.events {
		lines[r.events[i].line] = &r.events[i]
	}
	p := page{Report: report, Broken: report.Count(Broken), Suspicious: report.Count(Suspicious), More: max(0, len(report.Findings)-mostFindings)}
	for _, x := range r.pictures(report) {
		p.Pictures = append(p.Pictures, x.svg())
	}
	for i := range report.Findings[:min(len(report.Findings), mostFindings)] {
		f := &report.Findings[i]
		e := entry{Number: i + 1, Finding: f}
		for _, n := range f.Excerpt {
			if of := lines[n]; of != nil {
				e.Lines = append(e.Lines, shownLine{n, at(of.true).Format("15:04:05.000"), of.tell(), n == f.Line})
			}
		}
		p.Entries = append(p.Entries, e)
	}
	p.Lines, p.Ignored, p.Writers = counts(report.Lines), counts(report.Ignored), counts(report.Writers)
	return pageTemplate.Execute(out, p)
}

type page struct {
	Report                  *Report
	Broken, Suspicious      int
	More                    int
	Entries                 []entry
	Pictures                []drawnPicture
	Lines, Ignored, Writers string
}

type entry struct {
	Number  int
	Finding *Finding
	Lines   []shownLine
}

type shownLine struct {
	Number int
	Time   string
	Text   string
	Is     bool // the write itself
}

// tell says in a few words what a line has.
func (e *event) tell() string {
	if e.class == isNothing {
		return strings.TrimSpace(e.typed + " " + e.about + " " + e.reason)
	}
	text := e.id()
	if e.gone {
		return text + " is gone"
	}
	switch s := e.state.(type) {
	case *placementState:
		var groups []string
		for _, g := range s.groups {
			groups = append(groups, fmt.Sprintf("%v: %d in %s", g.groupKey, g.count, strings.Join(g.decisions, ", ")))
		}
		text += fmt.Sprintf(" selects %d (%s)", s.selected, strings.Join(groups, "; "))
	case *decisionState:
		text += fmt.Sprintf(" of group %v: %s", s.groupKey, cut(strings.Join(s.clusters, " "), 200))
	case *ownerState:
		for _, r := range s.spec.refs {
			text += fmt.Sprintf(" wants %s on %s, %s", short(r.version), r.placement, r.strategy.text())
		}
	case *clusterState:
		if s.deleting {
			text += " is being deleted"
		}
	case *rootState:
		text += " wants " + short(s.version)
	case *holderState:
		text += fmt.Sprintf(" has %s: %s", short(s.version), s.class())
	}
	return text
}

// text says what a strategy asks.
func (s *strategy) text() string {
	if s.all {
		return "all at once"
	}
	var parts []string
	if s.perGroup {
		parts = append(parts, "group by group")
	} else {
		parts = append(parts, "at a time "+s.limit.String())
	}
	for _, m := range s.mandatory {
		name := m.GroupName
		if name == "" {
			name = fmt.Sprint(m.GroupIndex)
		}
		parts = append(parts, "first "+name)
	}
	parts = append(parts, "failures "+s.failures.String())
	if s.soak > 0 {
		parts = append(parts, "soak "+time.Duration(s.soak).String())
	}
	if s.deadline > 0 {
		parts = append(parts, "deadline "+time.Duration(s.deadline).String())
	}
	return strings.Join(parts, ", ")
}

// The measures of a picture.
const (
	laneHeight = 18
	nameWidth  = 190
	plotWidth  = 960
	topHeight  = 26
)

// drawnPicture is a picture with places.
type drawnPicture struct {
	*picture
	Width, Height int
	Ticks         []tick
	Holes         []box
	Rows          []row
}

type tick struct {
	X     float64
	Label string
}

type box struct {
	X, Width float64
	Class    string
	Title    string
	Label    string
}

type row struct {
	Y, Middle, Bar, Text int
	Name, Short          string
	Selected, Holds      []box
	Marks                []spot
}

type spot struct {
	X      float64
	Number int
	Class  string
	Title  string
}

func (p *picture) x(at int64) float64 {
	return nameWidth + float64(min(max(at, p.from), p.to)-p.from)/float64(p.to-p.from)*plotWidth
}

func (p *picture) box(s stretch) box {
	to := s.to
	if to == 0 {
		to = p.to
	}
	b := box{X: p.x(s.from), Class: s.class}
	if b.Width = max(1, p.x(to)-b.X); b.Width > 14 && s.version > 0 && len(p.Versions) > 1 {
		b.Label = fmt.Sprint(s.version)
	}
	b.Title = fmt.Sprintf("%s, %s to %s", s.text, at(s.from).Format("15:04:05.0"), at(to).Format("15:04:05.0"))
	return b
}

func (p *picture) svg() drawnPicture {
	d := drawnPicture{picture: p, Width: nameWidth + plotWidth + 40, Height: topHeight + laneHeight*len(p.Lanes) + 6}
	const ticks = 8
	for i := range ticks + 1 {
		when := p.from + (p.to-p.from)*int64(i)/ticks
		d.Ticks = append(d.Ticks, tick{p.x(when), at(when).Format("15:04:05")})
	}
	for _, h := range p.holes {
		b := p.box(h)
		b.Title = "not recorded: " + h.text
		d.Holes = append(d.Holes, b)
	}
	for i, l := range p.Lanes {
		y := topHeight + laneHeight*i
		r := row{Y: y, Middle: y + laneHeight/2, Bar: y + 4, Text: y + 13, Name: l.Name, Short: cut(l.Name, 26)}
		for _, s := range l.selected {
			s.text = "selected"
			r.Selected = append(r.Selected, p.box(s))
		}
		for _, s := range l.holds {
			r.Holds = append(r.Holds, p.box(s))
		}
		for _, m := range l.Marks {
			r.Marks = append(r.Marks, spot{p.x(m.Finding.At.UnixNano()), m.Number, string(m.Finding.Grade), m.Finding.String()})
		}
		d.Rows = append(d.Rows, r)
	}
	return d
}

// SPDX-License-Identifier: Apache-2.0

// Package page writes how rollouts stand, went and will go as one HTML page, which needs nothing else: no network, no file.
package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/timeline"
)

// Page is all of it.
type Page struct {
	Now      time.Time
	Rollouts []Rollout
}

// Rollout is one rollout at one placement.
type Rollout struct {
	Name, Placement, Strategy string
	Status                    string // of all clusters, in a word
	Counts, Outlook           string
	Notes, Warnings           []string
	Groups                    []Group // in the order of those of the course
	Course                    timeline.Course
}

// Group is a decision group, as a person asks for it.
type Group struct {
	Name, Stage string
	Counts      string
	Why         []Reason
	Failed      []string  // or timed out
	Says        []string  // what the reports say of its clusters, quoted
	Blockers    []Blocker // of it that others wait for
	Clusters    []Cluster
	More        int // clusters that are not listed
}

// Reason is why some of its clusters wait.
type Reason struct {
	Clusters int
	Message  string
}

// Holder is a cluster that others wait for.
type Blocker struct{ Name, Message string }

// Cluster is one of a group.
type Cluster struct {
	Name  string
	State picture.State
}

//go:embed page.html
var files embed.FS

// Write writes the page.
func (p Page) Write(w io.Writer) error {
	t, err := template.New("page.html").Funcs(template.FuncMap{"id": id, "class": class, "states": picture.States, "clock": clock}).ParseFS(files, "page.html")
	if err != nil {
		return err
	}
	var all []drawing
	for i, r := range p.Rollouts {
		d, err := draw(i, r, p.Now)
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	return t.Execute(w, struct {
		Now      time.Time
		Rollouts []drawing
	}{p.Now.UTC(), all})
}

// clock is a time as the page has it.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// class is the word of a state in the style sheet.
func class(s picture.State) string { return strings.ReplaceAll(s.String(), " ", "-") }

// id names a part of the page, to link to it.
func id(parts ...any) string {
	return strings.ReplaceAll(strings.TrimSuffix(fmt.Sprintln(parts...), "\n"), " ", "-")
}

// Sizes of a picture, in its own units.
const (
	width, left, right = 1000, 120, 20
	top, height        = 34, 220
	rowHeight, rowGap  = 18, 4
	axis               = 26
	mostRows           = 60
	mostPoints         = 600 // of all clusters
	mostSegments       = 200 // of a group
)

// drawing is a rollout with the places of what is drawn.
type drawing struct {
	Rollout
	Index  int
	Width  int
	Height int
	Top    int
	Bottom int // of the picture of all clusters
	Left   int
	Right  int
	Ticks  []tick
	Total  int   // of clusters, at the top of the axis
	Now    int64 // in milliseconds, as End, which is the time that the picture shows
	End    int64
	NowX   float64
	Bands  []band
	States []picture.State // that there are at any time
	Rows   []row
	More   int // rows that are not drawn
	Data   template.JS
}

type tick struct {
	X    float64
	Text string
}

// band is the area of a state, as the points of a polygon: of what was, or of what is expected.
type band struct {
	State  picture.State
	Future bool
	Points string
}

type row struct {
	Y        int
	Label    string
	Group    int
	Segments []segment
}

// segment is how a group stands for a time.
type segment struct {
	X, Width float64
	Future   bool
	Parts    []part
	Title    string
}

type part struct {
	Y, Height float64
	State     picture.State
}

// scale gives places of times.
type scale struct{ end time.Duration }

func (s scale) x(at time.Duration) float64 {
	return left + float64(width-left-right)*float64(min(at, s.end))/float64(s.end)
}

func draw(index int, r Rollout, now time.Time) (d drawing, err error) {
	c := r.Course
	c.Points = thin(c.Points, mostPoints)
	passed := now.Sub(c.Begin)
	end := max(c.End(), passed)
	s := scale{max(end+end/25, time.Minute)}
	d = drawing{Rollout: r, Index: index, Width: width, Top: top, Bottom: top + height, Left: left, Right: width - right, NowX: s.x(passed), Now: now.UnixMilli(), End: s.end.Milliseconds()}
	for _, group := range c.Groups {
		d.Total += group.Clusters
	}
	d.Ticks = s.ticks(c.Begin)
	d.States = slices.DeleteFunc(picture.States(), func(state picture.State) bool {
		return !slices.ContainsFunc(c.Points, func(p picture.Point) bool { return p.Counts[state] > 0 })
	})
	d.Bands = s.bands(c.Points, passed, max(d.Total, 1))
	y := top + height + axis
	for i, group := range c.Groups {
		if i == mostRows {
			d.More = len(c.Groups) - mostRows
			break
		}
		d.Rows = append(d.Rows, row{Y: y, Label: label(group), Group: i, Segments: s.segments(group, c.Begin, passed)})
		y += rowHeight + rowGap
	}
	d.Height = y + 6
	d.Data, err = data(c)
	return d, err
}

func label(g picture.Group) string { return strings.TrimSpace(fmt.Sprint(g.Index, " ", g.Name)) }

// data is what the script of the page shows: the times in milliseconds, and how all clusters stood from each on.
func data(c timeline.Course) (template.JS, error) {
	type point struct {
		At     int64  `json:"at"`
		Counts string `json:"counts"`
	}
	var points []point
	for _, p := range c.Points {
		points = append(points, point{c.Begin.Add(p.After).UnixMilli(), words(p.Counts)})
	}
	text, err := json.Marshal(points) // which escapes what would end a script
	return template.JS(text), err
}

// words is like "3 succeeded, 1 in flight".
func words(c picture.Counts) string {
	var all []string
	for _, state := range picture.States() {
		if c[state] > 0 {
			all = append(all, fmt.Sprintf("%d %v", c[state], state))
		}
	}
	return strings.Join(all, ", ")
}

// ticks are times of the day that people say, at most about nine.
func (s scale) ticks(begin time.Time) (all []tick) {
	const day = 24 * time.Hour
	step := time.Minute
	for _, step = range []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 7 * day, 30 * day} {
		if s.end/step <= 9 {
			break
		}
	}
	for s.end/step > 9 {
		step *= 2
	}
	layout := "15:04"
	if s.end > day {
		layout = "01-02 15:04"
	}
	for at := begin.UTC().Truncate(step).Add(step); at.Sub(begin) < s.end; at = at.Add(step) {
		all = append(all, tick{s.x(at.Sub(begin)), at.Format(layout)})
	}
	return all
}

// bands are the areas of the states, on one another, those of the past before those that are expected.
func (s scale) bands(points []picture.Point, now time.Duration, total int) (all []band) {
	for _, future := range []bool{false, true} {
		part := between(points, now, future, s.end)
		below := make([]int, len(part))
		for _, state := range picture.States() {
			var upper, lower []string
			any := false
			for i, p := range part {
				n := p.Counts[state]
				any = any || n > 0
				until := s.end
				switch {
				case i+1 < len(part):
					until = part[i+1].After
				case !future:
					until = now
				}
				for _, x := range []float64{s.x(p.After), s.x(until)} {
					lower = append(lower, fmt.Sprintf("%.1f,%.1f", x, y(below[i], total)))
					upper = append(upper, fmt.Sprintf("%.1f,%.1f", x, y(below[i]+n, total)))
				}
				below[i] += n
			}
			if slices.Reverse(lower); any {
				all = append(all, band{state, future, strings.Join(append(upper, lower...), " ")})
			}
		}
	}
	return all
}

func y(n, total int) float64 { return top + height - height*float64(n)/float64(total) }

// thin leaves some points of many: it parts the time into equal spans, and keeps the last point of each.
func thin(points []picture.Point, most int) (some []picture.Point) {
	if len(points) <= most {
		return points
	}
	first, last := points[0].After, points[len(points)-1].After
	bin := func(p picture.Point) int64 { return int64(p.After-first) * int64(most-1) / max(1, int64(last-first)) }
	for i, p := range points {
		if i+1 == len(points) || bin(points[i+1]) != bin(p) {
			some = append(some, p)
		}
	}
	return some
}

// between are the points until now, or from now on, which begin with how it stands then.
func between(points []picture.Point, now time.Duration, future bool, end time.Duration) (part []picture.Point) {
	for _, p := range points {
		switch {
		case !future && p.After < now:
			part = append(part, p)
		case future && p.After > now && p.After < end:
			part = append(part, p)
		case future && p.After <= now:
			part = []picture.Point{{After: now, Counts: p.Counts}}
		}
	}
	return part
}

// segments are how a group stands from change to change.
func (s scale) segments(g picture.Group, begin time.Time, now time.Duration) (all []segment) {
	points := append([]picture.Point{{Counts: picture.Counts{picture.Waiting: g.Clusters}}}, thin(g.Points, mostSegments)...)
	for _, future := range []bool{false, true} {
		part := between(points, now, future, s.end)
		for i, p := range part {
			until := s.end
			switch {
			case i+1 < len(part):
				until = part[i+1].After
			case !future:
				until = now
			}
			if until <= p.After || g.Clusters == 0 {
				continue
			}
			when := begin.Add(p.After).UTC().Format("15:04:05")
			if future {
				when += ", expected"
			}
			one := segment{X: s.x(p.After), Width: s.x(until) - s.x(p.After), Future: future, Title: fmt.Sprintf("%s from %s: %s", label(g), when, words(p.Counts))}
			filled := 0.0
			for _, state := range picture.States() {
				if n := p.Counts[state]; n > 0 {
					h := rowHeight * float64(n) / float64(g.Clusters)
					one.Parts = append(one.Parts, partAt(filled, h, state))
					filled += h
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// partAt is a part of a segment, so much above its ground.
func partAt(filled, height float64, state picture.State) part {
	return part{Y: rowHeight - filled - height, Height: height, State: state}
}

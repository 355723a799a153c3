// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"fmt"
	"strconv"
	"time"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// Sizes of a page, in points, and how much it shows.
const (
	pageWidth   = 900
	margin      = 24
	labelWidth  = 116 // left of the panels
	countWidth  = 62  // right of the groups
	headHeight  = 112
	panelHeight = 250
	gap         = 40 // between the panels, for the axis of time
	lineHeight  = 17 // of the sentence
	mostLines   = 4
	rowHeight   = 17
	rowGap      = 3
	mostRows    = 24
	columns     = 360
	rowColumns  = 180
)

var (
	small  = style{size: 11}
	normal = style{size: 12}
	strong = style{size: 13, bold: true, colour: paper}
)

// page is a timeline with the places of what is drawn.
type page struct {
	pen
	t     Timeline
	words []string // the sentence, in lines
	rows  []row
	end   time.Duration // at the right border
	size  box
	panel box // of all clusters
	group box // of the groups; empty without any
}

// lay finds the places. The canvas comes later, as its size is not known before.
func lay(t Timeline) page {
	p := page{t: t, end: t.End() + t.End()/25}
	if p.end == 0 {
		p.end = time.Minute
	}
	p.rows = t.rows(mostRows, rowColumns, p.end)
	groups := vg.Length(0)
	if len(p.rows) > 0 {
		groups = gap + vg.Length(len(p.rows))*(rowHeight+rowGap)
	}
	p.words = style{size: 13}.wrap(t.Sentence, pageWidth-2*margin, mostLines)
	head := headHeight + lineHeight*vg.Length(max(len(p.words)-1, 0))
	p.size = box{0, 0, pageWidth, head + panelHeight + groups + gap + margin/2}
	p.panel = box{margin + labelWidth, p.size.top - head - panelHeight, pageWidth - margin - countWidth, p.size.top - head}
	p.group = box{p.panel.left, gap + margin/2, p.panel.right, gap + margin/2 + max(groups-gap, 0)}
	return p
}

// x is the place of a time.
func (p page) x(at time.Duration) vg.Length {
	return p.panel.left + p.panel.width()*vg.Length(float64(at)/float64(p.end))
}

func (p page) draw() {
	p.fill(p.size, paper)
	p.head()
	p.clusters()
	p.groups()
	p.mark()
}

// head is the title, how it ended, and the legend with the counts of the end.
func (p page) head() {
	width := p.size.width() - 2*margin
	title, sentence := style{size: 17, bold: true}, style{size: 13}
	p.write(title, margin, p.size.top-32, title.fit(p.t.Title, width))
	for i, line := range p.words {
		p.write(sentence, margin, p.size.top-54-lineHeight*vg.Length(i), line)
	}
	x, y := p.panel.left, p.panel.top+headHeight-82
	for state, n := range p.t.final() {
		if state := State(state); n > 0 || p.ever(state) {
			x = p.swatch(state, n, x, y)
		}
	}
}

// ever says whether any cluster was in the state.
func (p page) ever(state State) bool {
	for _, point := range p.t.Points {
		if point.Counts[state] > 0 {
			return true
		}
	}
	return false
}

// swatch is the entry of a state in the legend. It returns where the next begins.
func (p page) swatch(state State, n int, x, y vg.Length) vg.Length {
	b := box{x, y - 2, x + 26, y + 11}
	var alone Counts
	alone[state] = 1
	stack{box: b, columns: []Counts{alone}, total: 1, spacing: 4}.draw(p.pen)
	p.frame(b)
	label := fmt.Sprintf("%v %d", state, n)
	p.write(normal, b.right+6, y, label)
	return b.right + 6 + normal.text().Width(label) + 18
}

func (p page) clusters() {
	before := Counts{}
	if len(p.t.Points) > 0 {
		before[Waiting] = p.t.Points[0].Counts.Total()
	}
	total := max(before.Total(), 1)
	s := stack{box: p.panel, columns: sample(p.t.Points, before, p.end, columns), total: total, spacing: 6}
	s.draw(p.pen)
	for _, n := range ticks(total, 5) {
		y := p.panel.bottom + p.panel.height()*vg.Length(n)/vg.Length(total)
		p.line(0.6, ink, p.panel.left-4, y, p.panel.left, y)
		right := small
		right.align = text.XRight
		p.write(right, p.panel.left-8, y-4, strconv.Itoa(n))
	}
	p.write(small, margin, p.panel.top-4, "clusters")
	p.frame(p.panel)
	p.times(p.panel.bottom)
}

// times is the axis of time below a panel.
func (p page) times(y vg.Length) {
	centred := small
	centred.align = text.XCenter
	for _, at := range timeTicks(p.end) {
		p.line(0.6, ink, p.x(at), y, p.x(at), y-4)
		p.write(centred, p.x(at), y-16, short.Duration(at))
	}
}

// groups is a strip for each row of groups.
func (p page) groups() {
	if len(p.rows) == 0 {
		return
	}
	p.write(small, margin, p.group.top+6, "group")
	p.write(small, p.group.right+8, p.group.top+6, "clusters")
	for i, r := range p.rows {
		top := p.group.top - vg.Length(i)*(rowHeight+rowGap)
		b := box{p.group.left, top - rowHeight, p.group.right, top}
		stack{box: b, columns: r.columns, total: r.clusters, spacing: 4}.draw(p.pen)
		p.frame(b)
		p.write(small, margin, b.bottom+5, small.fit(r.label, labelWidth-10))
		p.write(small, b.right+8, b.bottom+5, strconv.Itoa(r.clusters))
	}
	p.times(p.group.bottom + rowGap)
}

// mark is a line through the panels and a flag with the time above it.
func (p page) mark() {
	if p.t.Mark.Label == "" {
		return
	}
	x := p.x(p.t.Mark.After)
	// Not across the axis, where a time may stand.
	var path vg.Path
	for _, part := range []box{{x, p.panel.bottom, x, p.panel.top + 4}, {x, p.group.bottom + rowGap, x, p.group.top}} {
		if part.height() > 0 {
			path.Move(vg.Point{X: x, Y: part.top})
			path.Line(vg.Point{X: x, Y: part.bottom})
		}
	}
	p.stroke(path, 3.4, paper)
	p.stroke(path, 1.8, ink, 6, 3)
	label := p.t.Mark.String()
	width := strong.text().Width(label) + 14
	left := min(max(x-width/2, p.panel.left), p.panel.right-width)
	flag := box{left, p.panel.top + 3, left + width, p.panel.top + 22}
	p.fill(flag, ink)
	p.write(strong, flag.left+7, flag.bottom+5, label)
}

// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// stack draws the states on one another: each is a band between two staircases, one step for each column.
type stack struct {
	box
	columns []Counts
	total   int
	spacing vg.Length // between the lines of a hatch
}

// leastHeight is how high the failed, the timed out and those that left are at least: three of 10,000 are what stopped the
// rollout, and are to be seen.
const leastHeight = 1.6

func (s stack) draw(p pen) {
	heights := make([][numStates]vg.Length, len(s.columns))
	lower := make([]vg.Length, len(s.columns))
	for i, counts := range s.columns {
		heights[i] = s.heights(counts)
		lower[i] = s.bottom
	}
	for state := range Waiting { // those that wait are the paper
		upper := make([]vg.Length, len(lower))
		for i := range upper {
			upper[i] = lower[i] + heights[i][state]
		}
		band{s, lower, upper}.draw(p, looks[state])
		lower = upper
	}
	top := make([]vg.Length, len(s.columns))
	for i := range top {
		top[i] = s.top
	}
	for _, state := range []State{Ignored, Frozen} {
		lower := make([]vg.Length, len(top))
		for i := range top {
			lower[i] = top[i] - heights[i][state]
		}
		band{s, lower, top}.draw(p, looks[state])
		top = lower
	}
}

// heights are the heights of all states except the one that is the paper. Together they fit: what the few failures take
// more than their share is taken from the most.
func (s stack) heights(counts Counts) (all [numStates]vg.Length) {
	sum, most := vg.Length(0), State(0)
	for state := range numStates {
		if state == Waiting {
			continue
		}
		all[state] = s.height(counts[state], state)
		if sum += all[state]; all[state] > all[most] {
			most = state
		}
	}
	all[most] -= max(sum-s.box.height(), 0)
	return all
}

func (s stack) height(n int, state State) vg.Length {
	if n == 0 || s.total == 0 {
		return 0
	}
	// A quarter of a point is less than an eye sees, and equal steps are left out of the picture.
	h := math.Round(4*float64(s.box.height())*float64(n)/float64(s.total)) / 4
	if state == Failed || state == TimedOut || state == Deselected {
		h = max(h, leastHeight)
	}
	return vg.Length(h)
}

// band is one state.
type band struct {
	stack
	lower, upper []vg.Length
}

// left is where a column begins; the last ends at the right.
func (b band) left(column int) vg.Length {
	return b.box.left + b.width()*vg.Length(column)/vg.Length(len(b.columns))
}

func (b band) draw(p pen, l look) {
	for from := 0; from < len(b.lower); from++ {
		if b.upper[from] <= b.lower[from] {
			continue
		}
		to := from
		for to < len(b.lower) && b.upper[to] > b.lower[to] {
			to++
		}
		p.SetColor(l.fill)
		p.Fill(b.outline(from, to))
		from = to
	}
	if path := b.hatched(l.hatch); len(path) > 0 {
		p.strokes(path, 0.5, ink)
	}
}

// outline goes along the upper staircase and back along the lower one, without points on straight lines.
func (b band) outline(from, to int) (path vg.Path) {
	begin := vg.Point{X: b.left(from), Y: b.upper[from]}
	path.Move(begin)
	for i := from + 1; i < to; i++ {
		if b.upper[i] != b.upper[i-1] {
			path.Line(vg.Point{X: b.left(i), Y: b.upper[i-1]})
			path.Line(vg.Point{X: b.left(i), Y: b.upper[i]})
		}
	}
	path.Line(vg.Point{X: b.left(to), Y: b.upper[to-1]})
	path.Line(vg.Point{X: b.left(to), Y: b.lower[to-1]})
	for i := to - 1; i > from; i-- {
		if b.lower[i] != b.lower[i-1] {
			path.Line(vg.Point{X: b.left(i), Y: b.lower[i]})
			path.Line(vg.Point{X: b.left(i), Y: b.lower[i-1]})
		}
	}
	path.Line(vg.Point{X: b.left(from), Y: b.lower[from]})
	path.Close()
	return path
}

// holds says whether a point is inside of the band.
func (b band) holds(pt vg.Point) bool {
	i := int(math.Floor(float64((pt.X - b.box.left) / b.width() * vg.Length(len(b.columns)))))
	return i >= 0 && i < len(b.lower) && pt.Y >= b.lower[i] && pt.Y <= b.upper[i]
}

// hatched are the lines of a hatch as far as they are in the band.
func (b band) hatched(h hatch) (path vg.Path) {
	tall := b.box.height()
	switch h {
	case level:
		for y := b.bottom + b.spacing/2; y < b.top; y += b.spacing {
			path = b.cut(path, vg.Point{X: b.box.left, Y: y}, vg.Point{X: b.right, Y: y})
		}
	case rising, crossed:
		for x := b.box.left - tall; x < b.right; x += b.spacing * 1.4 {
			path = b.cut(path, vg.Point{X: x, Y: b.bottom}, vg.Point{X: x + tall, Y: b.top})
			if h == crossed {
				path = b.cut(path, vg.Point{X: x, Y: b.top}, vg.Point{X: x + tall, Y: b.bottom})
			}
		}
	}
	return path
}

// cut adds the parts of a line that are in the band.
func (b band) cut(path vg.Path, from, to vg.Point) vg.Path {
	steps := int(math.Ceil(float64(max(to.X-from.X, to.Y-from.Y, from.Y-to.Y))))
	at := func(i int) vg.Point {
		t := vg.Length(i) / vg.Length(steps)
		return vg.Point{X: from.X + t*(to.X-from.X), Y: from.Y + t*(to.Y-from.Y)}
	}
	for i := 0; i < steps; i++ {
		if !b.holds(at(i)) {
			continue
		}
		begin := i
		for i < steps && b.holds(at(i+1)) {
			i++
		}
		if i > begin {
			path.Move(at(begin))
			path.Line(at(i))
		}
	}
	return path
}

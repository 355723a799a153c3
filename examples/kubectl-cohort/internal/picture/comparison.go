// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"io"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Comparison is how several strategies did, as a picture shows it: how long each takes, and how far a bad version
// gets with it.
type Comparison struct {
	Title, Sentence string
	Candidates      []Candidate
}

// Candidate is one strategy.
type Candidate struct {
	Name string
	// The times within which half of all runs, and 95 of 100, are done; 0 if never. Words say so.
	P50, P95 time.Duration
	Words    string
	// Had is how many of all clusters have a bad version when it is stopped. HadWords say so.
	Had, Clusters int
	HadWords      string
	// Note stands below the name.
	Note string
}

// Sizes of a comparison.
const (
	candidateHeight = 52
	barHeight       = 18
	nameWidth       = 220
	comparedHead    = 96
)

// SVG writes the picture as SVG.
func (c Comparison) SVG(w io.Writer) error {
	size := c.size()
	canvas := vgsvg.New(size.right, size.top)
	c.draw(pen{canvas}, size)
	description := c.Sentence
	for _, one := range c.Candidates {
		description += " " + one.Name + ": done in " + one.Words + "; a bad version reaches " + one.HadWords + "."
	}
	return writeSVG(w, canvas, c.Title, description)
}

// PNG writes the picture as PNG.
func (c Comparison) PNG(w io.Writer) error {
	size := c.size()
	canvas := vgimg.NewWith(vgimg.UseWH(size.right, size.top), vgimg.UseDPI(dpi))
	c.draw(pen{canvas}, size)
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

func (c Comparison) size() box {
	return box{0, 0, pageWidth, comparedHead + vg.Length(len(c.Candidates))*candidateHeight + margin}
}

func (c Comparison) draw(p pen, size box) {
	p.fill(size, paper)
	title, sentence, head := style{size: 17, bold: true}, style{size: 12}, style{size: 12, bold: true}
	width := size.width() - 2*margin
	p.write(title, margin, size.top-32, title.fit(c.Title, width))
	p.write(sentence, margin, size.top-52, sentence.fit(c.Sentence, width))
	half := (width - nameWidth) / 2
	left, middle := vg.Length(margin+nameWidth), margin+nameWidth+half
	p.write(head, left, size.top-82, "a good version is done in (hatched: P95)")
	p.write(head, middle, size.top-82, "a bad version reaches")
	longest := time.Duration(1)
	for _, one := range c.Candidates {
		longest = max(longest, one.P50, one.P95)
	}
	for i, one := range c.Candidates {
		top := size.top - comparedHead - vg.Length(i)*candidateHeight
		p.line(0.5, faint, margin, top, size.right-margin, top)
		p.write(style{size: 13, bold: true}, margin, top-18, style{size: 13, bold: true}.fit(one.Name, nameWidth-12))
		p.write(small, margin, top-34, small.fit(one.Note, nameWidth-12))
		p.bar(box{left, top - 8 - barHeight, left + half - 16, top - 8}, share(one.P95, longest), InFlight)
		p.bar(box{left, top - 8 - barHeight, left + half - 16, top - 8}, share(one.P50, longest), Succeeded)
		p.write(small, left, top-42, small.fit(one.Words, half-16))
		p.bar(box{middle, top - 8 - barHeight, middle + half, top - 8}, share(time.Duration(one.Had), time.Duration(max(one.Clusters, 1))), Failed)
		p.write(small, middle, top-42, small.fit(one.HadWords, half))
	}
}

func share(part, whole time.Duration) vg.Length { return vg.Length(float64(part) / float64(whole)) }

// bar fills a share of a box, as a state is filled.
func (canvas pen) bar(b box, share vg.Length, state State) {
	full := b
	full.right = b.left + b.width()*min(share, 1)
	if full.width() > 0 {
		var alone Counts
		alone[state] = 1
		stack{box: full, columns: []Counts{alone}, total: 1, spacing: 5}.draw(canvas)
		canvas.frame(full)
	}
	canvas.line(0.6, ink, b.left, b.bottom-3, b.left, b.top+3)
}

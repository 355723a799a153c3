// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"image/color"
	"slices"
	"strings"
	"sync"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

var (
	ink   = color.RGBA{0x11, 0x11, 0x11, 0xff}
	paper = color.RGBA{0xff, 0xff, 0xff, 0xff}
	faint = color.RGBA{0xcc, 0xcc, 0xcc, 0xff}
)

// handler lays text out. Faces are made once.
var handler = sync.OnceValue(func() text.Plain {
	return text.Plain{Fonts: font.NewCache(liberation.Collection())}
})

// pen draws on a page whose origin is at the bottom on the left, as vg has it.
type pen struct{ vg.Canvas }

// style is how a text is set.
type style struct {
	size   vg.Length
	bold   bool
	colour color.Color
	align  text.XAlignment
}

func (look style) text() draw.TextStyle {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: look.size}
	if look.bold {
		f.Weight = xfont.WeightBold
	}
	colour := look.colour
	if colour == nil {
		colour = ink
	}
	return draw.TextStyle{Color: colour, Font: f, XAlign: look.align, Handler: handler()}
}

// write sets a line of text with its baseline at y.
func (canvas pen) write(s style, x, y vg.Length, txt string) {
	if txt == "" {
		return
	}
	sty := s.text()
	x += vg.Length(s.align) * sty.Width(txt)
	canvas.SetColor(sty.Color)
	canvas.FillString(handler().Cache().Lookup(sty.Font, sty.Font.Size), vg.Point{X: x, Y: y}, txt)
}

// fit shortens a text to a width.
func (look style) fit(txt string, width vg.Length) string {
	sty := look.text()
	if sty.Width(txt) <= width {
		return txt
	}
	runes := []rune(txt)
	for len(runes) > 0 && sty.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// wrap breaks a text between words into lines of a width. Where there are more lines than may be, the last is shortened.
func (look style) wrap(txt string, width vg.Length, most int) (lines []string) {
	sty, words := look.text(), strings.Fields(txt)
	for len(words) > 0 {
		if len(lines) == most-1 {
			return append(lines, look.fit(strings.Join(words, " "), width))
		}
		n := 1
		for n < len(words) && sty.Width(strings.Join(words[:n+1], " ")) <= width {
			n++
		}
		lines, words = append(lines, look.fit(strings.Join(words[:n], " "), width)), words[n:]
	}
	return lines
}

// line draws a straight line, dashed if there are dashes.
func (canvas pen) line(width vg.Length, c color.Color, x0, y0, x1, y1 vg.Length, dashes ...vg.Length) {
	var path vg.Path
	path.Move(vg.Point{X: x0, Y: y0})
	path.Line(vg.Point{X: x1, Y: y1})
	canvas.stroke(path, width, c, dashes...)
}

func (canvas pen) stroke(path vg.Path, width vg.Length, c color.Color, dashes ...vg.Length) {
	canvas.SetLineWidth(width)
	canvas.SetLineDash(dashes, 0)
	canvas.SetColor(c)
	canvas.Stroke(path)
}

// strokes draws many straight lines, which a raster takes some at a time: it looks through all lines of a path for each
// point.
func (canvas pen) strokes(path vg.Path, width vg.Length, c color.Color) {
	together := len(path)
	if _, raster := canvas.Canvas.(*vgimg.Canvas); raster {
		together = 2 * 4 // a line has two ends
	}
	for some := range slices.Chunk(path, together) {
		canvas.stroke(some, width, c)
	}
}

// box is a rectangle of the page.
type box struct{ left, bottom, right, top vg.Length }

func (x box) width() vg.Length  { return x.right - x.left }
func (x box) height() vg.Length { return x.top - x.bottom }

func (x box) path() (path vg.Path) {
	path.Move(vg.Point{X: x.left, Y: x.bottom})
	path.Line(vg.Point{X: x.right, Y: x.bottom})
	path.Line(vg.Point{X: x.right, Y: x.top})
	path.Line(vg.Point{X: x.left, Y: x.top})
	path.Close()
	return path
}

func (canvas pen) fill(b box, c color.Color) {
	canvas.SetColor(c)
	canvas.Fill(b.path())
}

func (canvas pen) frame(b box) {
	canvas.SetLineWidth(0.6)
	canvas.SetLineDash(nil, 0)
	canvas.SetColor(ink)
	canvas.Stroke(b.path())
}

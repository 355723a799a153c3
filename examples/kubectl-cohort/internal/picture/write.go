// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SVG writes the picture as SVG. What it says in words stands in the title and the description, too, for those that
// hear it read out.
func (t Timeline) SVG(w io.Writer) error {
	p := lay(t)
	canvas := vgsvg.New(p.size.right, p.size.top)
	p.pen = pen{canvas}
	p.draw()
	return writeSVG(w, canvas, t.Title, t.description())
}

// PNG writes the picture as PNG, 1500 pixels wide.
func (t Timeline) PNG(w io.Writer) error {
	p := lay(t)
	canvas := vgimg.NewWith(vgimg.UseWH(p.size.right, p.size.top), vgimg.UseDPI(dpi))
	p.pen = pen{canvas}
	p.draw()
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

const dpi = 120

// description says what the picture shows.
func (t Timeline) description() string {
	var b bytes.Buffer
	b.WriteString(t.Sentence)
	if t.Mark.Label != "" {
		fmt.Fprintf(&b, " [%v]", t.Mark)
	}
	for state, n := range t.final() {
		if n > 0 {
			fmt.Fprintf(&b, " %v %d", State(state), n)
		}
	}
	return b.String()
}

var svgText = regexp.MustCompile(`<text (x="[^>]*font-weight:(bold|normal);[^>]*font-size:([0-9.]+)px;[^>]*>)([^<]*)</text>`)

// writeSVG gives the drawing its words, and other fonts where Liberation is not at hand. There each text gets the width that it
// would have in Liberation, so that it stays in its place.
func writeSVG(w io.Writer, canvas *vgsvg.Canvas, title, description string) error {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	out := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	out = svgText.ReplaceAllFunc(out, func(all []byte) []byte {
		part := svgText.FindSubmatch(all)
		size, err := strconv.ParseFloat(string(part[3]), 64)
		if err != nil {
			return all
		}
		width := style{size: vg.Length(size), bold: string(part[2]) == "bold"}.text().Width(html.UnescapeString(string(part[4])))
		return fmt.Appendf(nil, `<text textLength="%.1f" lengthAdjust="spacingAndGlyphs" %s%s</text>`, float64(width), part[1], part[4])
	})
	words := fmt.Sprintf("xlink\">\n<title>%s</title>\n<desc>%s</desc>", html.EscapeString(title), html.EscapeString(description))
	_, err := w.Write(bytes.Replace(out, []byte("xlink\">"), []byte(words), 1))
	return err
}

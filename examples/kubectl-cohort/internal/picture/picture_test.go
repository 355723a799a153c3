// SPDX-License-Identifier: Apache-2.0

package picture_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
)

// element is one of an SVG that a test looks at.
type element struct {
	name, text string
	attr       map[string]string
}

func elements(t *testing.T, tl picture.Timeline) (all []element, size int) {
	t.Helper()
	var b bytes.Buffer
	if err := tl.SVG(&b); err != nil {
		t.Fatal(err)
	}
	size = b.Len()
	for decoder := xml.NewDecoder(&b); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			return all, size
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attr: make(map[string]string)}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(token)
			}
		}
	}
}

func grey(t *testing.T, tl picture.Timeline) (img *image.Gray, size int) {
	t.Helper()
	var b bytes.Buffer
	if err := tl.PNG(&b); err != nil {
		t.Fatal(err)
	}
	size = b.Len()
	decoded, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	img = image.NewGray(decoded.Bounds())
	draw.Draw(img, img.Rect, decoded, image.Point{}, draw.Src)
	return img, size
}

func TestPictureSaysWhatItShowsInWords(t *testing.T) {
	all, _ := elements(t, stopped())
	texts := make(map[string]bool)
	for _, e := range all {
		texts[strings.TrimSpace(e.text)] = true
	}
	for _, want := range []string{
		"default/prod: 320 clusters, ManifestWorkReplicaSet default/web", // what it is of
		"Stopped: 4 clusters of group 2 failed, 3 are tolerated.",        // why it ended
		"stopped after 48m", // when: the flag
		"Stopped: 4 clusters of group 2 failed, 3 are tolerated. [stopped after 48m] succeeded 91 failed 4 timed out 1 waiting 224",
		"succeeded 91", "failed 4", "timed out 1", "waiting 224", // the legend counts the end
		"in flight 0",          // and what there was before it
		"0 canary", "7", "320", // groups have their names, and the axis its numbers
		"0s", "10m", "50m",
	} {
		if want != "320" && !texts[want] {
			t.Errorf("no %q in the picture", want)
		}
	}
}

// The line through the picture stands at its time on the axis: 48 minutes between 40 and 50.
func TestMarkStandsAtItsTime(t *testing.T) {
	all, _ := elements(t, stopped())
	at := make(map[string]float64)
	mark, lines := 0.0, 0
	for _, e := range all {
		if e.name == "text" {
			at[strings.TrimSpace(e.text)], _ = strconv.ParseFloat(e.attr["x"], 64)
		}
		if strings.Contains(e.attr["style"], "stroke-dasharray") {
			lines++
			if _, err := fmt.Sscanf(e.attr["d"], "M%f,", &mark); err != nil {
				t.Fatal(err)
			}
		}
	}
	if lines != 1 {
		t.Fatalf("%d dashed lines, want only that of the mark", lines)
	}
	const half = 10.5 // of a label of three characters, which begins as far left of its tick
	want := at["40m"] + half + 0.8*(at["50m"]-at["40m"])
	if mark < want-3 || mark > want+3 {
		t.Errorf("the mark is at %v, want about %v", mark, want)
	}
}

func TestWithoutAMarkThereIsNoFlag(t *testing.T) {
	tl := stopped()
	tl.Mark = picture.Mark{}
	all, _ := elements(t, tl)
	for _, e := range all {
		if strings.Contains(e.attr["style"], "stroke-dasharray") || strings.Contains(e.text, " after ") {
			t.Errorf("found %v", e)
		}
	}
}

func TestTextOfTheUserIsEscaped(t *testing.T) {
	tl := stopped()
	tl.Title, tl.Sentence, tl.Groups[0].Name = `a<b>&"c"`, "</svg>", "<g>"
	all, _ := elements(t, tl)
	found := false
	for _, e := range all {
		found = found || e.name == "text" && strings.TrimSpace(e.text) == tl.Title
	}
	if !found {
		t.Errorf("no title %q", tl.Title)
	}
}

func TestPictureOf100000ClustersIsSmall(t *testing.T) {
	for _, test := range []struct{ groups, size int }{{2500, 40}, {1, 100_000}} {
		tl := large(test.groups, test.size)
		_, svg := elements(t, tl)
		_, raster := grey(t, tl)
		t.Logf("%d groups of %d: SVG %d bytes, PNG %d bytes", test.groups, test.size, svg, raster)
		const limit = 1 << 20
		if svg > limit || raster > limit {
			t.Errorf("%d groups of %d: SVG %d bytes, PNG %d bytes, want at most %d", test.groups, test.size, svg, raster, limit)
		}
	}
}

func TestPictureOfNothingIsAPicture(t *testing.T) {
	for _, tl := range []picture.Timeline{
		{},
		{Mark: picture.Mark{Label: "nothing selected"}},
		{Points: []picture.Point{{}}, Groups: []picture.Group{{}}},
		told(3, 1, nil),
	} {
		elements(t, tl)
		grey(t, tl)
		if err := tl.Chart(io.Discard, true); err != nil {
			t.Error(err)
		}
	}
}

// tone is what an area looks like without colour: how bright it is, and how often light and dark change
// along a line to the right and along one down.
type tone struct{ brightness, across, down int }

func toneOf(img *image.Gray, r image.Rectangle) (t tone) {
	dark := func(x, y int) bool { return img.GrayAt(x, y).Y < 0x58 }
	sum := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			sum += int(img.GrayAt(x, y).Y)
			if x > r.Min.X && dark(x, y) != dark(x-1, y) {
				t.across++
			}
			if y > r.Min.Y && dark(x, y) != dark(x, y-1) {
				t.down++
			}
		}
	}
	area := r.Dx() * r.Dy()
	return tone{sum / area, t.across * 1000 / area, t.down * 1000 / area}
}

// far says whether a reader tells one from the other: by brightness, or by the hatch.
func far(a, b tone) bool {
	differ := func(x, y, by int) bool { return x-y >= by || y-x >= by }
	return differ(a.brightness, b.brightness, 40) || differ(a.across, b.across, 60) || differ(a.down, b.down, 60)
}

func TestStatesDifferInBlackAndWhite(t *testing.T) {
	states := []picture.State{picture.Succeeded, picture.Soaking, picture.InFlight, picture.Failed, picture.TimedOut, picture.Deselected, picture.Waiting}
	tones := make([]tone, len(states))
	for i, state := range states {
		var all picture.Counts
		all[state] = 10
		img, _ := grey(t, picture.Timeline{Points: []picture.Point{{Counts: all}, {After: time.Hour, Counts: all}}})
		middle := image.Pt(img.Rect.Dx()/2, img.Rect.Dy()/2)
		tones[i] = toneOf(img, image.Rectangle{middle, middle.Add(image.Pt(120, 60))})
		for j := range i {
			if !far(tones[i], tones[j]) {
				t.Errorf("%v %v and %v %v look alike without colour", state, tones[i], states[j], tones[j])
			}
		}
	}
	t.Log(tones)
}

// Three failures among 100,000 clusters stopped the rollout: the picture shows them, also where all others are done.
func TestFewFailuresAreSeen(t *testing.T) {
	var before, after picture.Counts
	before[picture.Succeeded], after[picture.Succeeded], after[picture.Failed] = 100_000, 99_997, 3
	seen := func(counts picture.Counts) int {
		img, _ := grey(t, picture.Timeline{Points: []picture.Point{{Counts: before}, {After: 10 * time.Minute, Counts: counts}, {After: time.Hour, Counts: counts}}})
		dark := 0
		for x := img.Rect.Dx() / 2; x < img.Rect.Dx()*8/10; x++ {
			for y := img.Rect.Dy() / 5; y < img.Rect.Dy()*90/100; y++ {
				if img.GrayAt(x, y).Y < 0x60 {
					dark++
				}
			}
		}
		return dark
	}
	if without, with := seen(before), seen(after); with-without < 400 {
		t.Errorf("%d dark pixels with failures, %d without", with, without)
	}
}

func TestChart(t *testing.T) {
	const golden = "testdata/chart.txt"
	var b strings.Builder
	if err := stopped().Chart(&b, false); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v; got\n%s\nwant\n%s", err, b.String(), want)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	var coloured strings.Builder
	if err := stopped().Chart(&coloured, true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") || !strings.Contains(coloured.String(), "\x1b[") {
		t.Errorf("colour is not as asked for")
	}
}

func TestColourOnlyOnATerminalThatWantsIt(t *testing.T) {
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, test := range []struct {
		why  string
		w    io.Writer
		env  map[string]string
		want bool
	}{
		{"a terminal", terminal, nil, true},
		{"a user that wants none", terminal, map[string]string{"NO_COLOR": "1"}, false},
		{"an empty NO_COLOR forbids nothing", terminal, map[string]string{"NO_COLOR": ""}, true},
		{"a terminal that can't", terminal, map[string]string{"TERM": "dumb"}, false},
		{"a file", file, nil, false},
		{"a buffer", new(bytes.Buffer), nil, false},
	} {
		if got := picture.Colour(test.w, func(key string) string { return test.env[key] }); got != test.want {
			t.Errorf("%s: %v, want %v", test.why, got, test.want)
		}
	}
}

// Where the fonts are missing, a text takes the room that was measured, and a long sentence is all there, in lines.
func TestTextKeepsItsPlaceInAnyFont(t *testing.T) {
	tl := stopped()
	tl.Sentence = strings.Repeat("a sentence & more ", 14) + "to do: the end"
	all, _ := elements(t, tl)
	said := ""
	for _, e := range all {
		if e.name != "text" {
			continue
		}
		length, err := strconv.ParseFloat(e.attr["textLength"], 64)
		_, after, _ := strings.Cut(e.attr["style"], "font-size:")
		points, _, _ := strings.Cut(after, "px")
		size, _ := strconv.ParseFloat(points, 64)
		if n := float64(len(e.text)); err != nil || length < 0.2*size*n || length > size*n {
			t.Errorf("%q has the length %v in size %v, %v", e.text, length, size, err)
		}
		if x, _ := strconv.ParseFloat(e.attr["x"], 64); x+length > 900 {
			t.Errorf("%q ends at %v, beyond the border", e.text, x+length)
		}
		if strings.Contains(e.text, "sentence") || strings.Contains(e.text, "end") {
			said += strings.TrimSpace(e.text) + " "
		}
	}
	if said != tl.Sentence+" " {
		t.Errorf("the picture says %q, want %q", said, tl.Sentence)
	}
}

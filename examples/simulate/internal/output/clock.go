package output

import (
	"regexp"
	"time"
)

// Clock says how a text shows the times in the library's sentences: as they are, or if it has a start, since that, as its
// tables do.
type Clock struct{ Start time.Time }

// Read gives a text with the times in it as the clock shows them.
func (c Clock) Read(text string) string {
	if c.Start.IsZero() {
		return text
	}
	return regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`).ReplaceAllStringFunc(text, func(moment string) string {
		at, err := time.Parse(time.RFC3339, moment)
		if err != nil || at.Before(c.Start) {
			return moment
		}
		return short(at.Sub(c.Start).String())
	})
}

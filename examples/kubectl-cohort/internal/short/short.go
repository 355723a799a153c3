// SPDX-License-Identifier: Apache-2.0

// Package short writes durations as people do, and the beginnings of long texts.
package short

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Duration is a duration without the parts that are 0: "36h", "1h30m", "48m", "1m30s", "0s".
func Duration(d time.Duration) string {
	if d < 0 {
		return "-" + Duration(-d)
	}
	if d < time.Second {
		return d.String()
	}
	d = d.Round(time.Second)
	var b strings.Builder
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / unit.size; n > 0 {
			b.WriteString(strconv.Itoa(int(n)) + unit.name)
			d -= n * unit.size
		}
	}
	return cmp.Or(b.String(), "0s")
}

// Text is a text, or its beginning with the sign that there is more where it has too many characters.
func Text(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:most-1]), " ,;:") + "…"
}

// SPDX-License-Identifier: Apache-2.0

// Package seeds says which worlds a test plays: some are the same in each run, some are new each day, and those that were broken once are played
// for ever.
package seeds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

// File is in the package of a test. Each line is the kind of a world, its seed, in parentheses what is left out of it, and why it is worth to be
// played again: KIND SEED (PART, PART) WHY.
const File = "testdata/stories"

// Worlds is how many worlds of each kind are played unless a flag says it: ten for each change, and a hundred each week, when .ci/run sets WHOLE.
func Worlds() int {
	if os.Getenv("WHOLE") != "" {
		return 100
	}
	return 10
}

// Story is a world to be played.
type Story struct {
	Seed    uint64
	Without []string // parts of the world
}

// Of are the stories of a kind in [File], and n others: from first on or, where that is 0, half of them always the same, and half new each day.
func Of(t *testing.T, kind string, n int, first uint64) []Story {
	t.Helper()
	if first != 0 {
		return upFrom(first, n)
	}
	text, err := os.ReadFile(File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	stories, err := read(kind, string(text))
	if err != nil {
		t.Fatalf("%s: %v", File, err)
	}
	fixed, moving := upFrom(1, (n+1)/2), upFrom(ofDay(time.Now()), n/2)
	t.Logf("seeds%s%s and %d of stories", rangeOf(fixed), rangeOf(moving), len(stories))
	return append(append(stories, fixed...), moving...)
}

func rangeOf(all []Story) string {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" %d,", all[0].Seed)
	default:
		return fmt.Sprintf(" %d to %d,", all[0].Seed, all[len(all)-1].Seed)
	}
}

// ofDay is the first seed of a day: 20261128000 and so on.
func ofDay(now time.Time) uint64 {
	year, month, day := now.UTC().Date()
	return uint64((year*100+int(month))*100+day) * 1000
}

func upFrom(first uint64, n int) (all []Story) {
	for i := range uint64(n) {
		all = append(all, Story{Seed: first + i})
	}
	return all
}

func read(kind, text string) (stories []Story, err error) {
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var of, why string
		var s Story
		if got, _ := fmt.Sscan(line, &of, &s.Seed, &why); got < 3 {
			return nil, fmt.Errorf("line %d is %q, expected KIND SEED (PART, PART) WHY, with or without the parts", n+1, line)
		}
		if strings.HasPrefix(why, "(") {
			_, rest, _ := strings.Cut(line, "(")
			parts, why, ends := strings.Cut(rest, ")")
			if !ends || strings.TrimSpace(why) == "" {
				return nil, fmt.Errorf("line %d is %q, expected WHY after the parts", n+1, line)
			}
			s.Without = Parts(parts)
		}
		if of == kind {
			stories = append(stories, s)
		}
	}
	return stories, nil
}

// Parts reads a list with commas.
func Parts(text string) (parts []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

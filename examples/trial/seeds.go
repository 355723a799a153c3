package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

// storiesFile is in the package of a test. Each line is the kind of a world, its seed, and why it is worth to be played again: KIND SEED WHY.
const storiesFile = "testdata/stories"

// seedsOf are the seeds with which worlds of a kind are played: those of the stories, and n others. Half of the others are always the same, and half
// are new each day.
func seedsOf(t *testing.T, kind string, n int) []uint64 {
	t.Helper()
	if *flagSeed != 0 {
		return upFrom(*flagSeed, n)
	}
	text, err := os.ReadFile(storiesFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	stories, err := storiesOf(kind, string(text))
	if err != nil {
		t.Fatalf("%s: %v", storiesFile, err)
	}
	today := seedOfDay(time.Now())
	t.Logf("seeds %d to %d, %d to %d, and %d of stories", 1, (n+1)/2, today, today+uint64(n/2)-1, len(stories))
	return append(append(stories, upFrom(1, (n+1)/2)...), upFrom(today, n/2)...)
}

// seedOfDay is the first seed of a day: 20261128000 and so on.
func seedOfDay(now time.Time) uint64 {
	year, month, day := now.UTC().Date()
	return uint64((year*100+int(month))*100+day) * 1000
}

func upFrom(first uint64, n int) (all []uint64) {
	for i := range uint64(n) {
		all = append(all, first+i)
	}
	return all
}

// storiesOf reads the seeds of a kind.
func storiesOf(kind, text string) (seeds []uint64, err error) {
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var of, why string
		var seed uint64
		if read, _ := fmt.Sscan(line, &of, &seed, &why); read < 3 {
			return nil, fmt.Errorf("line %d is %q, expected KIND SEED WHY", n+1, line)
		}
		if of == kind {
			seeds = append(seeds, seed)
		}
	}
	return seeds, nil
}

package decisionupdate_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// The table in the package comment is what these changes take. If the code changes, this says how the table has
// to read.
func TestTableOfWritesInThePackageComment(t *testing.T) {
	exchanged := divided(100, numbers(1, 200))
	a, b := &exchanged[0].Status.Decisions[99], &exchanged[1].Status.Decisions[0]
	*a, *b = *b, *a

	rows := []string{fmt.Sprintf("%-54s%6s%18s%14s%9s", "", "All", "SurgeAndFinalize", "MaxSteps(10)", "default")}
	for _, change := range []struct {
		name            string
		stored, desired []*pd
	}{
		{"shift: 1000 full objects, a cluster sorts in front", divided(100, numbers(1, 100000)), divided(100, numbers(0, 100000))},
		{"swap: 2 full objects exchange a cluster", divided(100, numbers(1, 200)), exchanged},
		{"regrouping: 250 clusters from groups of 100 to 50", divided(100, numbers(1, 250)), divided(50, numbers(1, 250))},
		{"shrink: 1000 clusters lose every other", divided(100, numbers(1, 1000)), divided(100, everyOther(1000))},
	} {
		all := mustDiff(t, change.stored, change.desired, decisionupdate.UpdateStrategy{})
		two := mustDiff(t, change.stored, change.desired, rolling, decisionupdate.SurgeAndFinalize())
		ten := mustDiff(t, change.stored, change.desired, rolling, decisionupdate.MaxSteps(10))
		few := mustDiff(t, change.stored, change.desired, rolling)
		rows = append(rows, fmt.Sprintf("%-54s%6d%18d%14d%9d", change.name, all.Writes(), two.Writes(), ten.Writes(), few.Writes()))
	}

	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	table := "//\t" + strings.Join(rows, "\n//\t") + "\n"
	if !strings.Contains(string(source), table) {
		t.Errorf("the table in doc.go should read\n%s", table)
	}
}

func everyOther(n int) []int {
	var all []int
	for i := 2; i <= n; i += 2 {
		all = append(all, i)
	}
	return all
}

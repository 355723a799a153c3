// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

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
		two := mustDiff(t, change.stored, change.desired, twoPhases)
		ten := mustDiff(t, change.stored, change.desired, within(10))
		few := mustDiff(t, change.stored, change.desired, rolling)
		rows = append(rows, fmt.Sprintf("%-54s%6d%18d%14d%9d", change.name, all.Writes(), two.Writes(), ten.Writes(), few.Writes()))
	}

	wantInPackageComment(t, rows)
}

func wantInPackageComment(t *testing.T, rows []string) {
	t.Helper()
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	table := "//\t" + strings.Join(rows, "\n//\t") + "\n"
	t.Logf("\n%s", table)
	if !strings.Contains(string(source), table) {
		t.Errorf("the table in doc.go should read\n%s", table)
	}
}

// What the limit of 100 clusters costs, compared with updates in which surges fill their objects beyond it. There each object is a
// group of its own, so that no object of a surge could serve two.
func TestTableOfTheLimitInThePackageComment(t *testing.T) {
	shuffled := numbers(1, 1000)
	rand.New(rand.NewPCG(5313, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	exchanged := numbers(1, 200)
	exchanged[0], exchanged[199] = exchanged[199], exchanged[0]
	rows := []string{
		fmt.Sprintf("%-44s%24s%30s", "", "in place, beyond 100", "never beyond 100"),
		fmt.Sprintf("%-44s%8s%8s%8s%10s%8s%8s%8s", "", "writes", "steps", "fullest", "writes", "steps", "extra", "fullest"),
	}
	for _, change := range []struct {
		name     string
		from, to []int
	}{
		{"shift: 10 full objects, by one", numbers(1, 1000), numbers(2, 1001)},
		{"turn: the same in a circle", numbers(1, 1000), append(numbers(2, 1000), 1)},
		{"swap: 2 full objects exchange a cluster", numbers(1, 200), exchanged},
		{"shuffle: 1000 clusters in 10 full objects", numbers(1, 1000), shuffled},
	} {
		apart := func(clusters []int) []*pd {
			objects := divided(100, clusters)
			for i, pd := range objects {
				pd.Labels[clusterv1beta1.DecisionGroupIndexLabel] = strconv.Itoa(i)
			}
			return objects
		}
		before, err := decisionupdate.DiffUpTo(apart(change.from), apart(change.to), rolling, 1000)
		if err != nil {
			t.Fatal(err)
		}
		now := mustDiff(t, divided(100, change.from), divided(100, change.to), rolling)
		rows = append(rows, fmt.Sprintf("%-44s%8d%8d%8d%10d%8d%8d%8d", change.name, before.Writes(), len(before.Steps), fullest(before),
			now.Writes(), len(now.Steps), extras(now), fullest(now)))
	}
	wantInPackageComment(t, rows)
}

func everyOther(n int) []int {
	var all []int
	for i := 2; i <= n; i += 2 {
		all = append(all, i)
	}
	return all
}

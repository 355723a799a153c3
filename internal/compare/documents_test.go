// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// documents are where the classes and their numbers stand.
const (
	ownPage = "README.md"
	rules   = "../../rollout/RULES.md"
)

// Both tables have each class, once.
func TestTheTablesHaveEachClass(t *testing.T) {
	var names []string
	for _, c := range append(classes(), inputClasses()...) {
		names = append(names, c.name)
	}
	slices.Sort(names)
	for _, file := range []string{ownPage, rules} {
		var rows []string
		for name := range tableOf(t, file) {
			rows = append(rows, name)
		}
		slices.Sort(rows)
		if !slices.Equal(rows, names) {
			t.Errorf("%s has the classes\n%q, the tests have\n%q", file, rows, names)
		}
	}
}

// The page has the allocations of this commit.
func TestTheTableOfCostsHasTheseAllocations(t *testing.T) {
	const n = 1_000
	operations := map[string]func(){}
	for what, strategy := range measuredPlans {
		f, reports := halfway(t, n)
		strategy := strategy(n)
		operations[what] = func() {
			if _, err := rollout.Plan(strategy, f.groups, reports, now, rollout.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for what, groupOf := range measuredReads {
		decisions := cut(n, groupOf)
		placement := selection{}.placement(t, decisions)
		operations[what] = func() {
			if _, err := grouping.Read(placement, decisions); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := 0
	for line := range strings.Lines(read(t, ownPage)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 8 || operations[strings.TrimPrefix(cells[0], "| ")] == nil {
			continue
		}
		rows++
		what, want := strings.TrimPrefix(cells[0], "| "), cells[6]
		least := testing.AllocsPerRun(1, operations[what]) // others may allocate meanwhile
		for range 4 {
			least = min(least, testing.AllocsPerRun(1, operations[what]))
		}
		if got := strconv.Itoa(int(least)); got != want {
			t.Errorf("%s takes %s allocations, the table says %s of %s clusters", what, got, want, cells[1])
		}
	}
	if want := len(operations) * len(sizes); rows != want {
		t.Errorf("the table of costs has %d rows, want %d", rows, want)
	}
}

// documented fails where a page has another number than the one that was counted.
func (t *tally) documented(tb testing.TB) {
	tb.Helper()
	start := "starts a cluster that these rules hold back in " + grouped(t.tooMuch) + " and holds one back that may start in " + grouped(t.tooLittle) + "."
	for file, sentence := range map[string]string{
		rules: start,
		ownPage: "The answers are the same in " + grouped(t.worlds-t.different) + " and differ in " + grouped(t.different) +
			". In " + grouped(t.tooMuch) + " sdk-go starts a cluster that the rules block, and in " + grouped(t.tooLittle) + " it blocks a cluster that may start.",
	} {
		if !strings.Contains(strings.Join(strings.Fields(read(tb, file)), " "), sentence) {
			tb.Errorf("%s doesn't say: %s", file, sentence)
		}
	}
	for class, count := range tableOf(tb, ownPage) {
		want := ""
		if n := t.in[class]; n > 0 {
			want = grouped(n)
		}
		if count != want {
			tb.Errorf("%s says %q of the class %q, counted were %q", ownPage, count, class, want)
		}
	}
}

// tableOf reads the table of a page with the class as its first column, and gives the last column of each.
func tableOf(tb testing.TB, file string) map[string]string {
	tb.Helper()
	rows := make(map[string]string)
	_, table, found := strings.Cut(read(tb, file), "\n| class |")
	if !found {
		tb.Fatalf("%s has no table of classes", file)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n")[2:] {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			class := strings.TrimSuffix(strings.TrimSpace(cells[1]), " ≈")
			if _, again := rows[class]; again {
				tb.Errorf("%s has the class %q twice", file, class)
			}
			rows[class] = strings.TrimSpace(cells[len(cells)-2])
		}
	}
	return rows
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

var lastThree = regexp.MustCompile(`(\d)(\d{3})(,|$)`)

// grouped writes 656100 as 656,100.
func grouped(n int) string { return lastThree.ReplaceAllString(strconv.Itoa(n), "$1,$2$3") }

// Every claim of the migration page names a test, which exists.
func TestTheMigrationPageNamesItsTests(t *testing.T) {
	page := read(t, "MIGRATION.md") + read(t, "REVIEW.md")
	named := regexp.MustCompile("`(Test[A-Za-z]+)(/[a-z0-9 -]+)?`").FindAllStringSubmatch(page, -1)
	if len(named) < 10 {
		t.Errorf("found %d tests on the page", len(named))
	}
	var code strings.Builder
	for _, dir := range []string{".", "cmd/audit", "../../rollout/sdkgo/v1alpha1", "../../rollout/sdkgo/v1beta1", "../../status"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), "_test.go") {
				code.WriteString(read(t, dir+"/"+e.Name()))
			}
		}
	}
	for _, n := range named {
		if !strings.Contains(code.String(), "func "+n[1]+"(") {
			t.Errorf("a page names the test %s, which does not exist", n[1])
		}
		if class := strings.TrimPrefix(n[2], "/"); class != "" && !strings.Contains(code.String(), `"`+class+`"`) {
			t.Errorf("a page names the case %s of %s, which does not exist", class, n[1])
		}
	}
}

// Every case that the page names is a scene of rollout, which tells it to a reader without code.
func TestTheMigrationPageHasScenes(t *testing.T) {
	scenes := strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(read(t, "../../rollout/testdata/scenes/migration.txt"), "#", "")), " "))
	cases := regexp.MustCompile("`TestDifferences/([a-z0-9 -]+)`").FindAllStringSubmatch(read(t, "MIGRATION.md"), -1)
	if len(cases) < 20 {
		t.Errorf("found %d cases on the page", len(cases))
	}
	for _, c := range cases {
		if !strings.Contains(scenes, " "+c[1]+". ") {
			t.Errorf("no scene of migration.txt begins with %q", c[1])
		}
	}
}

// The code on the page stands in the files that it is said to be from.
func TestTheMigrationPageQuotes(t *testing.T) {
	quotes := regexp.MustCompile("(?s)<!-- from (\\S+) -->\n```go\n(.*?)\n```").FindAllStringSubmatch(read(t, "MIGRATION.md"), -1)
	if len(quotes) != 3 {
		t.Errorf("the page has %d quotes, want 3", len(quotes))
	}
	for _, q := range quotes {
		source := strings.Join(strings.Fields(read(t, q[1])), " ")
		if quote := strings.Join(strings.Fields(q[2]), " "); !strings.Contains(source, quote) {
			t.Errorf("%s does not have:\n%s", q[1], q[2])
		}
	}
}

// The page for reviewers is one.
func TestTheReviewIsOnePage(t *testing.T) {
	if n := len(strings.Fields(read(t, "REVIEW.md"))); n > 500 {
		t.Errorf("it has %d words, of at most 500", n)
	}
}

// The page has a command that counts the lines which an importer of the drop-in compiles, and says about what it counts.
func TestTheSizeOfTheDropIn(t *testing.T) {
	part := regexp.MustCompile("(?s)<!-- size: ([0-9,]+) -->\n```sh\n(.*?)\n```").FindStringSubmatch(read(t, "MIGRATION.md"))
	if part == nil {
		t.Fatal("there is no command")
	}
	count := exec.Command("bash", "-euo", "pipefail", "-c", part[2])
	count.Dir = "../.."
	out, err := count.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := strconv.Atoi(strings.TrimSpace(string(out)))
	said, _ := strconv.Atoi(strings.ReplaceAll(part[1], ",", ""))
	t.Logf("%d lines", lines)
	if err != nil || lines < said*9/10 || lines > said*11/10 || strings.Count(read(t, "MIGRATION.md"), part[1]) != 2 {
		t.Errorf("it counts %d lines, and the page says %d (%v)", lines, said, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// treeOf draws the rollouts of files at a time.
func treeOf(t *testing.T, now string, width int, files ...string) string {
	t.Helper()
	f := newFlags(genericclioptions.NewConfigFlags(true))
	cmd := &cobra.Command{Use: "status"}
	f.declareForecast(cmd.Flags())
	args := []string{"--start", now}
	for _, file := range files {
		args = append(args, "-f", file)
	}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if err := f.complete(cmd.Flags()); err != nil {
		t.Fatal(err)
	}
	views, err := f.views(cmd)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := treesOf(views, width)(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A tree has stages, groups and the clusters that matter, next to one picture of the past and of the forecast.
func TestATreeHasWhatMatters(t *testing.T) {
	golden(t, "testdata/output/tree.txt", treeOf(t, "2025-01-31T10:30:00Z", 100, "testdata/live/web.yaml"))
	golden(t, "testdata/output/tree-narrow.txt", treeOf(t, "2025-01-31T10:45:00Z", 60, "testdata/live/web.yaml"))
	golden(t, "testdata/output/tree-design.txt", treeOf(t, "2025-01-31T10:45:00Z", 120, "testdata/design/clusters.yaml", "testdata/design/placement.yaml"))
	for _, width := range []int{40, 60, 80, 100, 200} {
		for line := range strings.SplitSeq(treeOf(t, "2025-01-31T10:30:00Z", width, "testdata/live/web.yaml"), "\n") {
			if n := len([]rune(line)); n > width && !strings.HasPrefix(line, "ManifestWork") && !strings.HasPrefix(line, "now ") && line != treeKey {
				t.Errorf("%d characters in a line of a terminal of %d: %s", n, width, line)
			}
		}
	}
}

// Groups in which nothing happens share a line where there are many.
func TestATreeOfManyGroups(t *testing.T) {
	var texts []string
	texts = append(texts, strings.Replace(aStrategy, "type: Progressive\nprogressive: {maxConcurrency: 1}", "type: ProgressivePerGroup", 1))
	for i := range 40 {
		texts = append(texts, strings.NewReplacer("p-decision-1", fmt.Sprintf("p-decision-%d", i+1), `index: "0"`, fmt.Sprintf(`index: "%d"`, i)).Replace(decisionOf(fmt.Sprintf("a%d", i))))
	}
	file := t.TempDir() + "/many.yaml"
	if err := os.WriteFile(file, []byte(documents(texts...)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := treeOf(t, time.Date(2025, 1, 31, 10, 0, 0, 0, time.UTC).Format(time.RFC3339), 100, file)
	if n := strings.Count(got, "\n"); n > 15 || !strings.Contains(got, "40 groups waiting") && !strings.Contains(got, "39 groups waiting") {
		t.Errorf("%d lines:\n%s", n, got)
	}
}

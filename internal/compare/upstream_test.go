// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTheFixForSdkGo runs sdk-go's own tests of the helper, v1.3.0, with progressivePerCluster of folder upstream in the place of its own, and
// the test that goes with it. On sdk-go's own function that test fails. No line of sdk-go is stored: the package is read from its module's
// archive, and seems to be in folder upstream.
func TestTheFixForSdkGo(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two test programs")
	}
	const ours = "TestProgressivePerClusterCountsAllClusters"
	theirs := func(passed []string) (n int) {
		for _, test := range passed {
			if !strings.HasPrefix(test, ours) {
				n++
			}
		}
		return n
	}
	passed, failed := runUpstream(t, true)
	if len(failed) > 0 || !slices.Contains(passed, ours) || theirs(passed) != 74 {
		t.Errorf("with the fix %d of sdk-go's 74 tests and cases pass, and these fail: %v", theirs(passed), failed)
	}
	passed, failed = runUpstream(t, false)
	cases := 0
	for _, test := range failed {
		switch name, _, isCase := strings.Cut(test, "/"); {
		case name != ours:
			t.Errorf("%s fails without the fix", test)
		case isCase:
			cases++
		}
	}
	if cases != 5 || theirs(passed) != 74 {
		t.Errorf("without the fix %d cases of our test fail, and %d of sdk-go's pass", cases, theirs(passed))
	}
}

// ownFolder is folder upstream, from that of the drop-in.
const ownFolder = "../../internal/compare/upstream/"

// runUpstream runs the tests of the helper, with the fix or without.
func runUpstream(t *testing.T, fixed bool) (passed, failed []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/sdk-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "pkg/apis/cluster/v1alpha1", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	o := overlay{}
	for _, file := range files {
		o.put(t, ownFolder+filepath.Base(file), file)
	}
	o.put(t, ownFolder+"progressive_test.go", "upstream/progressive_test.go.txt")
	if fixed {
		o.put(t, ownFolder+"progressive.go", "upstream/progressive.go.txt")
		for _, file := range files {
			if filepath.Base(file) == "rollout.go" {
				o.put(t, ownFolder+"rollout.go", withoutPerCluster(t, file))
			}
		}
	}
	return o.test(t, "./upstream")
}

// withoutPerCluster is a copy of sdk-go's file without the function.
func withoutPerCluster(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := without(string(text), "func progressivePerCluster(")
	if changed == string(text) {
		t.Fatal("sdk-go has no progressivePerCluster")
	}
	path := filepath.Join(t.TempDir(), "rollout.go")
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// test runs the tests of a package with the overlay, and gives the names of those that passed and failed.
func (o overlay) test(t *testing.T, of string) (passed, failed []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(map[string]overlay{"Replace": o})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return testEvents(t, exec.Command("go", "test", "-json", "-count=1", "-vet=off", "-overlay", file, of))
}

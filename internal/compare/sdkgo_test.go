// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	sdkPath  = "open-cluster-management.io/sdk-go/pkg/apis/cluster/"
	ownPath  = "github.com/cohort-ocm/cohort/rollout/sdkgo/"
	ownFiles = "../../rollout/sdkgo/"
)

// TestTheDropInPassesTheTablesOfSdkGo runs sdk-go's own test files, from its module's archive, against the drop-in. The
// import path is all that changes in them, as in a controller. The planner in the place of Plan passes the same.
func TestTheDropInPassesTheTablesOfSdkGo(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles three test programs")
	}
	t.Run("v1beta1", func(t *testing.T) {
		o := overlay{}
		o.take(t, "v1beta1", "placement_test.go")
		passed, failed := o.run(t, "v1beta1")
		o.expect(t, passed, failed, 3, nil)
	})
	// These differ on purpose: a deadline that is nonsense is refused in other words, and so is a size of more than 100%
	// (200%), which sdk-go takes for all.
	different := []string{
		"TestCalculateRolloutSize/maxConcurrency_type_is_string_without_percentage",
		"TestCalculateRolloutSize/maxConcurrency_type_is_string_with_percentage_but_out_of_range",
		"TestParseTimeout/Invalid_format", "TestParseTimeout/Invalid_format#01",
		"TestParseTimeout/Invalid_numeric_value", "TestParseTimeout/Invalid_unit",
	}
	for name, decide := range map[string]string{"Plan": "", "Planner": "testdata/sdkgo/planner.go.txt"} {
		t.Run("v1alpha1 by "+name, func(t *testing.T) {
			o := overlay{}
			o.take(t, "v1alpha1", "rollout_test.go")
			o.put(t, "v1alpha1/shim_test.go", "testdata/sdkgo/shim.go.txt")
			if decide != "" {
				o.put(t, "v1alpha1/decide.go", decide)
			}
			passed, failed := o.run(t, "v1alpha1")
			tables := 0
			for _, test := range passed {
				if strings.HasPrefix(test, "TestGetRolloutCluster_") && strings.Contains(test, "/") {
					tables++
				}
			}
			if tables != 37 {
				t.Errorf("%d of the 37 tables of GetRolloutCluster pass", tables)
			}
			t.Logf("%d of 37 of GetRolloutCluster and %d tests in all pass; %d differ in the text of an error or refuse nonsense", tables, len(passed), len(failed))
			o.expect(t, passed, failed, 37, different)
		})
	}
}

// overlay is files to put into the drop-in's folders for one run: where each seems to be, and where it is.
type overlay map[string]string

// put makes the file seem to be in the drop-in.
func (o overlay) put(t *testing.T, as, file string) {
	t.Helper()
	where, err := filepath.Abs(ownFiles + as)
	if err != nil {
		t.Fatal(err)
	}
	if o[where], err = filepath.Abs(file); err != nil {
		t.Fatal(err)
	}
}

// take puts in a test file of sdk-go, with the path of its import changed. What asks for minRecheckAfter and
// decisionGroupsToGroupKeys goes: these functions have no counterpart.
func (o overlay) take(t *testing.T, version, file string) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/sdk-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/apis/cluster", version, file))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), sdkPath, ownPath)
	changed = without(changed, "func TestMinRecheckAfter(")
	changed = without(changed, "func TestDecisionGroupsToGroupKeys(")
	copied := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(copied, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	o.put(t, version+"/"+strings.TrimSuffix(file, "_test.go")+"_sdkgo_test.go", copied)
}

// without leaves out the function that begins so, up to the brace at the beginning of a line that ends it.
func without(text, begin string) string {
	at := strings.Index(text, begin)
	if at < 0 {
		return text
	}
	end := strings.Index(text[at:], "\n}\n")
	return text[:at] + text[at+end+len("\n}\n"):]
}

// alone takes the drop-in's own tests away, which have a clock of their own.
func (o overlay) alone(t *testing.T, version string) {
	t.Helper()
	own, err := filepath.Glob(ownFiles + version + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range own {
		where, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		o[where] = ""
	}
}

// run runs the tests and gives the names of those that passed and failed.
func (o overlay) run(t *testing.T, version string) (passed, failed []string) {
	t.Helper()
	o.alone(t, version)
	return o.test(t, ownPath+version)
}

// testEvents runs go test -json, and gives the names of the tests that passed and failed.
func testEvents(t *testing.T, cmd *exec.Cmd) (passed, failed []string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(line, &event) != nil {
			t.Log(string(line))
			continue
		}
		switch {
		case event.Test == "":
			if event.Action == "build-output" {
				t.Log(event.Output)
			}
		case event.Action == "pass":
			passed = append(passed, event.Test)
		case event.Action == "fail":
			failed = append(failed, event.Test)
		}
	}
	return passed, failed
}

// expect complains of tests that fail and are not among those that differ on purpose, and the other way round.
func (o overlay) expect(t *testing.T, passed, failed []string, least int, different []string) {
	t.Helper()
	known := map[string]bool{}
	for _, test := range different {
		known[test] = true
		parent, _, _ := strings.Cut(test, "/")
		known[parent] = true
	}
	for _, test := range failed {
		if !known[test] {
			t.Errorf("%s fails", test)
		}
		delete(known, test)
	}
	for test := range known {
		t.Errorf("%s was to differ and passes, or did not run", test)
	}
	if len(passed) < least {
		t.Errorf("%d tests pass, want at least %d", len(passed), least)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout is a small one with the layout that a swap expects. The code is made up.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.25.0\n"
	files["vendor/modules.txt"] = otherModules(t)
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// otherModules is a modules.txt with the modules that Cohort imports, and none of their packages.
func otherModules(t *testing.T) string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{if not .Module.Main}}# {{.Module.Path}} {{.Module.Version}}{{end}}{{end}}", "./...")
	list.Dir = "../../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Sorted(strings.Lines(string(out)))
	return "# example.com/first v1.0.0\nexample.com/first\n" + strings.Join(slices.Compact(lines), "")
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The imports of sdk-go's rollouts change, and no other, and those of tests are not counted.
func TestSwapImports(t *testing.T) {
	const code = "package addonconfiguration\n\nimport (\n\t\"fmt\"\n\tone \"open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1\"\n" +
		"\ttwo \"open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1\"\n\tthree \"open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta2\"\n)\n"
	s := swap{imports: swaps["addon"].imports}
	dir := checkout(t, map[string]string{s.imports[0] + "/a.go": code, s.imports[0] + "/a_test.go": code})
	added, removed, err := s.do(dir, "../../..")
	if err != nil || added != 2 || removed != 2 {
		t.Fatalf("+%d/-%d, %v", added, removed, err)
	}
	for _, file := range []string{"a.go", "a_test.go"} {
		text := read(t, dir, s.imports[0], file)
		for want, is := range map[string]bool{
			`one "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"`: true, `two "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"`: true,
			`three "open-cluster-management.io/sdk-go/`: true, `sdk-go/pkg/apis/cluster/v1alpha1`: false,
		} {
			if strings.Contains(text, want) != is {
				t.Errorf("%s has %q: %v\n%s", file, want, !is, text)
			}
		}
	}
	if _, _, err := s.do(dir, "../../.."); err == nil || !strings.Contains(err.Error(), "swapped already") {
		t.Errorf("a second time: %v", err)
	}
	if _, _, err := s.do(t.TempDir(), "../../.."); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("no checkout: %v", err)
	}
}

// A function is removed with the functions and imports that only it used. Unused ones stay, and so do those that others use.
func TestSwapAFunction(t *testing.T) {
	s, file := swaps["placement"], "placement.go.txt"
	into := s.replacements[file]
	dir := checkout(t, map[string]string{
		into + "/old.go": `package scheduling

import (
	"go/format"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"strings"
)

type schedulingController struct{}

// run calls.
func (c *schedulingController) run() { shared(); c.generatePlacementDecisionsAndStatus() }

// generatePlacementDecisionsAndStatus is the old one.
func (c *schedulingController) generatePlacementDecisionsAndStatus() { c.first(); shared() }

func (c *schedulingController) first() { second() }

func second() { _, _ = math.Pi, rand.Int }

func shared() { _ = strings.ToUpper }

func idle() {}
`})
	added, removed, err := s.do(dir, "../../..")
	ours := read(t, "replacements", file)
	if err != nil || added != strings.Count(ours, "\n")+1 || removed != 9 { // a line is the field's
		t.Fatalf("+%d/-%d, %v\n%s", added, removed, err, read(t, dir, into, "old.go"))
	}
	text := read(t, dir, into, "old.go")
	for want, is := range map[string]bool{
		"the old one": false, "first()": false, "second()": false, `"math"`: false, `"math/rand/v2"`: false, "func shared()": true, `"strings"`: true, "func idle()": true, "run calls": true,
	} {
		if strings.Contains(text, want) != is {
			t.Errorf("it has %q: %v\n%s", want, !is, text)
		}
	}
	if read(t, dir, into, "zz_cohort.go") != ours {
		t.Error("our file is another")
	}
}

// With functions that have a test of ours goes the test, and into several packages go several files. Where nothing is vendored, nothing is.
func TestSwapWithTests(t *testing.T) {
	s := swaps["propagator"]
	dir := checkout(t, map[string]string{
		"controllers/propagator/old.go": "package propagator\n\ntype ReplicatedPolicyReconciler struct{}\n\nfunc (r *ReplicatedPolicyReconciler) singleClusterDecision() {}\n",
		"controllers/common/old.go":     "package common\n\nfunc GetClusterDecisions() {}\n\nfunc CalculateRootCompliance() {}\n",
	})
	if err := os.RemoveAll(filepath.Join(dir, "vendor")); err != nil {
		t.Fatal(err)
	}
	added, removed, err := s.do(dir, "../../..")
	if want := strings.Count(read(t, "replacements/propagator.go.txt")+read(t, "replacements/propagator_common.go.txt"), "\n") + 1; err != nil || added != want || removed != 6 {
		t.Fatalf("+%d/-%d, want +%d/-6, %v", added, removed, want, err)
	}
	for file, ours := range map[string]string{
		"controllers/propagator/zz_cohort.go": "propagator.go.txt", "controllers/propagator/zz_cohort_test.go": "propagator_test.go.txt",
		"controllers/common/zz_cohort.go": "propagator_common.go.txt",
	} {
		if read(t, dir, file) != read(t, "replacements", ours) {
			t.Errorf("%s is another than %s", file, ours)
		}
	}
	if text := read(t, dir, "controllers/common/old.go") + read(t, dir, "controllers/propagator/old.go"); strings.Contains(text, "func") {
		t.Errorf("functions stayed:\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor")); err == nil || !strings.Contains(read(t, dir, "go.mod"), "replace "+module) {
		t.Errorf("go.mod is\n%s", read(t, dir, "go.mod"))
	}
}

// Where a checkout vendors nothing, its go.mod says where Cohort is.
func TestRequire(t *testing.T) {
	dir := checkout(t, map[string]string{})
	if err := os.RemoveAll(filepath.Join(dir, "vendor")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := require(dir, "../../.."); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "list", "-mod=mod", "-m", "-f", "{{.Replace.Dir}}", module)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if where := strings.TrimSpace(string(out)); read(t, where, "go.mod") != read(t, "../../../go.mod") {
		t.Errorf("it is %s", where)
	}
}

// What is vendored is what the checkout's code imports of the library, with what that imports, and the licence. Nothing is that is its tests'.
func TestVendor(t *testing.T) {
	dir := checkout(t, map[string]string{"a/a.go": "package a\n\nimport _ \"" + module + "/rollout/sdkgo/v1alpha1\"\n"})
	for range 2 { // for two controllers, of which the second imports more
		if err := vendor(dir, "../../.."); err != nil {
			t.Fatal(err)
		}
		if text := read(t, dir, "vendor/modules.txt"); strings.Count(text, "# "+module+" ") != 1 {
			t.Errorf("modules.txt is\n%s", text)
		}
		more := filepath.Join(dir, "a", "more.go")
		if err := os.WriteFile(more, []byte("package a\n\nimport _ \""+module+"/rollout/writes\"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if mod := read(t, dir, "go.mod"); strings.Count(mod, "require "+module+" v0.0.0\n") != 1 {
		t.Errorf("go.mod is\n%s", mod)
	}
	list := "\n" + read(t, dir, "vendor/modules.txt")
	for of, is := range map[string]bool{"rollout/sdkgo/v1alpha1": true, "rollout/writes": true, "override": false, "dependency": false} {
		if strings.Contains(list, "\n"+module+"/"+of+"\n") != is {
			t.Errorf("%s is listed: %v", of, !is)
		}
		if _, err := os.Stat(filepath.Join(dir, "vendor", module, of)); (err == nil) != is {
			t.Errorf("%s is copied: %v", of, !is)
		}
	}
	needed := exec.Command("go", "list", "-deps", module+"/rollout/sdkgo/v1alpha1", module+"/rollout/writes")
	needed.Dir = "../../.."
	out, err := needed.Output()
	if err != nil {
		t.Fatal(err)
	}
	for p := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(p, module) && !strings.Contains(list, "\n"+p+"\n") {
			t.Errorf("%s is not vendored", p)
		}
	}
	const other = "k8s.io/apimachinery/pkg/util/resourceversion" // which rollout/writes imports
	if _, after, ok := strings.Cut(list, "\n# k8s.io/apimachinery "); !ok || !strings.Contains(after, "\n"+other+"\n") {
		t.Errorf("%s is not listed with its module", other)
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor", other)); err != nil {
		t.Error(err)
	}
	if read(t, dir, "vendor", module, "LICENSE") != read(t, "../../../LICENSE") {
		t.Error("the licence is another")
	}
	err = filepath.WalkDir(filepath.Join(dir, "vendor"), func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s is vendored", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := vendor(checkout(t, map[string]string{}), "../../.."); err == nil || !strings.Contains(err.Error(), "imports Cohort") {
		t.Errorf("where nothing imports it: %v", err)
	}
}

// A field is put into its type, and a Placement of a test's case gets the number of clusters in its decisions, unless it has a status.
func TestEdits(t *testing.T) {
	dir := checkout(t, map[string]string{
		"p/a.go": "package p\n\ntype other struct{}\n\ntype keeper struct {\n\ta int // one\n}\n",
		"p/b_test.go": `package p

var cases = []struct{}{
	{
		placements: []o{
			&v.Placement{ObjectMeta: m{Name: "one", Namespace: "n"}},
			&v.Placement{ObjectMeta: m{Name: "none"}},
			&v.Placement{
				ObjectMeta: m{Name: "lines"},
			},
			&v.Placement{ObjectMeta: m{Name: "two"}, Status: s},
		},
		placementDecisions: []o{
			&v.PlacementDecision{ObjectMeta: m{Name: "x", Labels: l{v.PlacementLabel: "one"}}, Status: s{{ClusterName: "a"}, {ClusterName: "b"}}},
			&v.PlacementDecision{ObjectMeta: m{Name: "y", Labels: l{v.PlacementLabel: "two"}}, Status: s{{ClusterName: "a"}}},
			&v.PlacementDecision{ObjectMeta: m{Name: "z", Labels: l{v.PlacementLabel: "one"}}, Status: s{{ClusterName: "c"}}},
			&v.PlacementDecision{ObjectMeta: m{Name: "u", Labels: l{v.PlacementLabel: "lines"}}, Status: s{{ClusterName: "c"}}},
		},
	},
}
`})
	if err := (field{"p", "keeper", "b int"}).add(dir); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, dir, "p/a.go"), "package p\n\ntype other struct{}\n\ntype keeper struct {\n\ta int // one\n\n\tb int\n}\n"; got != want {
		t.Errorf("the type is\n%s", got)
	}
	if err := (field{"p", "nothing", "b int"}).add(dir); err == nil {
		t.Error("no error for a type that is not there")
	}
	path := filepath.Join(dir, "p", "b_test.go")
	if err := noteStatus(path); err != nil {
		t.Fatal(err)
	}
	text := read(t, path)
	if n := strings.Count(text, "NumberOfSelectedClusters"); n != 2 ||
		!strings.Contains(text, `Namespace: "n"}, Status: clusterv1beta1.PlacementStatus{NumberOfSelectedClusters: 3}},`) {
		t.Errorf("%d have a status:\n%s", n, text)
	}
	if err := noteStatus(path); err == nil {
		t.Error("no error where all have their status")
	}
}

// Each of our functions stands in a file that parses, of the package that it goes into.
func TestReplacements(t *testing.T) {
	packages := make(map[string]string)
	for _, s := range swaps {
		maps.Copy(packages, s.replacements)
	}
	files, err := filepath.Glob("replacements/*")
	if err != nil || len(files) < len(packages) {
		t.Fatalf("%v, of which %d are used: %v", files, len(packages), err)
	}
	for _, path := range files {
		name, text := filepath.Base(path), read(t, path)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		into := packages[strings.Replace(name, "_test.go.txt", ".go.txt", 1)]
		if want := filepath.Base(into); file.Name.Name != want {
			t.Errorf("%s is of package %s, and goes into %q", name, file.Name.Name, into)
		}
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("gofmt would change %s: %v", name, err)
		}
	}
}

// The tests of a package are counted without their cases, and those that fail are named. What does not build is an error.
func TestRunTests(t *testing.T) {
	const code = "package p\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) { t.Run(\"a\", func(*testing.T) {}) }\n\nfunc TestTwo(t *testing.T) { t.Fail() }\n"
	dir := checkout(t, map[string]string{"good/p_test.go": code, "other/p_test.go": strings.ReplaceAll(code, "t.Fail()", ""), "broken/p_test.go": "package p\n\nvar x int = true\n"})
	if err := os.WriteFile(filepath.Join(dir, "vendor", "modules.txt"), nil, 0o644); err != nil { // it needs no module
		t.Fatal(err)
	}
	told, err := runTests(dir, []string{"good", "other"})
	if want := "good 1 of 2 (failed: TestTwo), other 2 of 2"; err != nil || told != want {
		t.Errorf("%q, %v, want %q", told, err, want)
	}
	if _, err := runTests(dir, []string{"other", "broken"}); err == nil || !strings.Contains(err.Error(), "broken: no test ran") {
		t.Errorf("a package that does not build: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// program is a program that calls a package's Reconcile and nothing else.
type program struct {
	size            int64 // of the file, with symbols and without what debuggers read
	code, functions int   // of the packages with a prefix: bytes, and how many
}

// build builds the program of one of the packages in migration.
func build(t *testing.T, controller, prefix string) (p program) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source, overlay, file := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program")
	replaces, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "migration", "program", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`package main

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	controller "github.com/cohort-ocm/cohort/internal/compare/migration/%s"
)

func main() { fmt.Println(controller.Reconcile(nil, nil, clusterv1alpha1.RolloutStrategy{}, nil)) }
`, controller)
	for name, text := range map[string][]byte{source: []byte(text), overlay: replaces} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-ldflags", "-w", "-o", file, "./migration/program").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	p.size = info.Size()
	symbols, err := exec.Command("go", "tool", "nm", "-size", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for symbol := range strings.Lines(string(symbols)) {
		fields := strings.Fields(symbol) // the address, the size, what it is, and the name
		if len(fields) < 4 || !strings.EqualFold(fields[2], "t") || !strings.Contains(symbol, prefix) {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		p.code, p.functions = p.code+n, p.functions+1
	}
	return p
}

// The page for reviewers says what the drop-in adds to a program.
func TestTheDropInInAProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it links two programs")
	}
	before, after := build(t, "before", "open-cluster-management.io/sdk-go"), build(t, "dropin", "github.com/cohort-ocm/cohort")
	const mib = 1 << 20
	t.Logf("%+v, then %+v", before, after)
	number := `([0-9.]+)`
	says := regexp.MustCompile("has " + number + " MiB of Cohort's code in it, in " + number + ` functions \(sdk-go's: ` + number + " MiB, in " + number + `\), and is ` + number + " MiB greater")
	said := says.FindStringSubmatch(strings.Join(strings.Fields(read(t, "REVIEW.md")), " "))
	if said == nil {
		t.Fatalf("REVIEW.md does not say %s", says)
	}
	for i, have := range []float64{float64(after.code) / mib, float64(after.functions), float64(before.code) / mib, float64(before.functions), float64(after.size-before.size) / mib} {
		if n, err := strconv.ParseFloat(said[i+1], 64); err != nil || n < have*0.85 || n > have*1.15 {
			t.Errorf("number %d of %q is %.3f", i+1, said[0], have)
		}
	}
}

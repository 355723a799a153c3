// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"os/exec"
	"strings"
	"testing"
)

// A judge that asked the library would find what the library does right. What should have happened instead is asked in package should.
func TestVerdictsDoNotUseTheLibrary(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module, own, limits = "github.com/cohort-ocm/cohort/", "github.com/cohort-ocm/cohort/examples/trial/judge", "github.com/cohort-ocm/cohort/examples/trial/internal/limits"
	seen := false
	for path := range strings.FieldsSeq(string(out)) {
		seen = seen || path == own
		if strings.HasPrefix(path, module) && path != own && path != limits {
			t.Errorf("it imports %s", path)
		}
	}
	if !seen {
		t.Errorf("go list says %q", out)
	}
}

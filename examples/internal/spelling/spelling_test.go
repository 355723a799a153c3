// SPDX-License-Identifier: Apache-2.0

package spelling_test

import (
	"testing"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

func TestHint(t *testing.T) {
	kinds := []string{"Placement", "PlacementDecision", "ManifestWorkReplicaSet", "a"}
	for name, want := range map[string]string{
		"ManifestWorkReplicaset":  "; did you mean ManifestWorkReplicaSet?",
		"ManifestWorkReplicaSets": "; did you mean ManifestWorkReplicaSet?",
		"Placment":                "; did you mean Placement?",
		"Palcement":               "; did you mean Placement?",
		"Plcaemnet":               "; did you mean Placement?",
		"Deployment":              "",
		"x":                       "", // every letter would change
		"":                        "",
	} {
		if got := spelling.Hint(name, kinds); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if nearest, changes := spelling.Nearest("plac", nil); nearest != "" || changes != 0 {
		t.Errorf("%q with %d changes of no words", nearest, changes)
	}
}

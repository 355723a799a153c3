// SPDX-License-Identifier: Apache-2.0

package page

import (
	"os"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
)

// A state without a colour is drawn black: each has one, in the light and in the dark.
func TestEachStateHasAColour(t *testing.T) {
	text, err := os.ReadFile("page.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range picture.States() {
		if n := strings.Count(string(text), "--"+class(state)+": #"); n != 2 {
			t.Errorf("%s has %d colours in the style sheet, want 2", state, n)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package search

import (
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/internal/scene"
)

// TestScenes tells the shortest histories of some mutants: `without NAME`, with the name of a mutant.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/*.txt", func(t *testing.T) func(scene.Command) string {
		return func(c scene.Command) string {
			name := strings.Join(c.Args, " ")
			for _, m := range mutants {
				if m.name == name {
					return m.search().describe()
				}
			}
			t.Errorf("%s:%d: no mutant %q", c.File, c.Line, name)
			return ""
		}
	})
}

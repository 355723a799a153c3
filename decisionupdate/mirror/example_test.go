// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/decisionupdate/mirror"
)

// Two clusters have changed places at the source. Copied one after the other, either object would drop a cluster. The mirror's own update
// does not.
func ExampleDiff() {
	stored := []*pd{object("web-decision-1", "0", "athens"), object("web-decision-2", "0", "berlin")}
	source := []*pd{object("web-decision-1", "0", "berlin"), object("web-decision-2", "0", "athens")}
	update, err := mirror.Diff(stored, source, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(update)
	// Output:
	// step 1: update PlacementDecision web-decision-1 early (status): add berlin
	// step 2: update PlacementDecision web-decision-2 (status): add athens; remove berlin
	// step 3: update PlacementDecision web-decision-1 (status): remove athens
}

// The same change at a source that waits for its mirror. This mirror is dead. After three looks a step the source continues, and names the
// clusters that the mirror may drop if it restarts in the midst of the change.
func ExampleBehind() {
	stored := []*pd{object("web-decision-1", "0", "athens"), object("web-decision-2", "0", "berlin")}
	desired := []*pd{object("web-decision-1", "0", "berlin"), object("web-decision-2", "0", "athens")}
	shown := stored // for ever
	for waited := 0; ; {
		update, err := decisionupdate.Diff(stored, desired, rolling)
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(update.Steps) == 0 {
			break
		}
		objects, clusters, err := mirror.Behind(update.Steps[0], stored, shown)
		if err != nil {
			fmt.Println(err)
			return
		}
		if waited < 3 && len(objects) > 0 {
			waited++ // here a controller comes back later
			continue
		}
		fmt.Printf("%sbehind %v, may be dropped %v\n", firstStep(update), objects, clusters)
		for _, w := range update.Steps[0] { // here it writes
			for i := range stored {
				if stored[i].Name == w.Name() {
					stored = append(append(stored[:i:i], w.To), stored[i+1:]...)
				}
			}
		}
		waited = 0
	}
	// Output:
	// update PlacementDecision web-decision-1 early (status): add berlin: behind [], may be dropped []
	// update PlacementDecision web-decision-2 (status): add athens; remove berlin: behind [web-decision-1], may be dropped [berlin]
	// update PlacementDecision web-decision-1 (status): remove athens: behind [web-decision-1 web-decision-2], may be dropped [athens berlin]
}

func firstStep(update decisionupdate.Update) string {
	line, _, _ := strings.Cut(update.String(), "\n")
	return line[len("step 1: "):] + ": "
}

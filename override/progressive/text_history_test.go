// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Longer histories than textHistories has, of more clusters in more groups.
func TestLongHistoriesAreAsTheDocumentSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(textStrategies).Draw(t, "strategy")
		p := newTextPair(s, "g1", "g2", "")
		steps := textStepsOf([]string{"a", "b", "c", "d"}, []string{"g1", "g2", "-"})
		var history []string
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			step := rapid.SampledFrom(steps).Draw(t, "step")
			history = append(history, step)
			if _, err := p.do(step); err != nil {
				t.Fatalf("%s: %q: %v", s.name, history, err)
			}
		}
	})
}

// textStepsOf are what can happen to these clusters in these groups, but for edits that begin a rollout which has ended anew. What drives a rollout forward is in the list more often.
func textStepsOf(clusters, groups []string) (steps []string) {
	for _, cluster := range clusters {
		for _, group := range groups {
			steps = append(steps, "select "+cluster+" "+group)
		}
		for _, step := range strings.Split("deselect,complies,complies,complies,fails,naughty,hide,inform", ",") {
			steps = append(steps, step+" "+cluster)
		}
	}
	for _, group := range groups {
		steps = append(steps, "approve "+group, "approve "+group, "withdraw "+group)
	}
	return slices.Concat(steps, strings.Split("edit v1,edit v2,edit v3,strategy,disable,enable,enable,show,show,show,wait,wait,restart,crash x,crash xx,crash xxx,"+
		"retry,retry,retry-another,delete,status Succeeded,status Failed,uid", ","))
}

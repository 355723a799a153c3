// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/rollout"
)

var freeze = verb{
	name: "freeze", args: " CLUSTER...", least: 1, most: -1, done: "annotated",
	short: "Freeze clusters, for a reason and perhaps until a time, while the others go on",
	long: `Freeze clusters: they do not start, whatever version is wanted, until unfreeze or until a time. The others go on without them, and take the
slots; with --block the others wait. A cluster that has the version keeps it, and is frozen from the next version on. A second freeze replaces
the reason and the time of the first.`,
	example: `  kubectl cohort freeze web edge-7 --reason "maintenance of store 7" --until 2026-01-05T06:00:00Z
  kubectl cohort freeze web edge-7 edge-8 --until 12h`,
	flags: func(h *how, s *pflag.FlagSet) {
		s.StringVar(&h.reason, "reason", "", "`why`, which explanations repeat; without a semicolon")
		commandline.Var(s, &h.until, "until", "", "`time` at which the freeze ends by itself, in RFC 3339, or for how long, such as 12h")
		s.BoolVar(&h.block, "block", false, "others wait for these clusters: their group is not complete without them")
	},
	change: func(d decided) (string, error) {
		asked, err := d.askedOf(d.words)
		if err != nil {
			return "", err
		}
		reason, until := strings.TrimSpace(d.how.reason), d.how.until.time(d.now)
		switch {
		case strings.ContainsAny(reason, ";\n\r"):
			return "", fmt.Errorf("--reason %q: must be one line without a semicolon", reason)
		case !until.IsZero() && !until.After(d.now):
			return "", fmt.Errorf("--until %s: must be after now, %s", until.Format(time.RFC3339), d.now.Format(time.RFC3339))
		}
		before := asked.Freezes
		words := without(d.words, nil)
		asked.Freezes = notOf(before, words)
		for _, name := range words {
			asked.Freezes = append(asked.Freezes, rollout.ClusterFreeze{Cluster: name, Reason: reason, Until: until, Blocks: d.how.block})
		}
		if sameFreezes(before, asked.Freezes) {
			return "", already(those(words, "is", "are") + " frozen so already")
		}
		says := freezeText(asked.Freezes[len(asked.Freezes)-1], words)
		slices.SortStableFunc(asked.Freezes, blockingLast)
		return says, d.note(asked)
	},
	besides: func(d decided, before, _ part) (lines []string) {
		var has []string
		for _, name := range before.have() {
			if slices.Contains(d.words, name) {
				has = append(has, name)
			}
		}
		if len(has) > 0 {
			slices.Sort(has)
			lines = append(lines, those(has, "has the version, and keeps it: the freeze is for", "have the version, and keep it: the freeze is for")+" another attempt or version")
		}
		return lines
	},
}

var unfreeze = verb{
	name: "unfreeze", args: " CLUSTER...", least: 1, most: -1, done: "annotated",
	short:   "Unfreeze clusters",
	long:    "Unfreeze clusters: they wait for their turn again.",
	example: "  kubectl cohort unfreeze web edge-7",
	change: func(d decided) (string, error) {
		asked, err := d.asked()
		if err != nil {
			return "", err
		}
		var frozen []string // a freeze may name a cluster that is not there any more
		for _, h := range asked.Freezes {
			frozen = append(frozen, h.Cluster)
		}
		if err := d.knows(without(d.words, frozen)); err != nil {
			return "", err
		}
		words := without(d.words, without(d.words, frozen))
		if len(words) == 0 {
			return "", already(those(without(d.words, nil), "is", "are") + " not frozen")
		}
		asked.Freezes = notOf(asked.Freezes, words)
		return "unfreeze " + strings.Join(words, ", "), d.note(asked)
	},
}

func notOf(freezes []rollout.ClusterFreeze, clusters []string) []rollout.ClusterFreeze {
	return slices.DeleteFunc(slices.Clone(freezes), func(h rollout.ClusterFreeze) bool { return slices.Contains(clusters, h.Cluster) })
}

// sameFreezes says whether both have the same freezes, in whatever order.
func sameFreezes(a, b []rollout.ClusterFreeze) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(h rollout.ClusterFreeze) bool {
		return !slices.ContainsFunc(b, func(other rollout.ClusterFreeze) bool {
			return h.Cluster == other.Cluster && h.Reason == other.Reason && h.Blocks == other.Blocks && h.Until.Equal(other.Until)
		})
	})
}

// blockingLast orders freezes as the annotations have them.
func blockingLast(a, b rollout.ClusterFreeze) int {
	switch {
	case a.Blocks == b.Blocks:
		return 0
	case a.Blocks:
		return 1
	default:
		return -1
	}
}

func freezeText(h rollout.ClusterFreeze, clusters []string) string {
	text := "freeze " + strings.Join(clusters, ", ")
	if h.Reason != "" {
		text += fmt.Sprintf(" by %q", h.Reason)
	}
	if !h.Until.IsZero() {
		text += " until " + h.Until.Format(time.DateTime) + " UTC"
	}
	if h.Blocks {
		return text + "; others wait for them"
	}
	return text + "; no cluster waits for them"
}

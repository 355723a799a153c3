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

var hold = verb{
	name: "hold", args: " CLUSTER...", least: 1, most: -1, done: "annotated",
	short: "Hold clusters, for a reason and perhaps until a time, while the others go on",
	long: `Hold clusters: they do not start, whatever version is wanted, until release or until a time. The others go on without them, and take the
slots; with --block they wait for them. Who has the version keeps it, and is held from the next version on. To hold a cluster again has it another reason and time.`,
	example: `  kubectl cohort hold web edge-7 --reason "maintenance of store 7" --until 2026-01-05T06:00:00Z
  kubectl cohort hold web edge-7 edge-8 --until 12h`,
	flags: func(h *how, s *pflag.FlagSet) {
		s.StringVar(&h.reason, "reason", "", "`why`, which explanations repeat; without a semicolon")
		commandline.Var(s, &h.until, "until", "", "`time` at which the hold ends by itself, in RFC 3339, or for how long, such as 12h")
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
		if sameHolds(before, asked.Freezes) {
			return "", already(those(words, "is", "are") + " held so already")
		}
		says := saysHold(asked.Freezes[len(asked.Freezes)-1], words)
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
			lines = append(lines, those(has, "has the version, and keeps it: the hold is for", "have the version, and keep it: the hold is for")+" another attempt or version")
		}
		return lines
	},
}

var release = verb{
	name: "release", args: " CLUSTER...", least: 1, most: -1, done: "annotated",
	short:   "Release clusters that somebody holds",
	long:    "Release clusters that somebody holds: they wait for their turn again.",
	example: "  kubectl cohort release web edge-7",
	change: func(d decided) (string, error) {
		asked, err := d.asked()
		if err != nil {
			return "", err
		}
		var held []string // a hold may name a cluster that is not there any more
		for _, h := range asked.Freezes {
			held = append(held, h.Cluster)
		}
		if err := d.knows(without(d.words, held)); err != nil {
			return "", err
		}
		words := without(d.words, without(d.words, held))
		if len(words) == 0 {
			return "", already(those(without(d.words, nil), "is", "are") + " not held")
		}
		asked.Freezes = notOf(asked.Freezes, words)
		return "release " + strings.Join(words, ", "), d.note(asked)
	},
}

// notOf are the holds of other clusters.
func notOf(holds []rollout.ClusterFreeze, clusters []string) []rollout.ClusterFreeze {
	return slices.DeleteFunc(slices.Clone(holds), func(h rollout.ClusterFreeze) bool { return slices.Contains(clusters, h.Cluster) })
}

// sameHolds says whether both hold the same, in whatever order.
func sameHolds(a, b []rollout.ClusterFreeze) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(h rollout.ClusterFreeze) bool {
		return !slices.ContainsFunc(b, func(other rollout.ClusterFreeze) bool {
			return h.Cluster == other.Cluster && h.Reason == other.Reason && h.Blocks == other.Blocks && h.Until.Equal(other.Until)
		})
	})
}

// blockingLast orders holds as the annotations have them.
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

// saysHold says what a hold of some clusters is.
func saysHold(h rollout.ClusterFreeze, clusters []string) string {
	text := "hold " + strings.Join(clusters, ", ")
	if h.Reason != "" {
		text += fmt.Sprintf(" by %q", h.Reason)
	}
	if !h.Until.IsZero() {
		text += " until " + h.Until.Format(time.DateTime) + " UTC"
	}
	if h.Blocks {
		return text + "; others wait for that"
	}
	return text + "; nobody waits for that"
}

// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"
	"time"
)

// quoted repeats what a report says of a cluster, cut where it is long.
func quoted(cluster, message string) string {
	const most = 200
	text := []rune(message)
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return fmt.Sprintf("%s: %q", cluster, string(text))
}

func plural(many bool, one, more string) string {
	if many {
		return more
	}
	return one
}

// inUTC writes a time in whole seconds, rounded up so that the time has come by then.
func inUTC(at time.Time) string {
	if at.Nanosecond() > 0 {
		at = at.Truncate(time.Second).Add(time.Second)
	}
	return at.UTC().Format(time.RFC3339)
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// clusters counts clusters.
func clusters(n int) string { return fmt.Sprintf("%d %s", n, plural(n > 1, "cluster", "clusters")) }

// maxNamed is how many clusters a breach names.
const maxNamed = 3

// listed joins the first names of n, and counts the others: "a, b and 2 more".
func listed(names []string, n int) string {
	text := strings.Join(names, ", ")
	if more := n - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func latest(times ...time.Time) (last time.Time) {
	for _, other := range times {
		if other.After(last) {
			last = other
		}
	}
	return last
}

// deselectedMark follows the name of a deselected cluster, in sentences.
const deselectedMark = " (deselected)"

// SPDX-License-Identifier: Apache-2.0

package picture_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
)

// event is a cluster that goes from one state to another.
type event struct {
	after    time.Duration
	group    int
	from, to picture.State
}

// told makes a timeline of events, as the groups, all of the same size, lived them.
func told(groups, size int, events []event) (t picture.Timeline) {
	slices.SortStableFunc(events, func(a, b event) int { return int(a.after - b.after) })
	var all picture.Counts
	all[picture.Waiting] = groups * size
	parts := make([]picture.Counts, groups)
	for i := range parts {
		parts[i][picture.Waiting] = size
		t.Groups = append(t.Groups, picture.Group{Index: i, Clusters: size})
	}
	t.Points = []picture.Point{{Counts: all}}
	for _, e := range events {
		for _, c := range []*picture.Counts{&all, &parts[e.group]} {
			c[e.from]--
			c[e.to]++
		}
		t.Points = append(t.Points, picture.Point{After: e.after, Counts: all})
		t.Groups[e.group].Points = append(t.Groups[e.group].Points, picture.Point{After: e.after, Counts: parts[e.group]})
	}
	return t
}

// stopped is a rollout to 320 clusters in 8 groups, one group after another, that stops in the third.
func stopped() picture.Timeline {
	var events []event
	for i := range 96 {
		group, begin := i/40, time.Duration(i/40)*20*time.Minute+time.Duration(i%40/20)*10*time.Minute
		end := picture.Soaking
		switch {
		case i >= 80 && i%4 == 0:
			end = picture.Failed
		case i == 7:
			events = append(events, event{begin, group, picture.Waiting, picture.InFlight},
				event{begin + 30*time.Minute, group, picture.InFlight, picture.TimedOut})
			continue
		}
		took := time.Duration(5+i%5) * time.Minute
		events = append(events, event{begin, group, picture.Waiting, picture.InFlight},
			event{begin + took, group, picture.InFlight, end})
		if end == picture.Soaking {
			events = append(events, event{begin + took + 4*time.Minute, group, picture.Soaking, picture.Succeeded})
		}
	}
	t := told(8, 40, events)
	t.Groups[0].Name = "canary"
	t.Title, t.Sentence = "default/prod: 320 clusters, ManifestWorkReplicaSet default/web", "Stopped: 4 clusters of group 2 failed, 3 are tolerated."
	t.Mark = picture.Mark{After: 48 * time.Minute, Label: "stopped"}
	return t
}

// large is a rollout in which every cluster has a time of its own.
func large(groups, size int) picture.Timeline {
	random := rand.New(rand.NewPCG(1, 2))
	var events []event
	for group := range groups {
		for range size {
			begin := time.Duration(random.Int64N(int64(24 * time.Hour)))
			took := time.Duration(random.Int64N(int64(time.Hour)))
			end := picture.State(random.IntN(int(picture.Waiting)))
			events = append(events, event{begin, group, picture.Waiting, picture.InFlight}, event{begin + took, group, picture.InFlight, end})
		}
	}
	t := told(groups, size, events)
	t.Title, t.Sentence = fmt.Sprintf("%d clusters", groups*size), "Complete."
	t.Mark = picture.Mark{After: t.End(), Label: "complete"}
	return t
}

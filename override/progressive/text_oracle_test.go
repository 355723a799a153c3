// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// textOracle is OCM's document "Progressive Policy Rollout" as a state machine: what is enforced on each cluster, and what the statuses
// say. It is written from the document, and where that is silent from RULES.md, by an author who had not read the package. It keeps
// its own state, and looks at the hub in one case alone (mayWait).
type textOracle struct {
	textStrategy
	now        time.Time
	generation int64
	content    string
	disabled   bool
	groups     []string
	approved   map[string]bool
	hidden     string

	got      bool   // a cluster has got the version in this rollout
	uid      int    // of the rollout; 0 if no object has one
	retry    int    // spec.retryRollout.rolloutUID
	begun    int    // how many rollouts have begun
	rolled   int64  // currentRolloutGeneration
	end      string // "", "Succeeded" or "Failed"
	last     string // the content of lastSuccessful
	clusters map[string]textCluster
}

type textCluster struct {
	selected bool
	group    string
	naughty  bool

	content string // of the policy on the cluster; "" if there is none
	inform  bool   // a user changed the action of the policy on the cluster
	answer  string // the content that the cluster's last report is about
	comply  bool   // what that report says
	heard   bool   // it has reported since the policy on it was last written

	turn    bool // it has had its turn in this rollout
	since   time.Time
	status  status.RolloutStatus
	shown   status.RolloutStatus // on the policy of the cluster, which is written after the end of the rollout is stored
	counts  string               // the group in which a cluster in flight or failed counts; while groups are incomplete, the one before
	noted   bool                 // while groups are incomplete: the record has that group
	joined  bool                 // it joined after the rollout, and is shown as NewCluster until it is deselected
	back    bool                 // it was offline, and got the last successful version (O40)
	lost    bool                 // it was deselected in flight, and is selected again after the rollout has failed
	refused bool                 // it failed, was deselected, and is selected again (O41)
}

func (o *textOracle) copy() *textOracle {
	c := *o
	c.clusters, c.approved = maps.Clone(o.clusters), maps.Clone(o.approved)
	return &c
}

func (o *textOracle) names() []string { return slices.Sorted(maps.Keys(o.clusters)) }

// settle is what the hub comes to if nothing else happens at this time. MayWait says of a cluster that it waits on the hub although
// its turn has come.
func (o *textOracle) settle(mayWait func(cluster string) bool) {
	if o.disabled { // O42
		for name, c := range o.clusters {
			c.content, c.inform, c.answer = "", false, ""
			o.clusters[name] = c
		}
		return
	}
	for range 20 {
		o.begin()
		before := o.copy()
		for _, name := range o.names() {
			if name != o.hidden {
				o.clusters[name] = o.judged(o.clusters[name])
			}
		}
		if o.finish(); o.end != before.end {
			o.clusters = before.clusters
			continue // stored before anything else: an edit by hand is not written back yet, and a retry may begin (O32, O33)
		}
		o.start(mayWait)
		o.place()
		for name, c := range o.clusters {
			is := o.judged(c)
			o.got = o.got || c.turn && (c.selected && name != o.hidden || (is.inFlight() || is.failed()) && !o.ignored(c))
		}
		if maps.Equal(before.clusters, o.clusters) && before.end == o.end {
			return
		}
	}
	panic("the oracle finds no end")
}

// begin is O32 and O33.
func (o *textOracle) begin() {
	if o.uid != 0 && o.rolled == o.generation && !(o.end == "Failed" && o.retry == o.uid) {
		if o.end == "Succeeded" && o.last != o.content { // edited by hand: O34
			o.end, o.got = "", false
		}
		return
	}
	o.begun++
	o.uid, o.rolled, o.end, o.got = o.begun, o.generation, "", false
	for name, c := range o.clusters {
		c.turn, c.joined, c.back, c.lost, c.refused, c.status = false, false, false, false, false, ""
		o.clusters[name] = c
	}
}

func (c textCluster) inFlight() bool {
	return c.turn && c.status == status.Progressing
}

func (c textCluster) failed() bool {
	return c.turn && (c.status == status.Failed || c.status == status.TimeOut)
}

// judged is the status of a cluster: the table of the document, and O37 to O41.
func (o *textOracle) judged(c textCluster) textCluster {
	if c.turn && c.selected && c.inform && !c.refused && !c.lost && (!c.back || c.content == o.last) {
		c, c.since = c.restored(), o.now
	}
	switch {
	case !c.turn || c.back || c.refused:
		return c
	case c.shown == status.Succeeded && o.end == "Succeeded": // O39
		c.status = status.Succeeded
		return o.counted(c)
	}
	answered := !c.lost && c.content != "" && !c.inform && c.answer == c.content
	late := o.deadline && !o.now.Before(c.since.Add(textDeadline))
	switch {
	case !c.selected && c.failed():
	case answered && c.comply:
		c.status = status.Succeeded
		c = o.counted(c)
	case !late:
		c.status = status.Progressing
	case answered:
		c.status = status.Failed
	default:
		c.status = status.TimeOut
	}
	return c
}

// counted is a cluster which has succeeded: it counts where it is selected. Incomplete groups don't tell where that is (O43).
func (o *textOracle) counted(c textCluster) textCluster {
	if o.hidden == "" {
		c.counts = c.group
	}
	return c
}

// stages are the groups that go one after the other. Under manualPerGroup those that are not approved are not among them.
func (o *textOracle) stages() (stages [][]string) {
	var mandatory, others [][]string
	for _, group := range o.groups {
		switch {
		case group == o.mandatory && o.mandatory != "" && o.kind != "All":
			mandatory = append(mandatory, []string{group})
		case o.kind == "manualPerGroup" && !o.approved[group]:
		case o.kind == "All" || o.kind == "Progressive":
			if len(others) == 0 {
				others = [][]string{nil}
			}
			others[0] = append(others[0], group)
		default:
			others = append(others, []string{group})
		}
	}
	return append(mandatory, others...)
}

// members are the clusters that count in the groups: those that are selected, and those that are not any more and have not ended.
func (o *textOracle) members(groups []string) (members []string) {
	for _, name := range o.names() {
		c := o.clusters[name]
		group := c.group
		if c.inFlight() || c.failed() {
			group = c.counts
		}
		known := c.selected && name != o.hidden || c.turn && o.kind != "All" && (c.inFlight() || c.failed())
		if known && slices.Contains(groups, group) && !o.ignored(c) {
			members = append(members, name)
		}
	}
	return members
}

// ignored is a cluster for which nothing waits. A deadline makes the rollout wait, but its failure counts nowhere (tolerated).
func (o *textOracle) ignored(c textCluster) bool { return o.ignores && c.naughty && !o.deadline }

func (o *textOracle) failures(groups []string) (n int) {
	for _, name := range o.members(groups) {
		if c := o.clusters[name]; c.failed() && !(o.ignores && c.naughty) && !(c.joined && o.kind == "All") {
			n++
		}
	}
	return n
}

func (o *textOracle) breached() bool {
	switch o.kind {
	case "All":
		return false
	case "Progressive":
		if o.failures(o.groups) > o.maxFailures {
			return true
		}
	}
	for _, group := range o.groups {
		budget := o.maxFailures
		if group == o.mandatory && group != "" {
			budget = 0
		}
		if (o.kind != "Progressive" || group == o.mandatory && group != "") && o.failures([]string{group}) > budget {
			return true
		}
	}
	return false
}

// finish is O34.
func (o *textOracle) finish() {
	if o.end != "" || o.hidden != "" {
		return
	}
	if o.breached() {
		o.end = "Failed"
		return
	}
	selected := 0
	for _, name := range o.names() {
		c := o.clusters[name]
		if c.selected {
			selected++
			if !c.turn {
				return
			}
		}
		if c.turn && c.inFlight() && !o.ignored(c) && (c.selected || o.kind != "All") {
			return
		}
	}
	switch {
	case selected == 0:
	case o.kind == "All" && o.failures(o.groups) > 0:
		o.end = "Failed"
	default:
		o.end, o.last = "Succeeded", o.content
	}
}

// start gives the version to the clusters that have their turn.
func (o *textOracle) start(mayWait func(string) bool) {
	if o.end != "" || o.hidden != "" {
		return
	}
	for _, stage := range o.stages() {
		room := 1000
		if o.kind == "Progressive" && o.concurrency > 0 && !slices.Equal(stage, []string{o.mandatory}) {
			room = o.concurrency
		}
		var waiting []string
		settled := true
		for _, name := range o.members(stage) {
			switch c := o.clusters[name]; {
			case !c.turn:
				waiting = append(waiting, name)
				settled = false
			case c.inFlight():
				settled = false
				room--
			}
		}
		// Clusters that have a policy come first (R8).
		slices.SortStableFunc(waiting, func(a, b string) int {
			return compareBool(o.clusters[a].content == "", o.clusters[b].content == "")
		})
		for _, name := range o.names() { // ignored clusters: with their group (O47)
			if c := o.clusters[name]; o.ignored(c) && c.selected && !c.turn && slices.Contains(stage, c.group) {
				o.give(name)
			}
		}
		for _, name := range waiting {
			if room > 0 && !(mayWait(name) && o.crowded()) {
				o.give(name)
				room--
			}
		}
		if !settled {
			return
		}
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// crowded says that a cluster which is not done counts elsewhere than where it is selected, or in a group behind the one that has its
// turn. Then the document does not say how many clusters have to wait, and R65 and R66 do.
func (o *textOracle) crowded() bool {
	groups := slices.Concat(o.stages()...)
	first := len(groups)
	for i, group := range groups {
		for _, name := range o.members([]string{group}) {
			if c := o.clusters[name]; !c.turn || c.inFlight() {
				first = min(first, i)
			}
		}
	}
	for _, name := range o.names() {
		c := o.clusters[name]
		if !c.inFlight() && !c.failed() {
			continue
		}
		at := slices.Index(groups, c.counts)
		if !c.selected || c.counts != c.group || at < 0 || at > first && o.kind != "Progressive" || o.mandatory != "" && at > first {
			return true
		}
	}
	return false
}

func (o *textOracle) give(name string) {
	o.got = true
	c := o.clusters[name].restored()
	c.turn, c.content, c.inform, c.since, c.status, c.counts = true, o.content, false, o.now, status.Progressing, c.group
	o.clusters[name] = c
}

// place is what each cluster has beside the turns: O36 to O41.
func (o *textOracle) place() {
	for _, name := range o.names() {
		c := o.clusters[name]
		if name == o.hidden {
			continue
		}
		switch {
		case c.selected && c.turn && c.content == "" && o.ignored(c) && o.hidden == "": // no entry of an ignored cluster counts (R49)
			c.turn = false
		case !c.selected:
			if c.content != "" && o.hidden == "" {
				c.content, c.inform, c.answer = "", false, ""
			}
			if o.hidden == "" && (o.kind == "All" || o.end == "Succeeded" || o.ignored(c) || !c.inFlight() && !c.failed()) {
				c.turn, c.joined, c.back, c.lost, c.refused, c.status = false, false, false, false, false, ""
			} else if o.hidden == "" && c.failed() {
				c.status = status.TimeOut // as the record has it (R48)
			}
		case o.end == "Succeeded" && (!c.turn || c.refused || c.lost || c.content == "") && o.hidden == "":
			o.give(name)
			c = o.clusters[name]
			c.joined, c.refused, c.lost = true, false, false
		case c.turn && (c.content == "" || c.lost) && !c.refused: // selected again
			if c.failed() {
				c.refused, c.lost, c.joined = true, false, false
			} else if o.end == "Failed" {
				c.lost, c.joined = true, false
			} else if o.hidden == "" {
				c.content, c.since, c.heard, c.joined, c.lost = o.content, o.now, false, false, false
			}
		case o.end == "Failed" && c.turn && !c.refused && c.status == status.TimeOut && o.last != "" && c.content != o.last:
			c = c.restored()
			c.back, c.content, c.inform = true, o.last, false
		}
		if c.selected && (!c.turn || c.refused || c.lost) {
			if !c.turn {
				c.status = status.ToApply
			}
			switch {
			case c.content == "" && o.last != "" && o.hidden == "":
				c.content, c.heard = o.last, false
			case c.inform && c.content == o.last:
				c = c.restored()
			}
		}
		c.shown = c.status
		o.clusters[name] = c
	}
}

// restored is a cluster after an edit by hand. If it has reported since the write before, the report may be about the edit.
func (c textCluster) restored() textCluster {
	if c.heard && c.inform {
		c.answer = ""
	}
	c.inform, c.heard = false, false
	return c
}

func (o *textOracle) view() textView {
	v := textView{Clusters: map[string]string{}, Last: o.last, Generation: o.rolled, Root: status.RolloutStatus(o.end)}
	if o.end == "" {
		v.Root = map[bool]status.RolloutStatus{false: status.ToApply, true: status.Progressing}[o.got]
	}
	for name, c := range o.clusters {
		action := map[bool]string{false: "enforce", true: "inform"}[c.inform]
		if c.content != "" {
			v.Clusters[name] = fmt.Sprintf("%s %s", c.content, action)
		}
		switch {
		case name == o.hidden: // the root's status keeps what it said
		case c.selected && c.joined:
			v.Clusters[name] += " NewCluster"
		case c.selected && (c.content == "" || c.lost) && c.inFlight(): // it has to wait
			v.Clusters[name] += " ToApply"
		case c.selected, (c.inFlight() || c.failed()) && !o.ignored(c):
			v.Clusters[name] += " " + string(c.status)
		}
	}
	return v
}

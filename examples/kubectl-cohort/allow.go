// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
)

var allow = verb{
	name: "allow", args: " [CLUSTER...]", most: -1, done: "annotated",
	short: "Allow clusters for the version that is wanted now: these start, and no others",
	long: `Allow clusters for the version that is wanted now: only these start. Without a cluster it is all that are selected now.

From the first allow on, only allowed clusters start. A cluster that joins later has to be allowed, and so have all clusters for each later
version. With --and-later that ends: all start, also those that join later. Gates, freezes and the strategy apply as before.`,
	example: `  kubectl cohort allow web --dry-run          which clusters would it be, and what follows?
  kubectl cohort allow web                    all that are selected now
  kubectl cohort allow web edge-7 edge-8      these two, besides those that are allowed already`,
	flags: func(h *how, s *pflag.FlagSet) {
		s.BoolVar(&h.later, "and-later", false, "end the allowlist: all clusters start, also those that join later, of any version")
	},
	change: func(d decided) (string, error) {
		asked, err := d.asked()
		switch {
		case err != nil:
			return "", err
		case d.how.later && len(d.words) > 0:
			return "", errors.New("--and-later: must be given without clusters")
		case d.how.later && asked.Allowlist.Version == "":
			return "", already("there is no allowlist: all clusters start")
		case d.how.later:
			asked.Allowlist = approvals.Allowlist{}
			return "allow all clusters, those that join later, and later versions", d.note(asked)
		}
		if err := d.knows(d.words); err != nil {
			return "", err
		}
		wanted := d.words
		if len(wanted) == 0 {
			wanted = d.selected()
		}
		var allowed []string
		if asked.Allowlist.Version == d.version() {
			allowed = asked.Allowlist.Clusters
		}
		more := without(wanted, allowed)
		switch {
		case len(more) > 0:
		case len(d.words) == 0:
			return "", already(fmt.Sprintf("all clusters are allowed for version %s already", d.version()))
		default:
			return "", already(fmt.Sprintf("%s allowed for version %s already", those(d.words, "is", "are"), d.version()))
		}
		if len(allowed) == 0 { // a cluster that has the version is retried without another allow
			allowed = d.have()
		}
		asked.Allowlist = approvals.Allowlist{Version: d.version(), Clusters: sorted(allowed, more)}
		return fmt.Sprintf("allow %s for version %s: %s", of(len(more), "1 cluster", "%d clusters"), d.version(), output.Named(more)), d.note(asked)
	},
}

var startFirst = verb{
	name: "start-first", args: " CLUSTER...", least: 1, most: -1, done: "annotated",
	short: "Let some clusters start before all others, past gates and freezes",
	long: `Let some clusters start before all others, with the version that is wanted now: their freezes end, the gates before them open, and every other
cluster that does not have the version waits to be allowed. No other cluster starts then. The strategy applies as before: they take
slots, and too many failures or a pause stop them, too. After that, allow lets the others go on.`,
	example: `  kubectl cohort start-first web edge-7       edge-7 first, although the gate before it is closed
  kubectl cohort allow web                    then all others`,
	change: func(d decided) (string, error) {
		asked, err := d.askedOf(d.words)
		if err != nil {
			return "", err
		}
		have := d.have()
		words := without(d.words, have)
		if len(words) == 0 {
			return "", already(fmt.Sprintf("%s version %s", those(without(d.words, nil), "has", "have"), d.version()))
		}
		was, dropped := asked, []string(nil)
		if asked.Allowlist.Version == d.version() {
			dropped = without(asked.Allowlist.Clusters, append(have, words...))
		}
		asked.Allowlist = approvals.Allowlist{Version: d.version(), Clusters: sorted(have, words)}
		asked.Freezes = notOf(asked.Freezes, words)
		opened, err := d.openBefore(&asked, words)
		if err != nil {
			return "", err
		}
		if len(opened) == 0 && sameFreezes(was.Freezes, asked.Freezes) && was.Allowlist.Version == d.version() && len(dropped) == 0 && len(without(words, was.Allowlist.Clusters)) == 0 {
			return "", already(those(words, "is", "are") + " first already")
		}
		says := fmt.Sprintf("start %s first, with version %s", strings.Join(words, ", "), d.version())
		if len(was.Freezes) > len(asked.Freezes) {
			says += "; the freezes of these end"
		}
		if len(opened) > 0 {
			says += "; the gate before " + groupWords(opened) + " opens"
		}
		says += "; all others that do not have it wait to be allowed"
		if len(dropped) > 0 {
			says += ", also " + output.Named(dropped)
		}
		return says, d.note(asked)
	},
}

// openBefore opens the gates that block clusters, one after the other, and names them.
func (d decided) openBefore(asked *approvals.Approvals, clusters []string) (opened []string, err error) {
	for range asked.Gates {
		before := len(opened)
		for _, p := range d.parts {
			then := *p.rollout
			then.Asked = *asked
			plan, err := then.Now(then.Options(), d.now)
			if err != nil {
				return nil, err
			}
			for _, cluster := range clusters {
				for _, link := range plan.Explain(cluster) {
					if link.Reason.Type != rollout.BlockGateClosed {
						continue
					}
					if gate, is := d.gateBefore(*asked, p.rollout.Placement.Name, link.Reason.Group); is {
						d.open(asked, gate)
						opened = append(opened, groupWord(gate))
					}
				}
			}
		}
		if len(opened) == before {
			break
		}
	}
	return opened, nil
}

// gateBefore is the closed gate before a group of a placement, as the annotations have it.
func (d decided) gateBefore(asked approvals.Approvals, placement string, group grouping.Key) (grouping.Key, bool) {
	for _, gate := range asked.Gates {
		key := gate.Group
		switch {
		case d.isOpen(asked, gate), key.Placement != "" && key.Placement != placement && key.Placement != group.Placement:
		case key.Name != "" && key.Name == group.Name, key.Name == "" && key.Index == group.Index:
			return key, true
		}
	}
	return grouping.Key{}, false
}

// sorted are the names of both, once each, in order.
func sorted(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

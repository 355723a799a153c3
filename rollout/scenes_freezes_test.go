// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// people is what people and validators said in a scene.
type people struct {
	validated bool
	verdicts  []status.Verdict
	freezes   map[string][]rollout.ClusterFreeze
}

// judge gives what the verdicts make of reports.
func (p *people) judge(reports []status.Report) []status.Report {
	if !p.validated {
		return reports
	}
	return status.Judge(reports, "v", p.verdicts)
}

// decide takes in a line about what people say, and says whether there is such a line.
func (s *stage) decide(words []string, rest string) (known bool, err error) {
	switch words[0] {
	case "validated":
		s.people.validated = true
	case "freeze":
		err = s.freeze(words[1], strings.TrimPrefix(rest, words[1]))
	case "unfreeze":
		delete(s.people.freezes, words[1])
		s.freezeAll()
	case "allowlist":
		s.options["allowlist"] = rollout.Options{Allowlist: append([]string{}, clustersIn(rest)...)}
	case "verdict":
		err = s.verdict(words[1:])
	default:
		return false, nil
	}
	return true, err
}

// freeze reads ` by "its site" until 13:00 blocking`.
func (s *stage) freeze(cluster, text string) error {
	h := rollout.ClusterFreeze{Cluster: cluster}
	text, h.Blocks = strings.CutSuffix(text, " blocking")
	text, until, timed := strings.Cut(text, " until ")
	if _, reason, by := strings.Cut(text, " by "); by {
		h.Reason = strings.Trim(reason, `"`)
	}
	if timed {
		at, err := time.Parse("15:04", until)
		if err != nil {
			return err
		}
		h.Until = now.Truncate(24 * time.Hour).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
	}
	if s.people.freezes == nil {
		s.people.freezes = map[string][]rollout.ClusterFreeze{}
	}
	s.people.freezes[cluster] = append(s.people.freezes[cluster], h)
	s.freezeAll()
	return nil
}

// freezeAll makes an option of the holds.
func (s *stage) freezeAll() {
	var all []rollout.ClusterFreeze
	for _, cluster := range slices.Sorted(maps.Keys(s.people.freezes)) {
		all = append(all, s.people.freezes[cluster]...)
	}
	s.options["holds"] = rollout.Options{Freezes: all}
}

func (s *stage) verdict(words []string) (err error) {
	v := status.Verdict{Cluster: words[0], Version: "v"}
	words = words[1:]
	for ; len(words) > 1; words = words[2:] {
		if words[0] == "version" {
			v.Version = words[1]
			continue
		} else if words[0] != "attempt" {
			break
		}
		if v.Attempt, err = strconv.Atoi(words[1]); err != nil {
			return err
		}
	}
	age, err := time.ParseDuration(words[1])
	v.Result, v.Time, v.Message = status.ValidationResult(words[0]), s.now.Add(-age), strings.Join(words[2:], " ")
	s.people.verdicts = append(s.people.verdicts, v)
	return err
}

// beside does the commands about what stands beside a plan.
func (s *stage) beside(c scene.Command, result *rollout.Result, groups *grouping.Groups, reports []status.Report) (string, error) {
	number := func() (int, error) { return strconv.Atoi(cmp.Or(strings.Join(c.Args, ""), "0")) }
	switch c.Name {
	case "wouldStart":
		index, err := number()
		clusters, otherwise := result.WouldStart(grouping.Key{Index: int32(index)})
		if len(clusters) == 0 && otherwise == (rollout.BlockReason{}) {
			return "none waits", err
		}
		return fmt.Sprintf("would start %v %v", names(clusters), otherwise), err
	case "positions":
		all := result.Positions(nil)
		var lines []string
		for _, cluster := range slices.Sorted(maps.Keys(all)) {
			p := all[cluster]
			lines = append(lines, fmt.Sprintf("%s is %d of %d, in its group %d of %d", cluster, p.Index, p.Of, p.InGroup, p.OfGroup))
		}
		return strings.Join(lines, "\n"), nil
	case "removals":
		most, err := number()
		if err != nil {
			return "", err
		}
		next, err := rollout.Removals(s.strategy, groups, reports, most, s.opts())
		return fmt.Sprintf("remove %v", next), err
	}
	return "", fmt.Errorf("no such command as %s", c.Name)
}

// names gives the names of clusters.
func names(clusters []rollout.Cluster) (all []string) {
	for _, c := range clusters {
		all = append(all, c.Name)
	}
	return all
}

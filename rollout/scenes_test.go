// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// stage is where a scene is played. Its commands and lines stand in testdata/scenes/README.md.
type stage struct {
	placements []string // by their order
	decisions  map[string][]*clusterv1beta1.PlacementDecision
	size       *intstr.IntOrString
	selected   int
	strategy   clusterv1alpha1.RolloutStrategy
	options    map[string]rollout.Options
	grace      time.Duration
	gone       []string
	reports    map[string][]status.Report
	now        time.Time

	last    *rollout.Result
	planner *rollout.Planner
	told    map[string][]status.Report
	people  people
}

// Every example of the design documents, and every sentence that the package has: R1 to R30, S9.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := newStage()
		return func(c scene.Command) string {
			text, err := s.do(c)
			if err != nil {
				return "error: " + strings.ReplaceAll(err.Error(), "\n", "\nerror: ")
			}
			return text
		}
	})
}

func newStage() *stage {
	return &stage{
		decisions: map[string][]*clusterv1beta1.PlacementDecision{}, options: map[string]rollout.Options{},
		reports: map[string][]status.Report{}, now: now, planner: &rollout.Planner{}, told: map[string][]status.Report{},
	}
}

func (s *stage) do(c scene.Command) (string, error) {
	switch c.Name {
	case "fleet":
		*s = *newStage()
	case "strategy":
		s.strategy = clusterv1alpha1.RolloutStrategy{}
		if err := yaml.UnmarshalStrict([]byte(c.Input), &s.strategy); err != nil {
			return "", err
		}
		c.Input = ""
	}
	for line := range strings.Lines(c.Input) {
		if err := s.change(strings.TrimSpace(line)); err != nil {
			return "", err
		}
	}
	groups, err := s.groups()
	if err != nil {
		return "", err
	}
	switch c.Name {
	case "next":
		return s.next(groups)
	case "expose", "limit":
		return s.expose(c, groups)
	}
	var reports []status.Report
	for _, cluster := range slices.Sorted(maps.Keys(s.reports)) {
		reports = append(reports, s.people.judge(s.reports[cluster])...)
	}
	result, err := rollout.Plan(s.strategy, groups, reports, s.now, s.opts())
	if err != nil {
		return "", err
	}
	switch c.Name {
	case "fleet", "strategy":
		return fmt.Sprintf("%s: %v", result.Schedule.Type, result.Schedule), nil
	case "plan":
		s.last = result
		if len(c.Args) > 0 {
			return result.String(), nil
		}
		return describe(result), nil
	case "explain":
		return explain(result.Explain(c.Args[0])), nil
	case "find":
		disposition, reason, _ := result.Find(c.Args[0])
		return fmt.Sprintf("%s: %v", disposition, reason), nil
	case "blockers":
		var lines []string
		for _, b := range result.Blockers() {
			lines = append(lines, fmt.Sprintf("%v (holds up %d)", b, b.Waiting))
		}
		return strings.Join(lines, "\n"), nil
	case "summary":
		return summarize(result.Summary(), s.now), nil
	case "changes":
		previous := s.last
		if s.last = result; previous == nil {
			previous = &rollout.Result{}
		}
		return result.Changes(previous).String(), nil
	case "json":
		text, err := json.MarshalIndent(result, "", " ")
		return string(text), err
	default:
		return s.beside(c, result, groups, reports)
	}
}

func (s *stage) expose(c scene.Command, groups *grouping.Groups) (string, error) {
	var times []time.Duration
	for _, arg := range c.Args {
		d, _ := time.ParseDuration(arg)
		times = append(times, d)
	}
	if c.Name == "limit" {
		var b exposure.Bounds
		b.Exposed, _ = strconv.Atoi(c.Args[0])
		b.Finish = append(times, 0)[1]
		l, err := exposure.Limit(s.strategy, groups, exposure.Span{Shortest: 30 * time.Minute, Longest: 30 * time.Minute}, s.now, b, s.opts())
		return l.String(), err
	}
	e, err := exposure.Of(s.strategy, groups, exposure.Span{Shortest: times[0], Longest: times[1]}, s.now, s.opts())
	lines := []string{e.String()}
	for _, stage := range e.Stages {
		lines = append(lines, stage.String())
	}
	for _, w := range e.Warnings {
		lines = append(lines, "warning: "+w.String())
	}
	for _, w := range e.Weaknesses {
		lines = append(lines, "warning: "+w.String())
	}
	return strings.Join(lines, "\n"), err
}

// describe has a line for each part of Result.String, and the warnings.
func describe(r *rollout.Result) string {
	text := partsOfString.ReplaceAllString(r.String(), "\n$1")
	for _, w := range r.Warnings {
		text += "\nwarning: " + w.String()
	}
	return text
}

// partsOfString is where a part of Result.String begins.
var partsOfString = regexp.MustCompile(`; (in flight|timed out|remove |\d+ (?:more )?clusters? blocked:|the rollout is stopped:|recheck)`)

func explain(e rollout.Explanation) string {
	if len(e) == 0 {
		return "not blocked"
	}
	var lines []string
	for _, l := range e {
		lines = append(lines, l.String())
		for _, b := range l.Blockers {
			lines = append(lines, "  "+b.String())
		}
		if l.More > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more", l.More))
		}
		for _, r := range l.Remedies {
			if r.Type == rollout.RemedyWait {
				lines = append(lines, "  "+r.String())
			}
		}
	}
	return strings.Join(lines, "\n")
}

func summarize(s status.Summary, now time.Time) string {
	var conditions []metav1.Condition
	status.SetConditions(&conditions, s, 1, now)
	var lines []string
	for _, c := range conditions {
		if c.Status == metav1.ConditionTrue {
			lines = append(lines, fmt.Sprintf("%s, %s: %s", c.Type, c.Reason, c.Message))
		}
	}
	for _, g := range s.Groups {
		lines = append(lines, g.String())
	}
	return strings.Join(lines, "\n")
}

func (s *stage) next(groups *grouping.Groups) (string, error) {
	if err := s.planner.SetStrategy(s.strategy, s.opts()); err != nil {
		return "", err
	}
	s.planner.SetGroups(groups)
	judged := make(map[string][]status.Report, len(s.reports))
	for cluster, reports := range s.reports {
		judged[cluster] = s.people.judge(reports)
	}
	for cluster, reports := range judged {
		if !slices.Equal(s.told[cluster], reports) {
			if err := s.planner.Report(reports...); err != nil {
				return "", err
			}
		}
	}
	for cluster := range s.told {
		if s.reports[cluster] == nil {
			s.planner.Forget(cluster)
		}
	}
	s.told = judged
	return s.planner.Next(s.now).String(), nil
}

func (s *stage) opts() rollout.Options {
	var opts rollout.Options
	for _, key := range slices.Sorted(maps.Keys(s.options)) {
		opts = merged(opts, s.options[key])
	}
	if s.grace > 0 || s.last != nil {
		opts.RemoveAfter = metav1.Duration{Duration: s.grace}
		opts.Previous = s.last
	}
	return opts
}

func (s *stage) groups() (*grouping.Groups, error) {
	var parts []grouping.PlacementGroups
	for _, name := range s.placements {
		decisions := s.decisions[name]
		var placement *clusterv1beta1.Placement
		if s.size != nil || s.selected > 0 {
			placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
			placement.Status.NumberOfSelectedClusters = int32(s.selected)
			if s.size != nil {
				placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = *s.size
			}
			for _, d := range decisions {
				if s.selected == 0 {
					placement.Status.NumberOfSelectedClusters += int32(len(d.Status.Decisions))
				}
			}
		}
		groups, err := grouping.Read(placement, decisions)
		if err != nil {
			return nil, err
		}
		parts = append(parts, grouping.PlacementGroups{Placement: name, Groups: groups})
	}
	switch len(parts) {
	case 0:
		return nil, nil
	case 1:
		return parts[0].Groups.Only(func(_ grouping.Key, cluster string) bool { return !slices.Contains(s.gone, cluster) }), nil
	default:
		return grouping.Join(parts...)
	}
}

// change takes in a line.
func (s *stage) change(line string) error {
	words := strings.Fields(line)
	var rest string
	if len(words) > 1 {
		rest = strings.TrimSpace(strings.TrimPrefix(line, words[0]))
	}
	switch words[0] {
	case "group":
		return s.addGroup(line)
	case "cutAnew":
		clear(s.decisions)
		return nil
	case "placement":
		s.placements = append(s.placements, rest)
	case "strategy":
		return s.read(rest)
	case "size":
		size := intstr.Parse(rest)
		s.size = &size
	case "selected":
		s.selected, _ = strconv.Atoi(rest)
	case "at":
		at, err := time.Parse("15:04", rest)
		s.now = now.Truncate(24 * time.Hour).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
		return err
	case "paused":
		s.options["paused"] = rollout.Options{Paused: true}
	case "resumed":
		delete(s.options, "paused")
	case "failedFreesSlot":
		s.options["failed"] = rollout.Options{FailedFreesSlot: true}
	case "maxConcurrencyPerGroup":
		s.options["perGroup"] = rollout.Options{MaxConcurrencyPerGroup: intstr.Parse(rest)}
	case "ignored":
		s.options["ignored"] = rollout.Options{Ignored: clustersIn(rest)}
	case "failedBefore":
		s.options["failedBefore"] = rollout.Options{FailedBefore: clustersIn(rest)}
	case "attempt":
		n, err := strconv.Atoi(rest)
		s.options["attempt"] = rollout.Options{Attempt: n}
		return err
	case "removeAfter":
		grace, err := time.ParseDuration(rest)
		s.grace = grace
		return err
	case "recordMore":
		n, err := strconv.Atoi(rest)
		s.options["remember"] = rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v", More: n}}}
		return err
	case "recorded":
		age, err := time.ParseDuration(words[3])
		at := s.now.Add(-age)
		m := &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v"}, AtOnce: true}
		if before := s.options["remember"].StoredRecord; before != nil {
			m.Record.Deselected = before.Record.Deselected
		}
		m.Record.Deselected = append(m.Record.Deselected, status.DeselectedCluster{Report: status.Report{Cluster: words[1], Status: status.RolloutStatus(words[2]), Applied: at, LastTransitionTime: at}})
		s.options["remember"] = rollout.Options{StoredRecord: m}
		return err
	case "deselected":
		s.gone = clustersIn(rest)
	case "maxRemoved":
		s.options["maxRemoved"] = rollout.Options{MaxRemoved: ptr(intstr.Parse(rest))}
	case "order":
		s.options["order"] = rollout.Options{Order: func(a, b string) int { return cmp.Compare(b, a) }}
	case "waitBetweenGroups":
		d, err := time.ParseDuration(rest)
		s.options["waitBetweenGroups"] = rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: d}}
		return err
	case "ramp":
		initial, err := strconv.Atoi(rest)
		s.options["ramp"] = rollout.Options{Ramp: ptr(initial)}
		return err
	case "shares":
		start, err := strconv.Atoi(words[1])
		fail, err2 := strconv.Atoi(words[2])
		s.options["shares"] = rollout.Options{Shares: &rollout.Shares{Concurrency: start, Failures: fail}}
		return errors.Join(err, err2)
	case "maxStarts":
		n, err := strconv.Atoi(words[1])
		per, err2 := time.ParseDuration(words[2])
		s.options["maxStarts"] = rollout.Options{MaxStarts: &rollout.StartLimit{Count: n, Per: metav1.Duration{Duration: per}}}
		return errors.Join(err, err2)
	case "groupOrder":
		s.options["groupOrder"] = rollout.Options{GroupOrder: orderIn(rest)}
	case "closed", "open":
		return s.gate(words[0], rest)
	case "applied":
		for _, c := range clustersIn(rest) {
			s.planner.Applied(c, s.now)
		}
	default:
		if known, err := s.decide(words, rest); known {
			return err
		}
		return s.report(words)
	}
	return nil
}

// keyIn reads `group 1 "canary"`, as a Key prints itself.
func keyIn(text string) (grouping.Key, error) {
	var k grouping.Key
	text, of, _ := strings.Cut(text, " of placement ")
	number, name, named := strings.Cut(strings.TrimPrefix(text, "group "), " ")
	index, err := strconv.ParseInt(number, 10, 32)
	if named && err == nil {
		name, err = strconv.Unquote(name)
	}
	k.Placement, k.Name, k.Index = of, name, int32(index)
	return k, err
}

// orderIn reads `eu after canary, us after canary and eu`; a name may stand in quotes.
func orderIn(text string) map[string][]string {
	unquoted := func(name string) string { return strings.Trim(name, `"`) }
	after := map[string][]string{}
	for entry := range strings.SplitSeq(text, ", ") {
		if name, before, ok := strings.Cut(entry, " after "); ok {
			for direct := range strings.SplitSeq(before, " and ") {
				after[unquoted(name)] = append(after[unquoted(name)], unquoted(direct))
			}
		}
	}
	return after
}

func (s *stage) addGroup(line string) error {
	text, clusters, _ := strings.Cut(line, ":")
	key, err := keyIn(text)
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	if len(s.placements) == 0 {
		s.placements = []string{"p"}
	}
	p := s.placements[len(s.placements)-1]
	f := &fleet{decisions: s.decisions[p]}
	f.groupAt(int(key.Index), key.Name, clustersIn(clusters)...)
	f.decisions[len(f.decisions)-1].Labels[clusterv1beta1.PlacementLabel] = p
	s.decisions[p] = f.decisions
	return nil
}

// clustersIn expands `a b[1..3]` to a b1 b2 b3.
func clustersIn(text string) (names []string) {
	for word := range strings.FieldsSeq(text) {
		prefix, span, many := strings.Cut(word, "[")
		if !many {
			names = append(names, word)
			continue
		}
		first, last, _ := strings.Cut(strings.TrimSuffix(span, "]"), "..")
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(last)
		for i := from; i <= to; i++ {
			names = append(names, fmt.Sprintf("%s%0*d", prefix, len(last), i))
		}
	}
	return names
}

// read reads a strategy in short form.
func (s *stage) read(text string) error {
	fields := strings.Split(text, ", ")
	var c clusterv1alpha1.RolloutConfig
	var concurrency string
	var mandatory []string
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, " ")
		var err error
		switch name {
		case "maxConcurrency":
			concurrency = value
		case "maxFailures":
			c.MaxFailures = intstr.Parse(value)
		case "progressDeadline":
			c.ProgressDeadline = value
		case "minSuccessTime":
			c.MinSuccessTime.Duration, err = time.ParseDuration(value)
		case "mandatory":
			mandatory = strings.Fields(value)
		default:
			err = fmt.Errorf("%s is no field of a strategy", name)
		}
		if err != nil {
			return err
		}
	}
	switch fields[0] {
	case "Progressive":
		s.strategy = progressive(concurrency, c, mandatory...)
	case "ProgressivePerGroup":
		s.strategy = perGroup(c, mandatory...)
	default:
		s.strategy = all("")
		s.strategy.Type, s.strategy.All.RolloutConfig = clusterv1alpha1.RolloutType(fields[0]), c
	}
	return nil
}

// gate reads `group 1 "canary", approval, until 13:00`.
func (s *stage) gate(what, text string) error {
	fields := strings.Split(text, ", ")
	key, err := keyIn(fields[0])
	if err != nil {
		return err
	}
	if what == "open" { // all gates before the group
		maps.DeleteFunc(s.options, func(option string, _ rollout.Options) bool { return strings.HasPrefix(option, "gate "+fields[0]+":") })
		return nil
	}
	var g rollout.Gate
	for _, f := range fields[1:] {
		until, timed := strings.CutPrefix(f, "until ")
		if !timed {
			g.Name = f
			continue
		}
		at, err := time.Parse("15:04", until)
		if err != nil {
			return err
		}
		g.Opens = now.Truncate(24 * time.Hour).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
	}
	s.options["gate "+fields[0]+": "+g.Name] = rollout.Options{Gates: []rollout.ClosedGate{{Group: key, Gate: g}}}
	return nil
}

// report reads `a Progressing 5m applied 3m`.
func (s *stage) report(words []string) error {
	more := words[0] == "and"
	if more {
		words = words[1:]
	}
	if len(words) < 2 {
		return fmt.Errorf("no such line as %q", strings.Join(words, " "))
	}
	for _, cluster := range clustersIn(words[0]) {
		if cluster == `""` {
			cluster = ""
		}
		r := status.Report{Cluster: cluster, Status: status.RolloutStatus(words[1])}
		at := &r.LastTransitionTime
		for i, word := range words[2:] {
			if word == "applied" {
				at = &r.Applied
				continue
			}
			if word == "deleting" {
				r.Deleting = true
				continue
			}
			if word == string(status.ReportRefused) || word == string(status.ReportUntracked) {
				r.Reason = status.ReportReason(word)
				continue
			}
			if word == "says" {
				r.Message = strings.Join(words[i+3:], " ")
				break
			}
			if word == "attempt" {
				r.Attempt, _ = strconv.Atoi(words[i+3])
				break
			}
			age, err := time.ParseDuration(word)
			if err != nil {
				return err
			}
			*at = s.now.Add(-age)
		}
		switch {
		case words[1] == "none":
			delete(s.reports, cluster)
		case more:
			s.reports[cluster] = append(slices.Clone(s.reports[cluster]), r)
		default:
			s.reports[cluster] = []status.Report{r}
		}
	}
	return nil
}

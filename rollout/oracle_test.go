package rollout_test

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The oracle is rollout.md once more, written from its text alone: a list of clusters, a function a rule,
// and loops over everything. It knows no stages; each waiting cluster asks rule by rule whether it has to
// wait. Where the rules leave room it follows the readings at the functions below.

// world is all that Plan is given.
type world struct {
	strategy clusterv1alpha1.RolloutStrategy
	groups   []grouping.Key // in the order of their index, then name
	members  []member       // in the order of their names
	reports  []status.Report
	now      time.Time

	// The options.
	paused      bool
	gates       []closedGate // at most one a group
	order       func(a, b string) int
	perGroup    *intstr.IntOrString
	failedFrees bool
	placement   *clusterv1beta1.Placement
}

type member struct {
	name  string
	group grouping.Key
}

type closedGate struct {
	group grouping.Key
	gate  rollout.Gate
}

// answer is all that a Result says, by whatever method.
type answer struct {
	InFlight, Start, TimedOut, Settled []rollout.Cluster
	Held                               []heldCluster
	Removed                            []string
	Breach                             *rollout.Reason
	Warnings                           []rollout.Warning
	RecheckAfter                       time.Duration
	Schedule                           rollout.Schedule
	Summary                            status.Summary
	Aggregate                          status.RolloutStatus
	Waiting                            []rollout.Waiting
}

type heldCluster struct {
	Cluster rollout.Cluster
	Reason  rollout.Reason
}

// subject is a selected cluster under scrutiny.
type subject struct {
	name     string
	group    grouping.Key
	reported bool
	since    time.Time
	status   status.RolloutStatus // after R1 and R4
	newly    bool                 // timed out by R4
	held     bool
	reason   rollout.Reason
}

type oracle struct {
	world
	kind        clusterv1alpha1.RolloutType
	soak        time.Duration
	deadline    *time.Duration
	maxFailures intstr.IntOrString
	concurrency intstr.IntOrString
	mandatory   []clusterv1alpha1.MandatoryDecisionGroup
	all         []subject
	out         answer
}

// answer answers for a strategy, options and reports without fault.
func (o *oracle) answer(w world) *answer {
	o.world = w
	o.readStrategy()
	o.readReports()
	o.forget()
	o.out.Breach = o.breach()
	o.chooseWhoStarts()
	o.r19()
	o.out.RecheckAfter = o.r19Recheck()
	o.out.Warnings = o.r12Warnings()
	o.r21()
	o.s5()
	o.out.Aggregate = o.s6()
	o.waiting()
	return &o.out
}

// forget empties the answer and keeps its memory, since there are millions of them.
func (o *oracle) forget() {
	a := &o.out
	a.InFlight, a.Start, a.TimedOut, a.Settled = a.InFlight[:0], a.Start[:0], a.TimedOut[:0], a.Settled[:0]
	a.Held, a.Removed, a.Waiting, a.Warnings = a.Held[:0], a.Removed[:0], a.Waiting[:0], a.Warnings[:0]
	a.Schedule.Stages, a.Summary.Groups = a.Schedule.Stages[:0], a.Summary.Groups[:0]
}

// readStrategy follows R18: an empty type is All, and only the fields of the type count. R5: All ignores
// MinSuccessTime and MaxFailures.
func (o *oracle) readStrategy() {
	s := o.strategy
	config := clusterv1alpha1.RolloutConfig{}
	o.kind, o.mandatory, o.concurrency = s.Type, nil, intstr.IntOrString{}
	switch {
	case s.Type == "" || s.Type == clusterv1alpha1.All:
		o.kind = clusterv1alpha1.All
		if s.All != nil {
			config.ProgressDeadline = s.All.ProgressDeadline
		}
	case s.Type == clusterv1alpha1.Progressive && s.Progressive != nil:
		config = s.Progressive.RolloutConfig
		o.mandatory = s.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups
		o.concurrency = s.Progressive.MaxConcurrency
	case s.Type == clusterv1alpha1.ProgressivePerGroup && s.ProgressivePerGroup != nil:
		config = s.ProgressivePerGroup.RolloutConfig
		o.mandatory = s.ProgressivePerGroup.MandatoryDecisionGroups.MandatoryDecisionGroups
	}
	o.soak = config.MinSuccessTime.Duration
	o.maxFailures = config.MaxFailures
	o.deadline, _ = r17(config.ProgressDeadline)
}

// readReports gives each selected cluster the status that counts.
func (o *oracle) readReports() {
	o.all = o.all[:0]
	for _, m := range o.members {
		s := subject{name: m.name, group: m.group, status: status.ToApply}
		for i := range o.reports {
			if o.reports[i].Cluster == m.name {
				s.reported = true
				s.status = r1(o.reports[i].Status)
				s.since = o.reports[i].LastTransitionTime
			}
		}
		if o.r4(&s) {
			s.status = status.TimeOut
			s.newly = true
		}
		o.all = append(o.all, s)
	}
}

// R1: a status that is none of the six counts as Progressing.
func r1(s status.RolloutStatus) status.RolloutStatus {
	switch s {
	case status.ToApply, status.Progressing, status.Succeeded, status.Failed, status.TimeOut, status.Skip:
		return s
	}
	return status.Progressing
}

// R1: the faults of reports; two for one cluster, or one without a name.
func r1Faulty(reports []status.Report) bool {
	for i := range reports {
		if reports[i].Cluster == "" {
			return true
		}
		for j := range reports[:i] {
			if reports[i].Cluster == reports[j].Cluster {
				return true
			}
		}
	}
	return false
}

// R2: failures.
func r2(s *subject) bool { return s.status == status.Failed || s.status == status.TimeOut }

// R3: in flight.
func (o *oracle) r3(s *subject) bool {
	return s.status == status.Progressing || s.status == status.Failed || o.r5(s)
}

// R4: timed out at or past transition + deadline; never without one of them.
func (o *oracle) r4(s *subject) bool {
	if s.status != status.Progressing && s.status != status.Failed {
		return false
	}
	if o.deadline == nil || s.since.IsZero() {
		return false
	}
	return !o.now.Before(s.since.Add(*o.deadline))
}

// R5: soaking until transition + MinSuccessTime; without a time still soaking. Reading: MinSuccessTime 0 is
// no soak at all, whatever the clocks say.
func (o *oracle) r5(s *subject) bool {
	if s.status != status.Succeeded || o.soak == 0 {
		return false
	}
	return s.since.IsZero() || o.now.Before(s.since.Add(o.soak))
}

// R6: settled. Reading: a Failed cluster within its deadline is settled and in flight.
func (o *oracle) r6(s *subject) bool {
	return s.status == status.Succeeded && !o.r5(s) || s.status == status.Skip || r2(s)
}

// R6: a group is complete when all are settled and the failures within the budget.
func (o *oracle) r6Complete(group grouping.Key, budget int) bool {
	for i := range o.all {
		if o.all[i].group == group && !o.r6(&o.all[i]) {
			return false
		}
	}
	return o.failuresIn(group) <= budget
}

func waiting(s *subject) bool { return s.status == status.ToApply }

func (o *oracle) failuresIn(group grouping.Key) (n int) {
	for i := range o.all {
		if o.all[i].group == group && r2(&o.all[i]) {
			n++
		}
	}
	return n
}

func (o *oracle) sizeOf(group grouping.Key) (n int) {
	for i := range o.all {
		if o.all[i].group == group {
			n++
		}
	}
	return n
}

// R8: those reported ToApply come before those never reported; then the caller's order, then names.
func (o *oracle) r8(a, b *subject) int {
	if a.reported != b.reported {
		if a.reported {
			return -1
		}
		return 1
	}
	if o.order != nil {
		if c := o.order(a.name, b.name); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.name, b.name)
}

// R12: whether an entry of the strategy names a group.
func r12Names(entry clusterv1alpha1.MandatoryDecisionGroup, group grouping.Key) bool {
	if entry.GroupName != "" {
		return group.Name == entry.GroupName
	}
	return group.Index == entry.GroupIndex
}

// R12: whether a group is mandatory.
func (o *oracle) r12(group grouping.Key) bool {
	for _, entry := range o.mandatory {
		if r12Names(entry, group) {
			return true
		}
	}
	return false
}

// R12: an entry that selects no cluster is warned of.
func (o *oracle) r12Warnings() []rollout.Warning {
	warnings := o.out.Warnings
	for _, entry := range o.mandatory {
		selects := false
		for i := range o.all {
			selects = selects || r12Names(entry, o.all[i].group)
		}
		if !selects {
			warnings = append(warnings, rollout.Warning{Mandatory: entry})
		}
	}
	return warnings
}

// budget of one group: R12 none for a mandatory group, R10 MaxFailures of the group's size.
func (o *oracle) budget(group grouping.Key) int {
	if o.r12(group) {
		return 0
	}
	return r15(o.maxFailures, o.sizeOf(group))
}

// breach: R10 and R12 that of the first incomplete group, R11 that of all. R13: failures in a later group
// count only once it is the first incomplete one. Reading: the group's is named before the fleet's.
func (o *oracle) breach() *rollout.Reason {
	if first, ok := o.firstIncomplete(); ok {
		if n, budget := o.failuresIn(first), o.budget(first); n > budget {
			return &rollout.Reason{Type: rollout.BudgetBreached, Group: first, Failures: n, MaxFailures: budget}
		}
	}
	if o.kind != clusterv1alpha1.Progressive {
		return nil
	}
	n, budget := 0, r15(o.maxFailures, len(o.all))
	for i := range o.all {
		if r2(&o.all[i]) {
			n++
		}
	}
	if n > budget {
		return &rollout.Reason{Type: rollout.BudgetBreached, AllGroups: true, Failures: n, MaxFailures: budget}
	}
	return nil
}

// firstIncomplete of the groups that go one by one: the mandatory ones (R12), then under
// ProgressivePerGroup the others (R10).
func (o *oracle) firstIncomplete() (grouping.Key, bool) {
	if o.kind == clusterv1alpha1.All {
		return grouping.Key{}, false
	}
	for _, g := range o.groups {
		if o.r12(g) && !o.r6Complete(g, o.budget(g)) {
			return g, true
		}
	}
	if o.kind == clusterv1alpha1.ProgressivePerGroup {
		for _, g := range o.groups {
			if !o.r12(g) && !o.r6Complete(g, o.budget(g)) {
				return g, true
			}
		}
	}
	return grouping.Key{}, false
}

// chooseWhoStarts asks for each waiting cluster whether anything but concurrency holds it, in the order of
// the reasons' precedence, and shares the slots among the rest.
func (o *oracle) chooseWhoStarts() {
	for i := range o.all {
		s := &o.all[i]
		if !waiting(s) {
			continue
		}
		for _, rule := range []func(*oracle, *subject) (rollout.Reason, bool){
			(*oracle).r22, (*oracle).r20Breached, (*oracle).r12Waits, (*oracle).r10Waits, (*oracle).r23,
		} {
			if s.reason, s.held = rule(o, s); s.held {
				break
			}
		}
	}
	switch o.kind {
	case clusterv1alpha1.Progressive:
		o.r11()
	case clusterv1alpha1.ProgressivePerGroup:
		o.r24()
	}
}

// R22: paused, nothing starts.
func (o *oracle) r22(*subject) (rollout.Reason, bool) {
	return rollout.Reason{Type: rollout.Pause}, o.paused
}

// R10, R11, R12: on a breach nothing starts.
func (o *oracle) r20Breached(*subject) (rollout.Reason, bool) {
	if o.out.Breach == nil {
		return rollout.Reason{}, false
	}
	return *o.out.Breach, true
}

// R12: nothing overtakes a mandatory group, and those go by index.
func (o *oracle) r12Waits(s *subject) (rollout.Reason, bool) {
	for _, g := range o.groups {
		if g == s.group && o.r12(g) {
			break
		}
		if o.r12(g) && !o.r6Complete(g, 0) {
			return rollout.Reason{Type: rollout.MandatoryGroupIncomplete, Group: g}, true
		}
	}
	return rollout.Reason{}, false
}

// R10: groups go by index; the mandatory ones are done with by then (R12).
func (o *oracle) r10Waits(s *subject) (rollout.Reason, bool) {
	if o.kind != clusterv1alpha1.ProgressivePerGroup || o.r12(s.group) {
		return rollout.Reason{}, false
	}
	for _, g := range o.groups {
		if g == s.group {
			break
		}
		if !o.r12(g) && !o.r6Complete(g, o.budget(g)) {
			return rollout.Reason{Type: rollout.EarlierGroupIncomplete, Group: g}, true
		}
	}
	return rollout.Reason{}, false
}

// R23: a closed gate holds its group.
func (o *oracle) r23(s *subject) (rollout.Reason, bool) {
	for _, g := range o.gates {
		if g.group == s.group && o.r23Closed(g.gate) {
			return rollout.Reason{Type: rollout.GateClosed, Group: g.group, Gate: g.gate}, true
		}
	}
	return rollout.Reason{}, false
}

func (o *oracle) r23Closed(g rollout.Gate) bool { return g.Opens.IsZero() || o.now.Before(g.Opens) }

// R11: the clusters outside the mandatory groups share MaxConcurrency.
func (o *oracle) r11() {
	outside := func(s *subject) bool { return !o.r12(s.group) }
	n := 0
	for i := range o.all {
		if outside(&o.all[i]) {
			n++
		}
	}
	o.share(outside, rollout.Reason{AllGroups: true, MaxConcurrency: o.r14(n)})
}

// R24: the clusters of each group share the option's limit.
func (o *oracle) r24() {
	if o.perGroup == nil {
		return
	}
	for _, g := range o.groups {
		limit := atMost(*o.perGroup, o.sizeOf(g))
		o.share(func(s *subject) bool { return s.group == g }, rollout.Reason{Group: g, MaxConcurrency: limit})
	}
}

// share lets the first of the clusters among have start, as many as there are slots left, and holds the
// others. R25: a failed cluster has a slot unless the option says otherwise.
func (o *oracle) share(among func(*subject) bool, reason rollout.Reason) {
	var candidates []*subject
	reason.Type = rollout.ConcurrencyUsedUp
	for i := range o.all {
		s := &o.all[i]
		if !among(s) {
			continue
		}
		switch {
		case waiting(s) && !s.held:
			candidates = append(candidates, s)
		case s.status == status.Failed && o.failedFrees:
		case o.r3(s):
			reason.InFlight++
			if s.status == status.Failed {
				reason.Failed++
				reason.ForEver = o.deadline == nil
			}
		}
	}
	slices.SortFunc(candidates, o.r8)
	reason.Starting = min(len(candidates), max(0, reason.MaxConcurrency-reason.InFlight))
	for _, s := range candidates[reason.Starting:] {
		s.held, s.reason = true, reason
	}
}

// R14: MaxConcurrency of n clusters outside the mandatory groups. Readings: a percentage is of them; one
// of clustersPerDecisionGroup is of all selected.
func (o *oracle) r14(n int) int {
	if o.concurrency != (intstr.IntOrString{}) {
		return atMost(o.concurrency, n)
	}
	if o.placement == nil {
		return n
	}
	perGroup := o.placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup
	return min(n, atMost(perGroup, len(o.all)))
}

// atMost resolves a concurrency; unset or above the total means all.
func atMost(v intstr.IntOrString, total int) int {
	if v == (intstr.IntOrString{}) {
		return total
	}
	n, _ := r16(v, total)
	return min(n, total)
}

// R15: unset means 0, above the total that all are tolerated.
func r15(v intstr.IntOrString, total int) int {
	n, _ := r16(v, total)
	return min(n, total)
}

// R16: a count, or decimal digits and % from 0 to 100, rounded up.
func r16(v intstr.IntOrString, total int) (int, bool) {
	if v.Type == intstr.Int {
		return int(v.IntVal), v.IntVal >= 0
	}
	digits, isPercentage := strings.CutSuffix(v.StrVal, "%")
	if !isPercentage || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	percent, hundred := new(big.Int), big.NewInt(100)
	percent.SetString(digits, 10)
	if percent.Cmp(hundred) > 0 {
		return 0, false
	}
	n := percent.Mul(percent, big.NewInt(int64(total)))
	n.Add(n, big.NewInt(99))
	return int(n.Div(n, hundred).Int64()), true
}

// R16: MaxConcurrency must not be 0% either.
func r16Concurrency(v intstr.IntOrString) bool {
	percent, ok := r16(v, 100)
	return ok && (v.Type == intstr.Int || percent > 0)
}

// R17: None, empty, what the API documents or a Go duration; not negative.
func r17(s string) (*time.Duration, bool) {
	if s == "" || s == "None" {
		return nil, true
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return nil, false
	}
	return &d, true
}

// R19: the lists.
func (o *oracle) r19() {
	a := &o.out
	var starts []*subject
	for i := range o.all {
		s := &o.all[i]
		c := rollout.Cluster{Name: s.name, Group: s.group, Status: s.status}
		switch {
		case s.held:
			a.Held = append(a.Held, heldCluster{c, s.reason})
		case waiting(s):
			starts = append(starts, s)
		case s.newly:
			a.TimedOut = append(a.TimedOut, c)
		case o.r3(s):
			a.InFlight = append(a.InFlight, c)
		default:
			a.Settled = append(a.Settled, c)
		}
	}
	slices.SortFunc(starts, o.r8)
	for _, s := range starts {
		a.Start = append(a.Start, rollout.Cluster{Name: s.name, Group: s.group, Status: s.status})
	}
	for i := range o.reports {
		if !o.r7Selected(o.reports[i].Cluster) {
			a.Removed = append(a.Removed, o.reports[i].Cluster)
		}
	}
	slices.Sort(a.Removed)
}

// R7: a report for a cluster that is not selected lands in removed.
func (o *oracle) r7Selected(cluster string) bool {
	for _, m := range o.members {
		if m.name == cluster {
			return true
		}
	}
	return false
}

// R19: the nearest end of a deadline (R4) or a soak (R5), or opening of a gate (R23). Reading: the opening
// counts if it changes something, that is for a cluster that the gate alone holds or that concurrency would.
func (o *oracle) r19Recheck() time.Duration {
	nearest := time.Duration(0)
	consider := func(d time.Duration) {
		if d > 0 && (nearest == 0 || d < nearest) {
			nearest = d
		}
	}
	after := func(since time.Time, d time.Duration) time.Duration {
		if since.IsZero() {
			return d
		}
		return since.Add(d).Sub(o.now)
	}
	for i := range o.all {
		s := &o.all[i]
		switch {
		case o.r5(s):
			consider(after(s.since, o.soak))
		case o.r3(s) && o.deadline != nil:
			consider(after(s.since, *o.deadline))
		case s.held && s.reason.Type == rollout.GateClosed && !s.reason.Gate.Opens.IsZero():
			consider(s.reason.Gate.Opens.Sub(o.now))
		}
	}
	return nearest
}

// R21: the strategy that took effect. Reading: what All and Progressive pool is a stage even where no
// group is left for it.
func (o *oracle) r21() {
	s := &o.out.Schedule
	s.Type, s.MinSuccessTime, s.ProgressDeadline, s.MaxFailures = o.kind, o.soak, o.deadline, len(o.all)
	if o.kind == clusterv1alpha1.Progressive {
		s.MaxFailures = r15(o.maxFailures, len(o.all))
	}
	stage := func(mandatory bool, groups ...grouping.Key) *rollout.Stage {
		n := 0
		for _, g := range groups {
			n += o.sizeOf(g)
		}
		s.Stages = append(s.Stages, rollout.Stage{Groups: groups, Mandatory: mandatory, Clusters: n, MaxConcurrency: n, MaxFailures: n})
		return &s.Stages[len(s.Stages)-1]
	}
	var rest []grouping.Key
	for _, g := range o.groups {
		if !o.r12(g) {
			rest = append(rest, g)
			continue
		}
		mandatory := stage(true, g)
		mandatory.MaxFailures = 0
		if o.perGroup != nil && o.kind == clusterv1alpha1.ProgressivePerGroup {
			mandatory.MaxConcurrency = atMost(*o.perGroup, mandatory.Clusters)
		}
	}
	switch {
	case o.kind == clusterv1alpha1.All:
		stage(false, rest...)
	case o.kind == clusterv1alpha1.Progressive:
		others := stage(false, rest...)
		others.MaxConcurrency = o.r14(others.Clusters)
	case o.kind == clusterv1alpha1.ProgressivePerGroup:
		for _, g := range rest {
			group := stage(false, g)
			group.MaxFailures = o.budget(g)
			if o.perGroup != nil {
				group.MaxConcurrency = atMost(*o.perGroup, group.Clusters)
			}
		}
	}
}

// S5: the counts.
func (o *oracle) s5() {
	sum := &o.out.Summary
	sum.Counts = o.s5Counts(func(*subject) bool { return true })
	for _, g := range o.groups {
		sum.Groups = append(sum.Groups, status.GroupCounts{
			Group: g, Counts: o.s5Counts(func(s *subject) bool { return s.group == g }),
		})
	}
	sum.Removed = len(o.out.Removed)
	sum.Breach = o.out.Breach != nil
}

func (o *oracle) s5Counts(among func(*subject) bool) (c status.Counts) {
	for i := range o.all {
		s := &o.all[i]
		if !among(s) {
			continue
		}
		switch s.status {
		case status.ToApply:
			c.ToApply++
		case status.Progressing:
			c.Progressing++
		case status.Succeeded:
			c.Succeeded++
		case status.Failed:
			c.Failed++
		case status.TimeOut:
			c.TimeOut++
		case status.Skip:
			c.Skip++
		}
		if o.r5(s) {
			c.Soaking++
		}
		if s.held {
			c.Held++
		}
	}
	return c
}

// S6: the one word.
func (o *oracle) s6() status.RolloutStatus {
	if o.out.Breach != nil {
		return status.Failed
	}
	for i := range o.all {
		if waiting(&o.all[i]) || o.r3(&o.all[i]) {
			return status.Progressing
		}
	}
	for i := range o.all {
		if r2(&o.all[i]) {
			return status.Failed
		}
	}
	return status.Succeeded
}

// waiting lists each reason once, by the first group in which it holds a cluster.
func (o *oracle) waiting() {
	for _, g := range o.groups {
		for _, held := range o.out.Held {
			if held.Cluster.Group != g {
				continue
			}
			i := slices.IndexFunc(o.out.Waiting, func(w rollout.Waiting) bool { return w.Reason == held.Reason })
			if i < 0 {
				i = len(o.out.Waiting)
				o.out.Waiting = append(o.out.Waiting, rollout.Waiting{Reason: held.Reason})
			}
			o.out.Waiting[i].Clusters++
		}
	}
}

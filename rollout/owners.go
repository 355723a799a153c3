package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// Owner is one of several rollouts that share clusters: what [Plan], or [Revert], is given for it.
type Owner struct {
	// Name is what the sentences call the rollout, such as namespace and name of its owner. No other owner has it.
	Name     string
	Strategy clusterv1alpha1.RolloutStrategy
	Groups   *grouping.Groups
	Reports  []status.Report
	Options  Options
	// Abort is set where the rollout is taken back: it is planned as [Revert] does, and Reports are not looked at.
	Abort *Abort
	// Since is the time from which the rollout has waited for its turn. Those that waited longest go first; zero is the last of all, and of
	// equals the names decide. The controller notes it, for instance when a result has nobody in Start or in flight although
	// somebody waits.
	Since time.Time
}

// PlanAll plans for several owners whose clusters are the same in part, so that no cluster is in the hands of two of them: a cluster
// that is in flight or starts for one is held for the others ([ClusterHold], with that one's name as the reason), takes no slot of
// theirs, and nobody waits for it. The argument most bounds how many clusters of all owners are in hand at a time; below 1 there is no bound.
// Clusters that are in hand already stay so. One caller plans for all owners; it is no use where each has a controller of its own.
//
// A cluster that waits to go back stays in hand while it is in flight with the failed version, so that nobody else starts there. It
// takes a place of the owners that go on. It takes none of those that go back, so that each of them can.
//
// The results are in the order of the owners. The reason of a cluster that the bound holds is HoldInHand. It holds beside
// [Options].Rights. Clusters in [Options].Uncounted need no place and have one once they start; but an owner that has nobody in hand
// and gets no place starts nobody, not even these.
//
// The errors are those of Plan and Revert, behind the name of the owner, and a *field.Error where an owner has no name or that of another. It
// takes the time of two plans for each owner.
func PlanAll(owners []Owner, most int, now time.Time) ([]*Result, error) {
	if err := checkNames(owners); err != nil {
		return nil, err
	}
	results, own := make([]*Result, len(owners)), make([]int, len(owners))
	h, order := hands{make(map[string]string), make(map[string]string)}, turns(owners)
	for _, i := range order {
		o := &owners[i]
		paused := o.Options
		paused.Paused = true
		r, err := o.planWith(&paused, beside{}, now)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		own[i] = h.take(o.Name, r)
		h.wait(o.Name, r.waitingInFlight(now))
	}
	for _, i := range order {
		o := &owners[i]
		r, err := o.plan(&h, own[i], most, now)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		h.take(o.Name, r)
		results[i] = r
	}
	return results, nil
}

// turns gives the owners in the order in which they get their turn.
func turns(owners []Owner) []int {
	order := make([]int, len(owners))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &owners[i], &owners[j]
		switch {
		case a.Since.IsZero() == b.Since.IsZero():
			return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Name, b.Name))
		case a.Since.IsZero():
			return 1
		default:
			return -1
		}
	})
	return order
}

// checkNames returns the first fault in the names of owners, as a cluster in hand is known by the name of the owner.
func checkNames(owners []Owner) error {
	named := make(map[string]bool, len(owners))
	for i, o := range owners {
		path := field.NewPath("owners").Index(i).Child("name")
		switch {
		case o.Name == "":
			return field.Required(path, "must tell the owner from all others")
		case named[o.Name]:
			return field.Duplicate(path, o.Name)
		}
		named[o.Name] = true
	}
	return nil
}

// hands has the owner of each cluster that is in hand: in flight or about to start, or waiting to go back while it is in flight with the
// failed version.
type hands struct{ inHand, waiting map[string]string }

// take notes the clusters that a rollout has in flight or starts and nobody else has, and counts those of all that it has that count.
func (h *hands) take(name string, r *Result) (n int) {
	for _, list := range [...][]Cluster{r.InFlight, r.Start, r.Left} {
		for _, c := range list {
			if c.Status == status.TimeOut {
				continue // it left, and holds only its failure against the rollout
			}
			if n += one(!r.schedule.options.isUncounted(c.Name)); h.inHand[c.Name] == "" {
				h.inHand[c.Name] = name
			}
		}
	}
	return n
}

// wait notes the clusters that wait to go back while they are in flight with the failed version, and that nobody else has.
func (h *hands) wait(name string, clusters []string) {
	for _, c := range clusters {
		if h.waiting[c] == "" {
			h.waiting[c] = name
		}
	}
}

// all gives all clusters that are in hand.
func (h *hands) all() map[string]string {
	all := maps.Clone(h.waiting)
	maps.Copy(all, h.inHand)
	return all
}

// plan plans for an owner beside those who have clusters in hand. Own is how many clusters the owner itself has in hand, without the uncounted.
func (o *Owner) plan(h *hands, own, most int, now time.Time) (*Result, error) {
	opts := o.Options
	opts.Holds = slices.Clone(opts.Holds)
	b, inHand := beside{busy: make(map[string]bool)}, h.all()
	for cluster, by := range inHand {
		if _, selected := o.Groups.Position(cluster); selected && by != o.Name {
			opts.Holds = append(opts.Holds, ClusterHold{Cluster: cluster, Reason: by})
			b.busy[cluster] = true
		}
	}
	if o.Abort != nil {
		inHand = h.inHand // otherwise owners that go back would wait for each other
	}
	if left := own + max(0, most-len(inHand)); most > 0 && (opts.Rights == nil || left < opts.Rights.Start) {
		rights := Rights{Start: left, Fail: math.MaxInt32}
		if opts.Rights != nil {
			rights.Fail = opts.Rights.Fail
		}
		opts.Rights, b.bound = &rights, &bound{most, len(inHand), handsOf(inHand)}
	}
	return o.planWith(&opts, b, now)
}

// planWith is Plan or Revert for the owner, with other options, beside other owners.
func (o *Owner) planWith(opts *Options, b beside, now time.Time) (*Result, error) {
	if o.Abort != nil {
		return revert(o.Strategy, o.Groups, o.Abort, now, opts, b)
	}
	return plan(o.Strategy, o.Groups, o.Reports, now, opts, b)
}

// beside is what the plan of one owner knows of the others.
type beside struct {
	bound *bound          // that the rights stand for; nil: they are the hub's
	busy  map[string]bool // the clusters that another owner has in hand
}

// bound is how many clusters all owners may have in hand, how many they have, and who has the first of them.
type bound struct {
	most, inHand int
	who          string
}

// handsOf names the first clusters that are in hand: `a by "db", b by "web" and 2 more`.
func handsOf(inHand map[string]string) string {
	var said []string
	for _, cluster := range slices.Sorted(maps.Keys(inHand)) {
		if len(said) == maxNamed {
			return fmt.Sprintf("%s and %d more", strings.Join(said, ", "), len(inHand)-maxNamed)
		}
		said = append(said, fmt.Sprintf("%s by %q", cluster, inHand[cluster]))
	}
	return strings.Join(said, ", ")
}

// hold gives the reason for clusters that the bound holds.
func (b *bound) hold(starting int) Hold {
	return Hold{Type: HoldInHand, AllGroups: true, InFlight: b.inHand, Starting: starting, MaxConcurrency: b.most, Detail: b.who}
}

// inHand gives the sentence of HoldInHand.
func (h Hold) inHand() string {
	taken := h.InFlight + h.Starting
	return h.detailed(fmt.Sprintf("%d %s in hand of all rollouts, at most %d may be", taken, plural(taken > 1, "cluster is", "clusters are"), h.MaxConcurrency))
}

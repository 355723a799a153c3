// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// said has the answers of a replica's templates that a Propagation keeps.
type said struct {
	answers
	late    *late
	applied time.Time
}

// said gives the answers that keep a replica's cluster in flight; nil where there are none.
func (r *Replica) said() *said {
	if len(r.awaited)+len(r.pending) == 0 && r.judged() != policyv1.NonCompliant {
		return nil
	}
	return &said{answers: answers{outcome: r.judged(), awaited: r.awaited, pending: r.pending, unfit: r.unfit, why: r.why}, late: r.late, applied: r.Applied}
}

// message is the message of the cluster's report.
func (s *said) message() string {
	switch {
	case s == nil:
		return ""
	case len(s.awaited) > 0:
		return unanswered(s.awaited)
	case s.why != "":
		return s.why
	case len(s.pending) > 0:
		return pending(s.pending)
	case len(s.unfit) > 0:
		return "NonCompliant: " + named(s.unfit)
	default:
		return ""
	}
}

// InFlight says what keeps a started cluster in flight (Progressing).
type InFlight struct {
	// Unanswered are the names of the templates that have not answered this version, in the order of the templates.
	Unanswered []string
	// CountsFrom is when the last messages of some of them count, if no other message arrives until then. It is zero where only
	// another message counts.
	CountsFrom time.Time
	// Pending are the names of the templates that wait for their dependencies, in the order of the templates.
	Pending []string
	// NonCompliant says that all templates have answered, and the cluster does not comply. Unfit are the names of the
	// templates that are NonCompliant, as far as they are known.
	NonCompliant bool
	Unfit        []string
	// FailsAt is the progress deadline of a cluster that does not comply; zero where it is unknown, or there is none.
	FailsAt time.Time
}

// inFlight gives what keeps the cluster in flight; nil where nothing is known.
func (p *Propagation) inFlight(cluster *Cluster) *InFlight {
	informs := cluster.Action == policyv1.Inform // and has done what it should
	written := cluster.Verb == VerbCreate || cluster.Verb == VerbUpdate
	if cluster.said == nil || written || informs && len(cluster.said.awaited) == 0 {
		return nil
	}
	in := &InFlight{Unanswered: slices.Clone(cluster.said.awaited), Pending: slices.Clone(cluster.said.pending), NonCompliant: !informs && cluster.said.outcome == policyv1.NonCompliant}
	if in.NonCompliant {
		in.Unfit = slices.Clone(cluster.said.unfit)
	}
	if cluster.said.late != nil {
		in.CountsFrom = cluster.said.late.from
	}
	if deadline := deadlineOf(p.strategy); deadline > 0 && !cluster.said.applied.IsZero() && in.NonCompliant {
		in.FailsAt = cluster.said.applied.Add(deadline)
	}
	return in
}

// Pending are the names of the clusters in flight with a template that waits for its dependencies, in order. They are not slow:
// another policy or template has to come first. [Propagation.Explain] names their templates.
func (p *Propagation) Pending() (names []string) {
	for i := range p.Clusters {
		if cluster := &p.Clusters[i]; cluster.RolloutStatus == status.Progressing && cluster.said != nil && len(cluster.said.pending) > 0 && p.inFlight(cluster) != nil {
			names = append(names, cluster.Name)
		}
	}
	return names
}

// deadlineOf gives the progress deadline of a valid strategy; 0 if it has none.
func deadlineOf(strategy clusterv1alpha1.RolloutStrategy) time.Duration {
	var text string
	switch {
	case strategy.Type == clusterv1alpha1.All && strategy.All != nil:
		text = strategy.All.ProgressDeadline
	case strategy.Type == clusterv1alpha1.Progressive && strategy.Progressive != nil:
		text = strategy.Progressive.ProgressDeadline
	case strategy.Type == clusterv1alpha1.ProgressivePerGroup && strategy.ProgressivePerGroup != nil:
		text = strategy.ProgressivePerGroup.ProgressDeadline
	}
	deadline, err := time.ParseDuration(text)
	if err != nil { // None
		return 0
	}
	return deadline
}

// String is a sentence without its full stop, fit for the message of an event.
func (f *InFlight) String() string {
	var parts []string
	if len(f.Unanswered) > 0 {
		parts = append(parts, unanswered(f.Unanswered))
	}
	if !f.CountsFrom.IsZero() {
		parts = append(parts, "earlier messages count from "+f.CountsFrom.UTC().Format(time.RFC3339)+" if no new one arrives")
	}
	if len(f.Pending) > 0 {
		parts = append(parts, pending(f.Pending))
	}
	switch {
	case !f.NonCompliant:
	case f.FailsAt.IsZero():
		parts = append(parts, f.unfit()+"waits without a deadline until the cluster complies")
	default:
		parts = append(parts, f.unfit()+"fails at "+f.FailsAt.UTC().Format(time.RFC3339)+" unless the cluster complies before")
	}
	return strings.Join(parts, "; ")
}

func (f *InFlight) unfit() string {
	if len(f.Unfit) == 0 {
		return "NonCompliant: "
	}
	return "NonCompliant: " + named(f.Unfit) + "; "
}

func unanswered(names []string) string { return "no answer to this version from " + named(names) }

func pending(names []string) string { return "Pending: dependencies are not met for " + named(names) }

// named names at most three templates.
func named(names []string) string {
	const most = 3
	text := strings.Join(names[:min(most, len(names))], ", ")
	switch more := len(names) - most; {
	case more > 0:
		return fmt.Sprintf("templates %s and %d more", text, more)
	case len(names) > 1:
		return "templates " + text
	default:
		return "template " + text
	}
}

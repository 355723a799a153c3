// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
)

// Group and Kind identify a Behavior document.
const (
	Group = "examples.cohort-ocm.io"
	Kind  = "Behavior"
)

// Behavior is the document.
type Behavior struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec `json:"spec"`
}

// Spec is how the clusters behave.
type Spec struct {
	// Seed decides which clusters are in a share or have their rate's luck, and how long each takes of a range.
	Seed uint64 `json:"seed,omitempty"`
	// Lease is how long the hub hears nothing of an agent before it taints the cluster as unreachable, so that the scheduler
	// drops it; DefaultLease if nil.
	Lease *metav1.Duration `json:"lease,omitempty"`
	// Clusters are the rules. The first that matches a cluster decides.
	Clusters []Rule `json:"clusters,omitempty"`
	// Attempt is the attempt at the version that this is about. 0 is the first.
	Attempt int `json:"-"`
}

// Rule is how some clusters behave. The zero rule matches every cluster, and it succeeds.
type Rule struct {
	// Names are patterns for path.Match. The cluster's name has to match one of them. No patterns match all names.
	Names []string `json:"names,omitempty"`
	// Selector looks at the labels of the ManagedCluster; nil matches all.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Groups are names of decision groups. The cluster has to be in one of them. No names match all clusters.
	Groups []string `json:"groups,omitempty"`
	// Share is how many of these clusters, drawn at random, the rule is for: a count, or a percentage rounded
	// up, which may be less than 1%. Nil is all.
	Share *intstr.IntOrString `json:"share,omitempty"`
	// Rate is the chance of each of these clusters to have the rule, by itself. Nil is all.
	Rate *chance.Rate `json:"rate,omitempty"`

	// Outcome is what becomes of the workload there; Succeeds if empty.
	Outcome Outcome `json:"outcome,omitempty"`
	// After is the time from the cluster's start until it fails or succeeds, of a range each cluster's own; Usual.Takes if nil.
	After *chance.Range `json:"after,omitempty"`
	// ValidatedAfter is the time from its success until its verdict; Usual.Validates if nil.
	ValidatedAfter *chance.Range `json:"validatedAfter,omitempty"`
	// Attempts is in how many attempts at the version this becomes of it. From the next attempt on it succeeds. 0 is all.
	Attempts int `json:"attempts,omitempty"`
	// RecoversAfter is the time until a cluster succeeds after all: from its failure or from the no, from its start where it does
	// not answer, or from its success where it is not validated; never if nil.
	RecoversAfter *chance.Range `json:"recoversAfter,omitempty"`
}

// String is like `Fails: edge-*`: the outcome, and what tells the clusters.
func (r Rule) String() string {
	parts := slices.Clone(r.Names)
	if r.Selector != nil {
		parts = append(parts, metav1.FormatLabelSelector(r.Selector))
	}
	for _, group := range r.Groups {
		parts = append(parts, "group "+group)
	}
	if r.Share != nil {
		parts = append(parts, r.Share.String())
	}
	if r.Rate != nil {
		parts = append(parts, "rate "+r.Rate.String())
	}
	if parts == nil {
		parts = []string{"all"}
	}
	return string(cmp.Or(r.Outcome, Succeeds)) + ": " + strings.Join(parts, " ")
}

// Draws says whether the rule leaves anything to luck.
func (r Rule) Draws() bool {
	varies := func(d *chance.Range) bool { return d != nil && d.Least < d.Most }
	return r.Share != nil || r.Rate != nil || varies(r.After) || varies(r.ValidatedAfter) || varies(r.RecoversAfter)
}

// Outcome is what becomes of the workload on a cluster.
type Outcome string

const (
	Succeeds     Outcome = "Succeeds"
	Fails        Outcome = "Fails"
	NeverAnswers Outcome = "NeverAnswers"
	// CutOff never answers, and the scheduler drops it after the lease.
	CutOff Outcome = "CutOff"
	// NotGood succeeds, and gets a no then. NeverValidated succeeds, and never gets a verdict. Both only succeed where no cluster is
	// asked.
	NotGood        Outcome = "NotGood"
	NeverValidated Outcome = "NeverValidated"
)

func outcomes() []Outcome {
	return []Outcome{Succeeds, Fails, NeverAnswers, CutOff, NotGood, NeverValidated}
}

// isJudged says whether the rule is about the verdicts of clusters that succeeded.
func (r Rule) isJudged() bool {
	return r.Outcome == NotGood || r.Outcome == NeverValidated || r.ValidatedAfter != nil
}

// Judges says whether a rule is about the verdicts of clusters that succeeded.
func (s Spec) Judges() bool { return slices.ContainsFunc(s.Clusters, Rule.isJudged) }

// Usual is what a cluster does of which no rule says more.
type Usual struct {
	// Takes is how long it takes to succeed, or to fail.
	Takes chance.Range
	// Given says that a user said so.
	Given bool
	// Validates is how long after its success its verdict comes; nil where none is asked for.
	Validates *chance.Range
}

// Uses says for how many clusters each of the usual times counts.
type Uses struct{ Takes, Validates int }

// DefaultLease is OCM's: five times the lease duration of a ManagedCluster.
const DefaultLease = 5 * time.Minute

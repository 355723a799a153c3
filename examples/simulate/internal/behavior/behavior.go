package behavior

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Group and Kind are those of a Behavior document.
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
	// Seed decides which clusters are in a share.
	Seed uint64 `json:"seed,omitempty"`
	// Clusters are the rules, of which the first that matches a cluster decides.
	Clusters []Rule `json:"clusters,omitempty"`
}

// Rule is how some clusters behave. The zero rule matches every cluster, and it succeeds.
type Rule struct {
	// Names are patterns as path.Match has them, any of which the cluster's name matches. None match all.
	Names []string `json:"names,omitempty"`
	// Selector looks at the labels of the ManagedCluster; nil matches all.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Groups are names of decision groups, in any of which the cluster is. None match all.
	Groups []string `json:"groups,omitempty"`
	// Share is how many of these clusters, drawn at random, the rule is for: a count, or a percentage rounded
	// up. Nil is all.
	Share *intstr.IntOrString `json:"share,omitempty"`

	// Outcome is what becomes of the workload there; Succeeds if empty.
	Outcome Outcome `json:"outcome,omitempty"`
	// After is the time from the cluster's start until the outcome; the fallback if nil.
	After *metav1.Duration `json:"after,omitempty"`
	// RecoversAfter is the time until a cluster succeeds after all: from its failure, or from its start where it does
	// not answer; never if nil.
	RecoversAfter *metav1.Duration `json:"recoversAfter,omitempty"`
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
	if parts == nil {
		parts = []string{"all"}
	}
	return string(cmp.Or(r.Outcome, Succeeds)) + ": " + strings.Join(parts, " ")
}

// Outcome is what becomes of the workload on a cluster.
type Outcome string

const (
	Succeeds     Outcome = "Succeeds"
	Fails        Outcome = "Fails"
	NeverAnswers Outcome = "NeverAnswers"
)

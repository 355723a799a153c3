// SPDX-License-Identifier: Apache-2.0

// Package dependencies says of each policy template whether it may be processed on a managed cluster, what it waits for
// and what to do next.
//
// The objects are the policies of a cluster, as they stand there, and what was observed on it, in any order. Policies in
// several namespaces are those of several clusters. Root policies count as they are replicated, if no policy of a cluster is among the
// objects. Objects of other kinds are observed on each of them. What is not among
// the objects does not exist. A Policy is both: its spec is evaluated and its status is what others wait for; without a spec
// it is only observed. What a policy has on the cluster has it for its
// owner, or its name in the label policy.open-cluster-management.io/policy. Templates may have OCM's kinds, and those of each
// CustomResourceDefinition among the objects that has the label policy.open-cluster-management.io/policy-type: template. A
// field that a Policy does not have is refused, with the nearest that it has.
package dependencies

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// Report is what there is to say of each cluster.
type Report struct {
	// Notes say what the report is of.
	Notes    []string
	clusters []cluster
	faults   []error
}

// Of evaluates the policies of a namespace, or where that is empty of each namespace that has any.
func Of(objects []manifest.Object, namespace string) (r Report, err error) {
	of, roots, notes, err := ofClusters(objects, namespace)
	if err != nil {
		return r, err
	}
	r.Notes = notes
	for _, namespace := range slices.Sorted(maps.Keys(of)) {
		in, err := read(of[namespace], namespace)
		if err != nil {
			return r, err
		}
		for name := range in.from {
			if root, found := roots[name]; found {
				in.from[name] = root
			}
		}
		if len(in.policies) == 0 {
			return r, fmt.Errorf("no Policy with a spec among the %d objects", len(objects))
		}
		results, err := in.evaluate()
		if err != nil {
			return r, err
		}
		r.clusters, r.faults = append(r.clusters, cluster{namespace, results}), append(r.faults, in.faults(results))
	}
	return r, nil
}

// Text writes the report for people.
func (r Report) Text(w io.Writer) error { return writeText(w, r.clusters) }

// Value is the report for programs.
func (r Report) Value() (any, error) { return dataOf(r.clusters), nil }

// Fault is the error of the templates that contradict themselves. The others are in the report.
func (r Report) Fault() error { return errors.Join(r.faults...) }

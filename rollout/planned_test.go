// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// planned is a plan for tests that look at the values of a result. What it prints is told in testdata/scenes.
type planned struct {
	strategy clusterv1alpha1.RolloutStrategy
	size     string   // the clustersPerDecisionGroup of the placement; without one the groups know no placement
	groups   []string // each like `a b`, `canary: a b`, or with an index of its own `7 canary: a b`
	reports  string   // like `a=Failed b=Progressing/3m c=ToApply@1m`: b began 3 minutes ago, c was applied 1 minute ago
	opts     rollout.Options
}

// plan is the result of one without fault.
func plan(t fataler, s planned) *rollout.Result {
	t.Helper()
	result, err := rollout.Plan(s.strategy, s.read(t), reportsOf(t, s.reports), now, s.opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (s *planned) read(t fataler) *grouping.Groups {
	t.Helper()
	f := fleetOf(t, s.groups...)
	if s.size == "" {
		return f.read()
	}
	return f.readOfSize(intstr.Parse(s.size))
}

func fleetOf(t fataler, groups ...string) *fleet {
	f := newFleet(t)
	for index, group := range groups {
		name, clusters, named := strings.Cut(group, ":")
		if !named {
			name, clusters = "", group
		}
		if first, rest, _ := strings.Cut(name, " "); first != "" {
			if i, err := strconv.Atoi(first); err == nil {
				index, name = i, rest
			}
		}
		f.groupAt(index, name, strings.Fields(clusters)...)
	}
	return f
}

func reportsOf(t fataler, text string) (reports []status.Report) {
	for word := range strings.FieldsSeq(text) {
		cluster, what, _ := strings.Cut(word, "=")
		what, applied, _ := strings.Cut(what, "@")
		what, transition, _ := strings.Cut(what, "/")
		r := status.Report{
			Cluster: cluster, Status: status.RolloutStatus(what), LastTransitionTime: ago(t, transition), Applied: ago(t, applied),
		}
		reports = append(reports, r)
	}
	return reports
}

// ago is the time so long before now; the zero time where the text is empty.
func ago(t fataler, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return now.Add(-d)
}

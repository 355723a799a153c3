// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// W18: a refused write is told to the next plan as a report, until a later write is accepted.
func TestRefusalsAreReported(t *testing.T) {
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "manifestworks"}, "web", errors.New("exceeded\nquota"))
	const says = `manifestworks "web" is forbidden: exceeded quota`
	waits := func(cluster string) status.Report { return status.Report{Cluster: cluster, Status: status.ToApply} }
	refused := func(cluster string) status.Report {
		return status.Report{Cluster: cluster, Status: status.ToApply, Reason: status.ReportRefused, Message: says}
	}
	progressing := status.Report{Cluster: "a", Status: status.Progressing}
	applied := status.Report{Cluster: "a", Status: status.ToApply, Applied: time.Unix(1, 0)}
	starts := &rollout.Result{Next: rollout.Next{Start: []rollout.Cluster{{Name: "b"}, {Name: "c"}, {Name: "a"}}}}
	for _, c := range []struct {
		name    string
		wrote   []error // for each of a, b, c, d
		reports []status.Report
		want    []status.Report
	}{
		{"nothing is refused", []error{nil}, []status.Report{waits("a")}, []status.Report{waits("a")}},
		{"a cluster without an object", []error{quota}, nil, []status.Report{refused("a")}},
		{"a cluster that has the version before", []error{quota}, []status.Report{waits("b"), waits("a")}, []status.Report{waits("b"), refused("a")}},
		{"one that has the version already", []error{quota}, []status.Report{progressing}, []status.Report{progressing}},
		{"one that has got it and has not answered", []error{quota}, []status.Report{applied}, []status.Report{applied}},
		{"several, of two placements, in the order of their names", []error{quota, quota, quota}, nil, []status.Report{refused("a"), refused("b"), refused("c")}},
		{"one that does not start", []error{nil, nil, nil, quota}, nil, nil},
		{"a lost answer is none", []error{context.DeadlineExceeded}, nil, nil},
		{"a conflict is none", []error{apierrors.NewConflict(schema.GroupResource{}, "web", nil)}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var refusals writes.Refusals
			for i, err := range c.wrote {
				refusals.Wrote(string(rune('a'+i)), err)
			}
			if got, _ := refusals.In(c.reports, starts); len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("the reports are %+v, want %+v", got, c.want)
			}
		})
	}

	var refusals writes.Refusals
	reports := []status.Report{waits("a")}
	refusals.Wrote("a", quota)
	refusals.Wrote("a", context.DeadlineExceeded)
	if got, some := refusals.In(reports, starts); !some || got[0] != refused("a") || reports[0] != waits("a") {
		t.Errorf("after a lost answer the reports are %+v, want %+v; those that were passed are %+v", got, refused("a"), reports)
	}
	refusals.Wrote("a", nil)
	if got, some := refusals.In(reports, starts); some || got[0] != waits("a") {
		t.Errorf("the write was accepted, and the reports are %+v", got)
	}
}

// W18: a refused cluster keeps its turn and no more: a cluster that joins before it starts in its place, as without the refusal.
func TestARefusalKeepsNoClusterFromItsTurn(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)}}
	refusals := writes.Refusals{"b": errors.New("denied")}
	result, err := rollout.Plan(strategy, groups, nil, time.Unix(1, 0), rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if reports, some := refusals.In(nil, result); some || len(result.Start) != 1 || result.Start[0].Name != "a" {
		t.Errorf("it starts %v, with the reports %v", result.Start, reports)
	}
}

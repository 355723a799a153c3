package rollout_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// scene is a plan in the notation of its result. Its name is the rule that it shows.
type scene struct {
	name     string
	strategy clusterv1alpha1.RolloutStrategy
	groups   []string // each like `a b`, `canary: a b`, or with an index of its own `7 canary: a b`
	reports  string   // like `a=Failed b=Progressing/3m`, which began 3 minutes ago
	opts     []rollout.Option
	want     string // Result.String
}

func play(t *testing.T, scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			if got := plan(t, s).String(); got != s.want {
				t.Errorf("\ngot  %s\nwant %s", got, s.want)
			}
		})
	}
}

// plan is the result of a scene without fault.
func plan(t fataler, s scene) *rollout.Result {
	t.Helper()
	result, err := rollout.Plan(s.strategy, fleetOf(t, s.groups...).read(), reportsOf(t, s.reports), now, s.opts...)
	if err != nil {
		t.Fatal(err)
	}
	return result
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
		what, ago, timed := strings.Cut(what, "/")
		r := status.Report{Cluster: cluster, Status: status.RolloutStatus(what)}
		if timed {
			d, err := time.ParseDuration(ago)
			if err != nil {
				t.Fatal(err)
			}
			r.LastTransitionTime = now.Add(-d)
		}
		reports = append(reports, r)
	}
	return reports
}

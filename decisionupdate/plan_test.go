package decisionupdate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// want compares a plan with lines as Plan.String writes them.
func want(t *testing.T, plan decisionupdate.Plan, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(append(lines, ""), "\n"), plan.String()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestPlans(t *testing.T) {
	all := decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeAll}
	two := []decisionupdate.Option{decisionupdate.SurgeAndFinalize()}
	within := func(steps int) []decisionupdate.Option {
		return []decisionupdate.Option{decisionupdate.MaxSteps(steps)}
	}
	for _, test := range []struct {
		name            string
		why             string
		stored, desired []string
		strategy        decisionupdate.UpdateStrategy
		opts            []decisionupdate.Option
		want            []string
	}{{
		name: "D1 equal input", why: "nothing is written twice",
		stored: []string{"w1: a b", "w2:"}, desired: []string{"w2:", "w1: a b"}, strategy: rolling,
	}, {
		name: "D1 nothing at all", why: "empty input is no error",
		strategy: rolling,
	}, {
		name: "D1 only labels", why: "an update says which part changes",
		stored: []string{"w1 0: a"}, desired: []string{"w1 0/canary: a"}, strategy: rolling,
		want: []string{"1: update w1 labels"},
	}, {
		name: "D1 only the order", why: "decisions are a list, and may be sorted by score",
		stored: []string{"w1: a b"}, desired: []string{"w1: b a"}, strategy: rolling,
		want: []string{"1: update w1 status"},
	}, {
		name: "D1 create without clusters", why: "a status that is empty needs no request",
		desired: []string{"w1:"}, strategy: rolling,
		want: []string{"1: create w1 labels"},
	}, {
		name: "D2 the zero strategy", why: "All is the API's default; a moves while w2 may be written first",
		stored: []string{"w1: a b", "w2: c", "w3: d"}, desired: []string{"w1: b", "w2: a c d", "w4: e"},
		want: []string{"1: update w1 status -a", "1: update w2 status +a +d", "1: create w4 labels,status +e", "2: delete w3 -d"},
	}, {
		name: "D2 All by name", why: "options for RollingUpdate don't concern it",
		stored: []string{"w1: a"}, desired: []string{"w1: b"}, strategy: all, opts: two,
		want: []string{"1: update w1 status +b -a"},
	}, {
		name: "D3 surge and finalize", why: "the union first, in every object that both gains and loses",
		stored: []string{"w1: b c", "w2: d e"}, desired: []string{"w1: a b", "w2: c d", "w3: e"}, strategy: rolling, opts: two,
		want: []string{"1: surge w1 status +a", "1: surge w2 status +c", "1: create w3 labels,status +e", "2: update w1 status -c", "2: update w2 status -e"},
	}, {
		name: "D3 what only gains or only loses", why: "a union that is what is stored, or what is desired, isn't written twice",
		stored: []string{"w1: a b", "w2: c", "w3: d"}, desired: []string{"w1: a", "w2: b c d"}, strategy: rolling, opts: two,
		want: []string{"1: update w2 status +b +d", "2: update w1 status -b", "2: delete w3 -d"},
	}, {
		name: "D4 a delete waits for all its clusters", why: "w3 goes when both of its clusters are elsewhere",
		stored: []string{"w1: a", "w2: b", "w3: c d"}, desired: []string{"w1: a c", "w2: b d"}, strategy: rolling,
		want: []string{"1: update w1 status +c", "1: update w2 status +d", "2: delete w3 -c -d"},
	}, {
		name: "D4 what nobody waits for", why: "clusters that come or go make no order",
		stored: []string{"w1: a", "w2: b", "w3: c"}, desired: []string{"w1: x", "w2: b y"}, strategy: rolling,
		want: []string{"1: update w1 status +x -a", "1: update w2 status +y", "1: delete w3 -c"},
	}, {
		name: "D4 circle of three", why: "one surge breaks it, and lets in only the cluster that moves: n comes and l goes later or at once",
		stored: []string{"w1: a l", "w2: b", "w3: c"}, desired: []string{"w1: c n", "w2: a", "w3: b"}, strategy: rolling,
		want: []string{"1: surge w1 status +c -l", "2: update w3 status +b -c", "3: update w2 status +a -b", "4: update w1 status +n -a"},
	}, {
		name: "D4 a surge admits only who can't wait", why: "w1 is on two circles; z comes from w4, which is written after w1 anyway",
		stored: []string{"w1: a e", "w2: b", "w3: m", "w4: y z", "w5: f"}, desired: []string{"w1: b f z", "w2: a m", "w3: y", "w5: e"}, strategy: rolling,
		want: []string{
			"1: surge w1 status +b +f", "2: update w2 status +a +m -b", "2: update w5 status +e -f",
			"3: update w1 status +z -a -e", "3: update w3 status +y -m", "4: delete w4 -y -z",
		},
	}, {
		name: "D4 of as few surges those with fewest steps", why: "to surge w1 would take four steps",
		stored: []string{"w1: a", "w2: b", "w3: m", "w4: y z"}, desired: []string{"w1: b z", "w2: a m", "w3: y"}, strategy: rolling,
		want: []string{
			"1: surge w2 status +a +m",
			"2: update w1 status +b +z -a", "2: update w3 status +y -m",
			"3: update w2 status -b", "3: delete w4 -y -z",
		},
	}, {
		name: "D4 a surge keeps only who is waited for", why: "k stands in w3 already",
		stored: []string{"w1: a k", "w2: b", "w3: k"}, desired: []string{"w1: b", "w2: a", "w3: k"}, strategy: rolling,
		want: []string{"1: surge w1 status +b -k", "2: update w2 status +a -b", "3: update w1 status -a"},
	}, {
		name: "D4 the bound cuts a chain", why: "of five objects within three steps one is surged",
		stored: []string{"w1: a", "w2: b", "w3: c", "w4: d", "w5:"}, desired: []string{"w1:", "w2: a", "w3: b", "w4: c", "w5: d"},
		strategy: rolling, opts: within(3),
		want: []string{
			"1: surge w3 status +b", "1: update w5 status +d",
			"2: update w2 status +a -b", "2: update w4 status +c -d",
			"3: update w1 status -a", "3: update w3 status -c",
		},
	}, {
		name: "D4 stored twice", why: "after a crash a is in w1 and w2; w2 has to be deleted and holds it, so that w1 needs no surge",
		stored: []string{"w1: a", "w2: a", "w3: b"}, desired: []string{"w1: b", "w3: a"}, strategy: rolling,
		want: []string{"1: update w1 status +b -a", "2: update w3 status +a -b", "3: delete w2 -a"},
	}, {
		name: "D4 stored twice, the other way round", why: "the same where the object that has to be deleted comes first by name",
		stored: []string{"w0: a", "w1: a", "w3: b"}, desired: []string{"w1: b", "w3: a"}, strategy: rolling,
		want: []string{"1: update w1 status +b -a", "2: update w3 status +a -b", "3: delete w0 -a"},
	}, {
		name: "D5 already there", why: "b stands in w2 already, so w1 can drop it at any time",
		stored: []string{"w1: a b", "w2: b"}, desired: []string{"w1: a", "w2: b c"}, strategy: rolling,
		want: []string{"1: update w1 status -b", "1: update w2 status +c"},
	}, {
		name: "D6 what leaves doesn't come back", why: "l is stored twice and leaves, n is new: a surge adds neither",
		stored: []string{"w1: a l", "w2: b l"}, desired: []string{"w1: b n", "w2: a"}, strategy: rolling,
		want: []string{"1: surge w1 status +b -l", "2: update w2 status +a -b -l", "3: update w1 status +n -a"},
	}, {
		name: "D7 the index rises", why: "labels first: what leaves is seen late",
		stored: []string{"w1 0: a", "w2 1: b"}, desired: []string{"w1 1: b", "w2 1: c"}, strategy: rolling,
		want: []string{"1: update w1 labels,status +b -a", "2: update w2 status +c -b"},
	}, {
		name: "D7 the index falls", why: "status first: what comes is seen late",
		stored: []string{"w1 1: a", "w2 0: b"}, desired: []string{"w1 0: b", "w2 0: c"}, strategy: rolling,
		want: []string{"1: update w1 status,labels +b -a", "2: update w2 status +c -b"},
	}, {
		name: "D7 a surge with labels", why: "the higher index for as long as the object holds clusters of both groups: labels before the first status, or after the last",
		stored: []string{"w1 0: a", "w2 1: b"}, desired: []string{"w1 1: b", "w2 0: a"}, strategy: rolling, opts: two,
		want: []string{"1: surge w1 labels,status +b", "1: surge w2 status +a", "2: update w1 status -a", "2: update w2 status,labels -b"},
	}, {
		name: "D9 stored objects may be odd", why: "an interrupted update leaves a cluster twice, and older controllers an empty decision; neither is carried on",
		stored: []string{"w1: a", "w2: b"}, desired: []string{"w1: b", "w2: a"}, strategy: rolling,
		want: []string{"1: surge w1 status +b", "2: update w2 status +a -b", "3: update w1 status -a"},
	}, {
		name: "D9 stored objects may be odd in a union", why: "nor does a union carry it on",
		stored: []string{"w1: a", "w2: b"}, desired: []string{"w1: b", "w2: a"}, strategy: rolling, opts: two,
		want: []string{"1: surge w1 status +b", "1: surge w2 status +a", "2: update w1 status -a", "2: update w2 status -b"},
	}} {
		t.Run(test.name, func(t *testing.T) {
			stored := state(test.stored...)
			if strings.Contains(test.name, "odd") {
				odd := &stored[0].Status.Decisions
				*odd = append(*odd, (*odd)[0], decision("", "").Status.Decisions[0])
			}
			plan, err := decisionupdate.New(stored, state(test.desired...), test.strategy, test.opts...)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(test.why)
			want(t, plan, test.want...)
			for _, step := range plan.Steps {
				for _, w := range step {
					if w.To != nil && slices.ContainsFunc(w.To.Status.Decisions, func(d clusterv1beta1.ClusterDecision) bool { return d.ClusterName == "" }) {
						t.Errorf("%s writes an empty decision", w)
					}
				}
			}
		})
	}
}

// D3: desired data wins in the union, which is sorted by name; what leaves keeps its data.
func TestUnionHasDesiredDataAndIsSorted(t *testing.T) {
	stored, desired := state("w1: d b a", "w2: c"), state("w1: c b", "w2: a d")
	stored[0].Status.Decisions[0].Reason = "stored"
	stored[0].Status.Decisions[1].Reason = "stored"
	desired[0].Status.Decisions[1].Reason = "desired"
	for _, opts := range [][]decisionupdate.Option{nil, {decisionupdate.SurgeAndFinalize()}} {
		plan := mustPlan(t, stored, desired, rolling, opts...)
		var got []string
		for _, d := range plan.Steps[0][0].To.Status.Decisions {
			got = append(got, d.ClusterName+" "+d.Reason)
		}
		if diff := cmp.Diff([]string{"a ", "b desired", "c ", "d stored"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s%s", diff, plan)
		}
	}
}

// D4: of two objects that exchange a cluster the emptier one is surged, so that none goes over 100 if that can
// be avoided.
func TestSurgesStayWithinTheLimitWhereTheyCan(t *testing.T) {
	for _, order := range [][2]string{{"w1", "w2"}, {"w2", "w1"}} {
		full, half := divided(100, numbers(1, 100))[0], divided(50, numbers(101, 150))[0]
		full.Name, half.Name = order[0], order[1]
		stored := []*pd{full.DeepCopy(), half.DeepCopy()}
		full.Status.Decisions[0], half.Status.Decisions[0] = half.Status.Decisions[0], full.Status.Decisions[0]
		plan := mustPlan(t, stored, []*pd{full, half}, rolling)
		if over := plan.OverLimit(); len(over) > 0 || plan.Writes() != 3 {
			t.Errorf("over the limit: %v\n%s", over, plan)
		}
	}
}

// D4: the same in a circle of more objects than are tried one by one.
func TestSurgesOfLargeCirclesStayWithinTheLimitWhereTheyCan(t *testing.T) {
	const n = 20
	stored, desired := divided(100, numbers(1, 100*n)), divided(100, numbers(1, 100*n))
	for o := range n { // each object hands its first cluster to the next
		desired[(o+1)%n].Status.Decisions[0] = stored[o].Status.Decisions[0]
	}
	for _, objects := range [][]*pd{stored, desired} {
		objects[13].Status.Decisions = objects[13].Status.Decisions[:50]
	}
	plan := mustPlan(t, stored, desired, rolling)
	if over := plan.OverLimit(); len(over) > 0 || plan.Writes() != n+1 {
		t.Errorf("%d writes, over the limit: %v", plan.Writes(), over)
	}
}

// D9: surges beyond 100 clusters are reported, the fullest first.
func TestOverLimitReportsSurges(t *testing.T) {
	// The first object of each pair is full, and so is the second: it can't be avoided.
	stored, desired := divided(100, numbers(1, 400)), divided(100, numbers(1, 400))
	exchange := func(a, b, n int) {
		for i := range n {
			x, y := &desired[a].Status.Decisions[i], &desired[b].Status.Decisions[i]
			*x, *y = *y, *x
		}
	}
	exchange(0, 1, 1)
	exchange(2, 3, 7)
	plan := mustPlan(t, stored, desired, rolling)
	wantOver := []decisionupdate.OverLimit{{Object: "web-decision-3", Clusters: 107}, {Object: "web-decision-1", Clusters: 101}}
	if diff := cmp.Diff(wantOver, plan.OverLimit()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if over := mustPlan(t, stored, desired, rolling, decisionupdate.SurgeAndFinalize()).OverLimit(); len(over) != 4 {
		t.Errorf("D3: the union of all four is over the limit, got %v", over)
	}
}

// Issue 4, point 5: 1,000 objects of 100 clusters, shifted by one.
func TestShiftOfAThousandObjects(t *testing.T) {
	const n = 1000
	stored, desired := divided(100, numbers(1, 100*n)), divided(100, numbers(0, 100*n))
	for _, test := range []struct{ steps, most int }{{0, n + 1}, {10, n * 112 / 100}} {
		plan := mustPlan(t, stored, desired, rolling, decisionupdate.MaxSteps(test.steps))
		most := test.most
		if test.steps > 0 {
			most++ // the object that is created
		}
		if plan.Writes() > most || test.steps > 0 && len(plan.Steps) > test.steps {
			t.Errorf("%d writes in %d steps, want at most %d within %d", plan.Writes(), len(plan.Steps), most, test.steps)
		}
		over := plan.OverLimit()
		if test.steps == 0 && len(over) > 0 || len(over) > 0 && over[0].Clusters > 101 {
			t.Errorf("within %d steps %d objects over the limit: %v", test.steps, len(over), over[0])
		}
	}
}

// D7: the warnings are values, there before anything is written.
func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		name, why       string
		stored, desired []string
		want            []decisionupdate.Warning
	}{{
		name: "D7 labels first", why: "the index rises: a leaves, b moves to another group; s stays",
		stored: []string{"w1 0: s a b", "w2 0:"}, desired: []string{"w1 1: s", "w2 0: b"},
		want: []decisionupdate.Warning{{Object: "w1", First: decisionupdate.Labels, Seen: decisionupdate.Group{Index: "1"}, Clusters: []string{"a", "b"}}},
	}, {
		name: "D7 status first", why: "the index falls: n is new, b comes from another group; s stays",
		stored: []string{"w1 2/rest: s", "w2 0/canary: b"}, desired: []string{"w1 0/canary: b n s"},
		want: []decisionupdate.Warning{{Object: "w1", First: decisionupdate.Status, Seen: decisionupdate.Group{Index: "2", Name: "rest"}, Clusters: []string{"b", "n"}}},
	}, {
		name: "D7 a cluster that is stored twice in one object", why: "it is named once",
		stored: []string{"w1 0: a a"}, desired: []string{"w1 1: b"},
		want: []decisionupdate.Warning{{Object: "w1", First: decisionupdate.Labels, Seen: decisionupdate.Group{Index: "1"}, Clusters: []string{"a"}}},
	}, {
		name: "D7 another name", why: "the index is the same: labels first, too, so that nothing is seen early",
		stored: []string{"w1 1/old: a s"}, desired: []string{"w1 1/new: n s"},
		want: []decisionupdate.Warning{{Object: "w1", First: decisionupdate.Labels, Seen: decisionupdate.Group{Index: "1", Name: "new"}, Clusters: []string{"a"}}},
	}, {
		name: "D7 right all the same", why: "x leaves w1 and moves within the group that w1 gets, y comes from the group that w1 had",
		stored: []string{"w1 0: x", "w2 1:", "w3 0: y"}, desired: []string{"w1 1: y", "w2 1: x"},
	}, {
		name: "D7 only labels", why: "clusters change their group with one request",
		stored: []string{"w1 0: a b"}, desired: []string{"w1 1: a b"},
	}, {
		name: "D7 steady names", why: "no object changes its group",
		stored: []string{"w1 0: a", "w2 1: b"}, desired: []string{"w1 0: b", "w2 1: a"},
	}, {
		name: "D7 no readable index", why: "a stored object without labels gets them before its clusters change",
		stored: []string{"w1 x: a"}, desired: []string{"w1 0: b"},
		want: []decisionupdate.Warning{{Object: "w1", First: decisionupdate.Labels, Seen: decisionupdate.Group{Index: "0"}, Clusters: []string{"a"}}},
	}} {
		t.Run(test.name, func(t *testing.T) {
			for _, strategy := range []decisionupdate.UpdateStrategy{{}, rolling} {
				plan := mustPlan(t, state(test.stored...), state(test.desired...), strategy)
				if diff := cmp.Diff(test.want, plan.Warnings); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s%s", test.why, diff, plan)
				}
			}
		})
	}
	w := decisionupdate.Warning{Object: "w1", First: decisionupdate.Status, Seen: decisionupdate.Group{Index: "2", Name: "rest"}, Clusters: []string{"b", "n"}}
	if got, want := w.String(), "w1 changes its group, status first: until the other is written it shows in group 2/rest what belongs elsewhere: b n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Desired labels other than those of placement and group are written, too.
func TestOtherDesiredLabelsAreWritten(t *testing.T) {
	for _, value := range []string{"", "silver"} {
		stored, desired := state("w1: a"), state("w1: a")
		if value != "" {
			stored[0].Labels["tier"] = value
		}
		desired[0].Labels["tier"] = "gold"
		want(t, mustPlan(t, stored, desired, rolling), "1: update w1 labels")
		stored[0].Labels["tier"] = "gold"
		want(t, mustPlan(t, stored, desired, rolling))
	}
}

// Labels that the plan doesn't own are kept, as is the rest of the metadata.
func TestUpdateKeepsForeignMetadata(t *testing.T) {
	stored, desired := state("w1 0/old: a"), state("w1 1: a")
	stored[0].UID, stored[0].ResourceVersion = "u", "7"
	stored[0].Labels["team"] = "a"
	stored[0].Annotations = map[string]string{"note": "kept"}
	delete(desired[0].Labels, "cluster.open-cluster-management.io/decision-group-name")
	desired[0].Labels["tier"] = "gold"
	plan := mustPlan(t, stored, desired, rolling)
	to := plan.Steps[0][0].To
	got := fmt.Sprintln(to.Labels, to.Annotations, to.UID, to.ResourceVersion)
	want := "map[cluster.open-cluster-management.io/decision-group-index:1 cluster.open-cluster-management.io/placement:web team:a tier:gold] map[note:kept] u 7\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStringCutsLongLists(t *testing.T) {
	plan := mustPlan(t, state("w1: a"), state("w1: b c d e f g h"), rolling)
	want(t, plan, "1: update w1 status +b +c +d +e +f +(2 more) -a")
}

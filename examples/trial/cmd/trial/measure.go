// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// measure writes a recording into a temporary file, judges it, and prints how long that took and how much memory it needed.
func measure(args []string, out io.Writer) error {
	f := newFlags("measure")
	events := f.Int("events", 1_000_000, "how many events")
	clusters := f.Int("clusters", 1_000, "how many clusters each rollout has")
	audit := f.Bool("audit", false, "write an audit log instead of a recording")
	if err := parse(f, args, out); err != nil {
		return err
	}
	if *events <= 0 || *clusters <= 0 || f.NArg() > 0 {
		return fmt.Errorf("-events is %d and -clusters %d, expected positive numbers and nothing else", *events, *clusters)
	}
	file, err := os.CreateTemp("", "trial-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	size, err := play(file, *events, *clusters, *audit)
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	o := judge.DefaultOptions
	o.Patience = time.Hour
	start := time.Now()
	recording, err := judge.Read(file)
	if err != nil {
		return err
	}
	read := time.Since(start)
	report := judge.Judge(recording, o)
	all := time.Since(start)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	_, err = fmt.Fprintf(out, "%d events (%d MB), %d rollouts of %d clusters, %d starts, %d broken: read in %v, all in %v, with %d MB from the system, on %d processors\n",
		*events, size>>20, report.Owners, *clusters, report.Starts, report.Count(judge.Broken), read.Round(100*time.Millisecond), all.Round(100*time.Millisecond), memory.Sys>>20, runtime.GOMAXPROCS(0))
	return err
}

// play writes rollouts of new versions, ten clusters at a time, each with five events a cluster.
func play(to io.Writer, events, clusters int, audit bool) (size int, err error) {
	out := bufio.NewWriterSize(to, 1<<20)
	now, rv, n := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0, 0
	padding := strings.Repeat("x", 600) // as much as other fields take
	said := 0
	line := func(typed, object string) {
		now = now.Add(10 * time.Millisecond)
		if audit {
			text := ""
			if object != "" {
				n++
				text = logged(typed, object, now)
			} else if said++; said == 2 { // everything is listed
				for _, k := range recorded {
					text += logged("LISTED", fmt.Sprintf(`{"kind":"%sList","metadata":{"resourceVersion":"0"},"items":[]}`, k.kind), now)
				}
			}
			k, e := out.WriteString(text)
			if size += k; err == nil {
				err = e
			}
			return
		}
		if object != "" {
			object = `,"object":` + object
			n++
		}
		k, e := fmt.Fprintf(out, `{"type":%q,"at":%q%s}`+"\n", typed, now.Format(time.RFC3339Nano), object)
		if size += k; err == nil {
			err = e
		}
	}
	meta := func(namespace, name, more string) string {
		rv++
		return fmt.Sprintf(`"metadata":{"namespace":%q,"name":%q,"resourceVersion":"%d","generation":1%s}`, namespace, name, rv, more)
	}
	line("BEGIN", "")
	line("LISTED", "")
	for set := 0; n < events; set++ {
		owner := fmt.Sprintf("set%d", set)
		var decided, names []string
		for part := 0; part*100 < clusters; part++ {
			decided = nil
			for c := part * 100; c < min(clusters, part*100+100); c++ {
				decided = append(decided, fmt.Sprintf(`{"clusterName":"c%d","reason":""}`, c))
			}
			name := fmt.Sprintf("%s-%d", owner, part)
			names = append(names, fmt.Sprintf("%q", name))
			line("ADDED", fmt.Sprintf(`{"kind":"PlacementDecision",%s,"status":{"decisions":[%s]}}`, meta("w", name, fmt.Sprintf(`,"labels":{"cluster.open-cluster-management.io/placement":%q,"cluster.open-cluster-management.io/decision-group-index":"0"}`, owner)), strings.Join(decided, ",")))
		}
		line("ADDED", fmt.Sprintf(`{"kind":"Placement",%s,"status":{"numberOfSelectedClusters":%d,"decisionGroups":[{"decisionGroupIndex":0,"clusterCount":%d,"decisions":[%s]}]}}`, meta("w", owner, ""), clusters, clusters, strings.Join(names, ",")))
		for version := 0; version < 4 && n < events; version++ {
			line("MODIFIED", fmt.Sprintf(`{"kind":"ManifestWorkReplicaSet",%s,"spec":{"manifestWorkTemplate":{"workload":{"manifests":[{"version":"%d","padding":%q}]}},"placementRefs":[{"name":%q,"rolloutStrategy":{"type":"Progressive","progressive":{"maxConcurrency":10}}}]},"status":{"conditions":[{"type":"PlacementVerified","status":"True"}]}}`, meta("w", owner, ""), version, padding, owner))
			work := func(c int, conditions string) {
				line("MODIFIED", fmt.Sprintf(`{"kind":"ManifestWork",%s,"spec":{"workload":{"manifests":[{"version":"%d","padding":%q}]}},"status":{"conditions":[%s]}}`,
					meta(fmt.Sprintf("c%d", c), owner, fmt.Sprintf(`,"labels":{"work.open-cluster-management.io/manifestworkreplicaset":"w.%s"}`, owner)), version, padding, conditions))
			}
			condition := func(kind, status string) string {
				return fmt.Sprintf(`{"type":%q,"status":%q,"observedGeneration":1,"lastTransitionTime":%q,"reason":"Measured","message":""}`, kind, status, now.Format(time.RFC3339))
			}
			for c := 0; c < clusters && n < events; c += 10 {
				for phase := range 5 {
					for i := c; i < min(c+10, clusters); i++ {
						work(i, []string{"", condition("Applied", "True"), condition("Applied", "True") + "," + condition("Progressing", "True"),
							condition("Applied", "True") + "," + condition("Progressing", "True") + "," + condition("Degraded", "False"),
							condition("Applied", "True") + "," + condition("Progressing", "False") + "," + condition("Degraded", "False")}[phase])
					}
				}
			}
		}
	}
	line("BOOKMARK", "")
	if err == nil {
		err = out.Flush()
	}
	return size, err
}

// logged is a line of an audit log for an event, with the object as the answer, and as the request if it is written.
func logged(typed, object string, now time.Time) string {
	_, kind, _ := strings.Cut(object, `"kind":"`)
	kind, _, _ = strings.Cut(kind, `"`)
	kind = strings.TrimSuffix(kind, "List")
	i := slices.IndexFunc(recorded, func(k watched) bool { return k.kind == kind })
	verb, code, request := "update", 200, `,"requestObject":`+object
	switch typed {
	case "ADDED":
		verb, code = "create", 201
	case "LISTED":
		verb, request = "list", ""
	}
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"00000000-0000-0000-0000-000000000000","stage":"ResponseComplete",`+
		`"requestURI":"/apis/%[1]s","verb":%[2]q,"user":{"username":"measured","groups":["system:authenticated"]},"sourceIPs":["10.0.0.1"],"userAgent":"measured/v1",`+
		`"objectRef":{"resource":%[3]q,"apiGroup":%[1]q},"responseStatus":{"metadata":{},"code":%[4]d}%[5]s,"responseObject":%[6]s,`+
		`"requestReceivedTimestamp":%[7]q,"stageTimestamp":%[8]q}`+"\n", recorded[i].resource.Group, verb, recorded[i].resource.Resource, code, request, object,
		now.Add(-2*time.Millisecond).Format(time.RFC3339Nano), now.Format(time.RFC3339Nano))
}

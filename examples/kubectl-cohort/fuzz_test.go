// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the input is, the command says in one line what is wrong with it, or plays it through: every
// selected cluster is counted, and the last wave is the end.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{
		documents(aCluster, aPlacement, aReplicaSet, aBehavior),
		documents(aDecision, aStrategy),
		documents(aDecision, aPlacement, anAddOn),
		documents(aCluster, aPlacement, aPolicy, aBinding),
		documents(aPlacement, aReplicaSet, anAddOn, aPolicy, aBinding, aDecision), // several rollouts
		liveSet(),
		documents(aCluster, aPlacement, strings.Replace(aStrategy, "maxConcurrency: 1", "progressDeadline: 0s, minSuccessTime: 1h, maxFailures: 100%", 1),
			strings.Replace(aBehavior, "after: 1m", "outcome: NeverAnswers, recoversAfter: 8760h, share: 50%, names: ['[a-c]']", 1)),
	} {
		f.Add(seed)
	}
	for _, file := range []string{"canary-fails/retail.yaml", "recovers/telco.yaml", "addon/list.yaml",
		"policy/progressive.yaml", "policy/sub-filter.yaml", "policy/selective-enforcement-policy.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, in string) {
		var stdout, stderr bytes.Buffer
		switch status := cohort([]string{"-f", "-", "-o", "json", "--start", "2025-01-01T01:00:00Z"}, strings.NewReader(in), &stdout, &stderr); status {
		case 0:
			checkReport(t, stdout.Bytes())
		case 2:
			if line := stderr.String(); strings.Count(line, "\n") != 1 || len(line) < len("simulate: x\n") || stdout.Len() > 0 {
				t.Errorf("found %q on standard error and %d bytes on standard output, want one line and none", line, stdout.Len())
			}
		default:
			t.Errorf("exit status %d, %s", status, stderr.String())
		}
	})
}

type counts struct{ ToApply, Progressing, Succeeded, Failed, TimeOut, Skip, Deselected int }

func (c counts) total() int {
	return c.ToApply + c.Progressing + c.Succeeded + c.Failed + c.TimeOut + c.Skip
}

// oneReport is the report of one rollout.
type oneReport struct {
	Placement struct{ Clusters int }
	Waves     []struct {
		After  string
		Counts counts
	}
	End     struct{ After, LastChange string }
	Summary counts
}

func checkReport(t *testing.T, data []byte) {
	var several struct{ Rollouts []oneReport }
	if err := json.Unmarshal(data, &several); err != nil {
		t.Fatal(err)
	}
	if several.Rollouts == nil {
		several.Rollouts = make([]oneReport, 1)
		if err := json.Unmarshal(data, &several.Rollouts[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, report := range several.Rollouts {
		report.check(t)
	}
}

func (r oneReport) check(t *testing.T) {
	for _, wave := range r.Waves {
		if got := wave.Counts.total(); got != r.Placement.Clusters && (wave.Counts.Deselected == 0 || got-wave.Counts.Deselected > r.Placement.Clusters) {
			t.Errorf("%d clusters after %s, want %d", got, wave.After, r.Placement.Clusters)
		}
	}
	n := len(r.Waves)
	if n == 0 || r.End.LastChange != "" && r.Waves[n-1].After != r.End.LastChange || r.Waves[n-1].Counts != r.Summary {
		t.Errorf("the end is %v and %v, want those of the last of %d waves", r.End, r.Summary, n)
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build virtual

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

var (
	class  = flag.String("class", "", "play only worlds in which this difference matters")
	keep   = flag.String("keep", "", "a directory for the recordings of all worlds")
	worlds = flag.Int("worlds", 1, "how many worlds are played")
	world  = flag.Uint64("world", 6000, "the seed of the first of them; the others follow")
	record = flag.String("record", "", "record these recordings anew, with commas between their names, or all")
)

// ofOCM is OCM's controller as the subject of a trial.
var ofOCM = &trial.Subject{
	Run:         func(ctx context.Context, p *trial.Process) error { return runFor(ctx, p.Config, 5) },
	RemoveAfter: 2 * time.Second, Placements: 2, Replicas: 1, IgnoreAnnotation: judged.IgnoreAnnotation,
}

// TestTraced plays worlds to OCM's controller in virtual time.
func TestTraced(t *testing.T) {
	h, err := trial.Start()
	if err != nil {
		t.Fatal(err)
	}
	for seed, text := range h.Traced(t, ofOCM, *class, *world, *worlds) {
		if *keep != "" {
			if err := os.WriteFile(filepath.Join(*keep, fmt.Sprintf("%d.jsonl", seed)), text, 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRecord records OCM's controller anew, in the first world that shows what a recording is about.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("-record names no recording")
	}
	h, err := trial.Start()
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range recorded {
		if *record != "all" && !slices.Contains(strings.Split(*record, ","), name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for seed := of.seed; seed < of.seed+uint64(*worlds); seed++ {
				part := excerptOf(t, h.Traced(t, ofOCM, of.class, seed, 1)[seed], of)
				if part == nil {
					continue
				}
				t.Logf("seed %d", seed)
				if err := os.WriteFile(filepath.Join(recordings, name+".jsonl"), part, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%d worlds from %d on show nothing", *worlds, of.seed)
		})
	}
}

// excerptOf is the smallest part of a recording that shows something with its cause, or nil.
func excerptOf(t *testing.T, text []byte, of recording) []byte {
	t.Helper()
	if len(text) > 1<<20 {
		return nil // works without end
	}
	lines, r := readRecording(t, text)
	report := judge.Judge(r, judged)
	for i := range report.Findings {
		f := &report.Findings[i]
		if !of.shows(f) || of.causes(lines[:f.Line], f) != "" {
			continue
		}
		judge.Excerpt(r, report, i, judged, func(numbers []int) bool {
			var part []line
			for _, n := range numbers {
				if n <= f.Line {
					part = append(part, lines[n-1])
				}
			}
			return of.causes(part, f) == ""
		})
		part := slim(t, text, f.Excerpt)
		if problem := of.problem(t, part); problem != "" {
			t.Logf("%s: %s", f, problem)
			continue
		}
		t.Log(f)
		return part
	}
	return nil
}

// slim copies lines of a recording, without what neither a judge nor a controller reads.
func slim(t *testing.T, text []byte, numbers []int) []byte {
	t.Helper()
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	number := 0
	for raw := range bytes.Lines(text) {
		if number++; !slices.Contains(numbers, number) {
			continue
		}
		var l judge.Line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		if len(l.Object) > 0 {
			var o unstructured.Unstructured
			if err := json.Unmarshal(l.Object, &o.Object); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"managedFields", "uid", "creationTimestamp"} {
				unstructured.RemoveNestedField(o.Object, "metadata", field)
			}
			var err error
			if l.Object, err = json.Marshal(o.Object); err != nil {
				t.Fatal(err)
			}
		}
		if err := to.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

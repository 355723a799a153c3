// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/recording"
)

// People keep dumps compressed, in directories beside archives, and beside recordings, which are compressed, too.
func TestFilesAsPeopleKeepThem(t *testing.T) {
	objects, err := os.ReadFile("testdata/moments/version-before.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var packed, recorded bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(objects); err != nil {
		t.Fatal(err)
	}
	writer := recording.NewWriter(&recorded)
	if _, err := writer.Add(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface{ Close() error }{zip, writer} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	dump, archive, day := filepath.Join(dir, "dump.YAML.gz"), filepath.Join(dir, "logs.tar.gz"), filepath.Join(t.TempDir(), "day.rec")
	for file, content := range map[string][]byte{dump: packed.Bytes(), archive: packed.Bytes(), day: recorded.Bytes()} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	note := "note: not read, as they are packed (1): " + archive
	for _, test := range []struct {
		why, in string
		args    []string
		want    []string
	}{
		{"a directory", "", []string{"status", "menu", "-f", dir}, []string{note, "0 of 3 clusters done"}},
		{"the past of a cluster in it", "", []string{"history", "m1", "-f", dir}, []string{note, "m1 is in group 0"}},
		{"standard input", packed.String(), []string{"status", "menu", "-f", "-"}, []string{"0 of 3 clusters done"}},
		{"a compressed dump is no recording", "", []string{"diff", dump, "testdata/moments/version-before.yaml"}, []string{"nothing changed"}},
	} {
		got := simulateText(t, test.in, test.args...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.why, want, got)
			}
		}
	}
	if got := refused(t, "", "status", "-f", day); !strings.Contains(got, "day.rec: is a recording, which must be given by --recording") {
		t.Error(got)
	}
}

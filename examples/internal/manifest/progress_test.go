// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// A share grows with the files that were read, and ends at one.
func TestProgressEndsAtOne(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"list.yaml": manyToys(""), "twisted.yaml": manyToys("    limit: &five 5\n"), "dir/a.json": `{"apiVersion":"v1","kind":"Toy"}`} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reader := knowing()
	reader.Progress = new(manifest.Progress)
	if got := reader.Progress.Share(); got != 0 {
		t.Errorf("%v before anything is read", got)
	}
	in := "\xff\xfe" + strings.Join(strings.Split(manyToys(""), ""), "\x00") + "\x00" // UTF-16 has fewer bytes once it is read
	if _, err := reader.Read(strings.NewReader(in), filepath.Join(dir, "list.yaml"), "-", filepath.Join(dir, "twisted.yaml"), filepath.Join(dir, "dir")); err != nil {
		t.Fatal(err)
	}
	if got := reader.Progress.Share(); got != 1 {
		t.Errorf("%v in the end", got)
	}
	reader.Progress = new(manifest.Progress)
	_, err := reader.Read(nil, filepath.Join(dir, "list.yaml"), filepath.Join(dir, "missing.yaml"))
	if got := reader.Progress.Share(); err == nil || got != 1 {
		t.Errorf("%v, %v: the first file is all that there is", got, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience is the timeout of the tests' waits: a busy machine takes ten times as long as an idle one.
const patience = 3 * time.Minute

// built is the directory of the built programs.
var built string

// programs builds the API server, the controllers, the mirror, the kubectl plugin and OCM's own controller once, and
// returns their directory.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "controllers")
	if err != nil {
		return "", err
	}
	built = dir
	out, err := exec.Command("go", "build", "-o", dir+"/", "./apiserver", "./works", "./decisions", "./policies").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
		return dir, err
	}
	for _, other := range []struct{ module, program string }{{"../inventory", "./mirror"}, {"../kubectl-cohort", "."}, {"ocm", "."}} {
		build := exec.Command("go", "build", "-o", dir+"/", other.program)
		build.Dir = other.module
		if out, err = build.CombinedOutput(); err != nil {
			os.Stderr.Write(out)
			return dir, err
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// program is the path of a program.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

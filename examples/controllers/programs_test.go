package controllers

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built is where the programs are, once they are.
var built string

// programs builds the API server, the controllers and the mirror once, and says where.
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
	mirror := exec.Command("go", "build", "-o", dir+"/", "./mirror")
	mirror.Dir = "../inventory" // a module of its own
	if out, err = mirror.CombinedOutput(); err != nil {
		os.Stderr.Write(out)
	}
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// program is the path of one of them.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

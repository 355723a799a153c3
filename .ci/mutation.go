// SPDX-License-Identifier: Apache-2.0

//go:build ignore

// Mutation tries the breaks of a package's code that gremlins lists: mutation PACKAGE RESULT. It prints those that the short
// tests don't notice, and fails where more than 5 in 100 are not explained in .ci/survivors. Left out are operators of
// constants and of strings, since few of these compile.
//
// All breaks are compiled into one test binary, as calls like
//
//	a < b    mutLess(17, 18, a, b)    which is a >= b where MUTANT is 17, and a <= b where it is 18
//
// and for each the binary runs those tests that come by it, the quick ones first.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := judge(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(dir, result string) error {
	known, err := survivors()
	if err != nil {
		return err
	}
	listed, err := read(result)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	p, err := load(dir)
	if err != nil {
		return err
	}
	p.listed = listed
	noticed, err := p.notice(scratch)
	if err != nil {
		return err
	}
	killed, explained, unexplained := 0, 0, 0
	idle := maps.Clone(known) // explanations that nothing survives for
	for i, m := range p.mutants {
		switch line := m.file + " " + m.line; {
		case noticed[i]:
			killed++
		case known[line]:
			explained++
			delete(idle, line)
		default:
			unexplained++
			fmt.Printf("survived %s:%d:%d %s: %s\n", m.file, m.at.Line, m.at.Column, m.kind, m.line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(idle)) {
		if file, _, _ := strings.Cut(line, " "); path.Dir(file) == dir {
			fmt.Printf("explained in vain %s\n", line)
		}
	}
	fmt.Printf("%s: %d of %d killed, %d explained, %d not\n", dir, killed, len(p.mutants), explained, unexplained)
	if unexplained*20 > len(p.mutants) {
		return fmt.Errorf("%s: %d of %d breaks survived without an explanation in .ci/survivors", dir, unexplained, len(p.mutants))
	}
	return nil
}

// testedFrom are the packages with tests of another one, beside its own: exposure and what rollout is made of are held against its oracle.
var testedFrom = map[string]string{
	"rollout/exposure":        "rollout",
	"rollout/internal/fleet":  "rollout",
	"rollout/internal/limits": "rollout",
	"rollout/internal/stages": "rollout",
}

// notice says which breaks some test notices: the tests of the package, or else those of the package that tests it, too.
func (p *pkg) notice(scratch string) (noticed []bool, err error) {
	for _, f := range p.files {
		f.rewrite(f.syntax)
	}
	noticed = make([]bool, len(p.mutants))
	for _, from := range []string{p.dir, testedFrom[p.dir]} {
		if from == "" || !slices.Contains(noticed, false) {
			continue
		}
		binary, telling, err := p.compile(scratch, from)
		if err != nil {
			return nil, err
		}
		tests, err := measure(binary, telling, from, scratch)
		if err != nil {
			return nil, err
		}
		for i := range noticed {
			if noticed[i] {
				continue
			}
			if noticed[i], err = tests.notice(i + 1); err != nil {
				return nil, err
			}
		}
	}
	return noticed, nil
}

// place is where gremlins has a break, and which.
type place struct {
	file         string
	line, column int
	kind         string
}

// read reads which breaks gremlins lists.
func read(result string) (map[place]bool, error) {
	data, err := os.ReadFile(result)
	if err != nil {
		return nil, err
	}
	var r struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type         string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", result, err)
	}
	listed := map[place]bool{}
	for _, f := range r.Files {
		for _, m := range f.Mutations {
			listed[place{filepath.Base(f.Name), m.Line, m.Column, m.Type}] = true
		}
	}
	return listed, nil
}

// survivors reads .ci/survivors: a file and a line of its source without its comment, and below it, indented, why no test can
// notice.
func survivors() (map[string]bool, error) {
	data, err := os.ReadFile(".ci/survivors")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, line := range strings.Split(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, " ") {
			known[line] = true
		}
	}
	return known, nil
}

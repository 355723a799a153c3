// SPDX-License-Identifier: Apache-2.0

//go:build ignore

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tests are the short tests of a package, those that take the least first, in a binary that has all breaks in it.
type tests struct {
	binary, dir string
	rapid       bool // whether some are properties
	all         []test
}

// test is one of them: how long it computes, and whether it comes by each break.
type test struct {
	name string
	took time.Duration
	met  []byte
}

// quick is how long a test computes that is run together with others. Starting the binary takes half of it.
const quick = 30 * time.Millisecond

// measure runs each test alone, without a break: in one binary to see that it passes, and how long it takes; in the other one, whose
// tests of allocations may fail, to see what it comes by.
func measure(binary, telling, dir, scratch string) (*tests, error) {
	help, _ := exec.Command(binary, "-help").CombinedOutput()
	t := &tests{binary: binary, dir: dir, rapid: bytes.Contains(help, []byte("-rapid.nofailfile"))}
	list, err := exec.Command(binary, "-test.list", ".").Output()
	if err != nil {
		return nil, err
	}
	ctx, met := context.Background(), filepath.Join(scratch, "met")
	for _, name := range strings.Fields(string(list)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		cmd := t.command(ctx, binary, []string{name})
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s of %s fails without a break: %w\n%s", name, dir, err, out)
		}
		one := test{name: name, took: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
		if err := os.WriteFile(met, make([]byte, 1<<16), 0o600); err != nil {
			return nil, err
		}
		var exit *exec.ExitError
		if err := t.command(ctx, telling, []string{name}, "MUTANTS_MET="+met).Run(); err != nil && !errors.As(err, &exit) {
			return nil, err
		}
		if one.met, err = os.ReadFile(met); err != nil {
			return nil, err
		}
		t.all = append(t.all, one)
	}
	slices.SortFunc(t.all, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return t, nil
}

// notice says whether a test fails with a break. First the quick ones that come by it run together, then the others that do, one by
// one. What none of them notices all get at once: a test of random cases comes by now and then.
func (t *tests) notice(mutant int) (bool, error) {
	var runs [][]test
	for i, one := range t.all {
		switch {
		case one.met[mutant] == 0:
		case one.took <= quick && len(runs) > 0:
			runs[0] = append(runs[0], one)
		default:
			runs = append(runs, t.all[i:i+1:i+1])
		}
	}
	for _, run := range append(runs, t.all) {
		if failed, err := t.fail(mutant, run); failed || err != nil {
			return failed, err
		}
	}
	return false, nil
}

// fail says whether one of some tests fails with a break.
func (t *tests) fail(mutant int, some []test) (bool, error) {
	if len(some) == 0 {
		return false, nil
	}
	limit, names := time.Second, make([]string, len(some))
	for i, one := range some {
		limit += 10 * one.took // a break may make a loop endless
		names[i] = one.name
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+10*limit) // where it waits instead
	defer cancel()
	err := t.command(ctx, t.binary, names, fmt.Sprint("MUTANT=", mutant), fmt.Sprint("MUTANT_LIMIT=", limit)).Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return false, err
	}
	return err != nil, nil
}

// command runs tests by name.
func (t *tests) command(ctx context.Context, binary string, names []string, environment ...string) *exec.Cmd {
	args := []string{"-test.short", "-test.failfast", "-test.cpu", "1", "-test.run", "^(" + strings.Join(names, "|") + ")$"}
	if t.rapid {
		// Otherwise the failure of one break is played again for the next.
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime", "0s")
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), environment...)
	return cmd
}

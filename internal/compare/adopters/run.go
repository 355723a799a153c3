// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// outcome is what the tests of a package came to, without their cases.
type outcome struct {
	of     string // the package
	passed int
	failed []string
}

// String is "controllers/common 7 of 7", with those that failed behind it.
func (o outcome) String() string {
	text := fmt.Sprintf("%s %d of %d", o.of, o.passed, o.passed+len(o.failed))
	if len(o.failed) > 0 {
		text += " (failed: " + strings.Join(o.failed, ", ") + ")"
	}
	return text
}

// runTests runs the tests of packages of a checkout with the go command. A package that does not build, or has no tests, is an error.
func runTests(checkout string, packages []string, flags ...string) (string, error) {
	var told []string
	for _, of := range packages {
		args := append([]string{"test", "-count=1", "-json"}, flags...)
		if _, err := os.Stat(filepath.Join(checkout, "vendor", "modules.txt")); err != nil {
			args = append(args, "-mod=mod")
		}
		command := exec.Command("go", append(args, "./"+of)...)
		command.Dir = checkout
		var said, failed bytes.Buffer
		command.Stdout, command.Stderr = &said, &failed
		ran := command.Run()
		o, err := outcomeOf(of, &said)
		if err == nil && o.passed+len(o.failed) == 0 {
			err = errors.Join(fmt.Errorf("%s: no test ran: %s", of, strings.TrimSpace(failed.String())), ran)
		}
		if err != nil {
			return "", err
		}
		told = append(told, o.String())
	}
	return strings.Join(told, ", "), nil
}

// runOurs runs our own tests on their code, and says how they come out there.
func (s *swap) runOurs(checkout string) (told string, err error) {
	for _, file := range slices.Sorted(maps.Keys(s.replacements)) {
		tests, err := replacements.ReadFile("replacements/" + strings.TrimSuffix(file, ".go.txt") + "_test.go.txt")
		if err != nil {
			continue // it has none
		}
		path := filepath.Join(checkout, s.replacements[file], ourTests)
		if err := os.WriteFile(path, tests, 0o644); err != nil {
			return "", err
		}
		outcome, err := runTests(checkout, []string{s.replacements[file]}, "-run", "^TestCohort$")
		if err := errors.Join(err, os.Remove(path)); err != nil {
			return "", err
		}
		told += "ours before: " + outcome + "\n"
	}
	return told, nil
}

// outcomeOf counts the tests in what go test -json says.
func outcomeOf(of string, said *bytes.Buffer) (o outcome, err error) {
	o.of = of
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Action, Test string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" || strings.Contains(event.Test, "/") {
			continue // a line that is no event is of a build
		}
		switch event.Action {
		case "pass":
			o.passed++
		case "fail":
			o.failed = append(o.failed, event.Test)
		}
	}
	return o, lines.Err()
}

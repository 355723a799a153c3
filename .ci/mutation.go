//go:build ignore

// Mutation judges what gremlins found in a package: go run .ci/mutation.go PACKAGE RESULT. It tries the breaks that gremlins
// leaves out because Go counts no coverage on case lines. It prints the breaks that the tests did not notice, and fails where
// more than 5 in 100 are not explained in .ci/survivors.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

type result struct {
	Files []struct {
		Name      string `json:"file_name"`
		Mutations []mutation
	}
}

type mutation struct {
	Type, Status string
	Line, Column int
}

func main() {
	if err := judge(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(dir, file string) error {
	var r result
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	known, err := survivors()
	if err != nil {
		return err
	}
	count := map[string]int{}
	explained := 0
	var unexplained []string
	for _, f := range r.Files {
		name := path.Join(dir, f.Name)
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines := strings.Split(string(source), "\n")
		for _, m := range f.Mutations {
			line := strings.TrimSpace(lines[m.Line-1])
			at := fmt.Sprintf("%s:%d:%d %s: %s", name, m.Line, m.Column, m.Type, line)
			if m.Status == "NOT COVERED" && strings.HasPrefix(line, "case ") {
				if m.Status, err = try(dir, name, string(source), m); err != nil {
					return fmt.Errorf("%s: %w", at, err)
				}
			}
			count[m.Status]++
			switch {
			case m.Status == "NOT COVERED":
				fmt.Println("not covered", at)
			case m.Status == "LIVED" && known[name+" "+line]:
				explained++
			case m.Status == "LIVED":
				unexplained = append(unexplained, at)
			}
		}
	}
	for _, at := range unexplained {
		fmt.Println("survived", at)
	}
	killed := count["KILLED"] + count["TIMED OUT"]
	judged := killed + count["LIVED"]
	fmt.Printf("%s: %d of %d killed, %d explained, %d not covered\n", dir, killed, judged, explained, count["NOT COVERED"])
	if len(unexplained)*20 > judged {
		return fmt.Errorf("%s: %d of %d breaks survived without an explanation in .ci/survivors", dir, len(unexplained), judged)
	}
	return nil
}

// swapped has for each kind of mutation what takes the place of an operator.
var swapped = map[string]map[string]string{
	"CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", "<=": ">", ">=": "<", "<": ">=", ">": "<="},
	"CONDITIONALS_BOUNDARY": {"<=": "<", ">=": ">", "<": "<=", ">": ">="},
	"ARITHMETIC_BASE":       {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
	"INVERT_NEGATIVES":      {"-": "+"},
}

// try runs the package's tests with one operator swapped, and says what gremlins would.
func try(dir, name, source string, m mutation) (status string, err error) {
	lines := strings.Split(source, "\n")
	line, at := lines[m.Line-1], m.Column-1
	for _, length := range []int{2, 1} {
		if with, ok := swapped[m.Type][line[at:min(at+length, len(line))]]; ok {
			lines[m.Line-1] = line[:at] + with + line[at+length:]
			break
		}
	}
	if lines[m.Line-1] == line {
		return "", fmt.Errorf("no operator to swap")
	}
	scratch, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	file, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	mutant, overlay := filepath.Join(scratch, "mutant.go"), filepath.Join(scratch, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutant}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(mutant, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "test", "-short", "-failfast", "-timeout", "5m", "-overlay", overlay, "./"+dir).CombinedOutput()
	switch {
	case err == nil:
		return "LIVED", nil
	case strings.Contains(string(out), "[build failed]"):
		return "NOT VIABLE", nil
	default:
		return "KILLED", nil
	}
}

// survivors reads .ci/survivors: a file and a line of its source, then on the next line, indented, why nobody can notice.
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

//go:build ignore

// Mutation judges what gremlins found in a package: go run .ci/mutation.go PACKAGE RESULT. It prints the breaks that the
// tests did not notice, and fails where more than 5 in 100 are not explained in .ci/survivors.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
)

type result struct {
	Files []struct {
		Name      string `json:"file_name"`
		Mutations []struct {
			Type, Status string
			Line, Column int
		}
	}
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
	cases, explained := 0, 0
	var unexplained []string
	for _, f := range r.Files {
		name := path.Join(dir, f.Name)
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines := strings.Split(string(source), "\n")
		for _, m := range f.Mutations {
			count[m.Status]++
			line := strings.TrimSpace(lines[m.Line-1])
			switch at := fmt.Sprintf("%s:%d:%d %s: %s", name, m.Line, m.Column, m.Type, line); {
			case m.Status == "NOT COVERED" && strings.HasPrefix(line, "case "):
				cases++
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
	fmt.Printf("%s: %d of %d killed, %d explained; not covered: %d on case lines, %d others\n",
		dir, killed, judged, explained, cases, count["NOT COVERED"]-cases)
	if len(unexplained)*20 > judged {
		return fmt.Errorf("%s: %d of %d breaks survived without an explanation in .ci/survivors", dir, len(unexplained), judged)
	}
	return nil
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

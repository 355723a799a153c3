// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// vendor makes Cohort a vendored module of the checkout: the packages that its code imports, with those that they import, and the licence.
func vendor(checkout, library string) error {
	imported, err := importedBy(checkout)
	if err != nil {
		return err
	}
	ours, others, err := packagesOf(library, imported)
	if err != nil {
		return err
	}
	for _, p := range ours {
		if err := copySources(filepath.Join(library, strings.TrimPrefix(p, module)), filepath.Join(checkout, "vendor", p)); err != nil {
			return err
		}
	}
	licence, err := os.ReadFile(filepath.Join(library, "LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(checkout, "vendor", module, "LICENSE"), licence, 0o644); err != nil {
		return err
	}
	for p, of := range others {
		if _, err := os.Stat(filepath.Join(checkout, "vendor", p)); err == nil {
			continue
		}
		if err := vendorOther(checkout, p, of); err != nil {
			return err
		}
	}
	return errors.Join(requireOnce(checkout, "\nrequire "+module+" v0.0.0\n"), listVendored(checkout, ours))
}

// packagesOf are the packages of Cohort that some import, themselves included, and those of other modules, with these.
func packagesOf(library string, imported []string) (ours []string, others map[string]string, err error) {
	const format = "{{if .Module}}{{.Module.Path}} {{.ImportPath}}{{end}}"
	list := exec.Command("go", append([]string{"list", "-deps", "-f", format}, imported...)...)
	list.Dir = library
	out, err := list.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("what %v import: %w", imported, err)
	}
	others = make(map[string]string)
	for line := range strings.Lines(string(out)) {
		of, p, _ := strings.Cut(strings.TrimSpace(line), " ")
		if of == module {
			ours = append(ours, p)
		} else if of != "" {
			others[p] = of
		}
	}
	slices.Sort(ours)
	return ours, others, nil
}

// vendorOther adds a package of a module that the checkout vendors already, in the version that it has.
func vendorOther(checkout, p, of string) error {
	path := filepath.Join(checkout, "vendor", "modules.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, after, has := strings.Cut(string(text), "\n# "+of+" ")
	if !has {
		return fmt.Errorf("package %s is of module %s, which the checkout does not vendor", p, of)
	}
	line, _, _ := strings.Cut(after, "\n")
	version := strings.Fields(line)[0]
	download := exec.Command("go", "mod", "download", "-json", of+"@"+version)
	download.Dir = os.TempDir() // in no module
	out, err := download.Output()
	if err != nil {
		return fmt.Errorf("module %s@%s: %w", of, version, err)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil {
		return err
	}
	if err := copySources(filepath.Join(got.Dir, strings.TrimPrefix(p, of)), filepath.Join(checkout, "vendor", p)); err != nil {
		return err
	}
	head := "\n# " + of + " " + line + "\n"
	if _, more, explicit := strings.Cut(string(text), head+"## "); explicit {
		mark, _, _ := strings.Cut(more, "\n")
		head += "## " + mark + "\n"
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), head, head+p+"\n", 1)), 0o644)
}

// importedBy are the packages of Cohort that a checkout's own code imports.
func importedBy(checkout string) (packages []string, err error) {
	err = filepath.WalkDir(checkout, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "vendor" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			of, err := strconv.Unquote(i.Path.Value)
			if err == nil && strings.HasPrefix(of, module+"/") {
				packages = append(packages, of)
			}
		}
		return nil
	})
	if err == nil && len(packages) == 0 {
		err = fmt.Errorf("nothing in %s imports Cohort", checkout)
	}
	slices.Sort(packages)
	return slices.Compact(packages), err
}

// copySources copies the files of a package without its tests.
func copySources(from, to string) error {
	files, err := sources(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// requireOnce adds to go.mod, unless Cohort is there since another controller was swapped.
func requireOnce(checkout, text string) error {
	mod := filepath.Join(checkout, "go.mod")
	before, err := os.ReadFile(mod)
	if err != nil || bytes.Contains(before, []byte(module)) {
		return err
	}
	return os.WriteFile(mod, append(before, text...), 0o644)
}

// listVendored notes the packages in vendor/modules.txt, in the place of those that were noted before.
func listVendored(checkout string, packages []string) error {
	path := filepath.Join(checkout, "vendor", "modules.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head := "# " + module + " v0.0.0\n"
	before, _, _ := strings.Cut(string(text), head) // ours is the last module
	return os.WriteFile(path, []byte(before+head+"## explicit; go 1.25.0\n"+strings.Join(packages, "\n")+"\n"), 0o644)
}

// require makes Cohort a module of a checkout that vendors none: a directory of this machine.
func require(checkout, library string) error {
	library, err := filepath.Abs(library)
	if err != nil {
		return err
	}
	return requireOnce(checkout, "\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+library+"\n")
}

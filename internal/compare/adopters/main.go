// SPDX-License-Identifier: Apache-2.0

// Command adopters swaps Cohort into a checkout of OCM's source that you have, for one of its controllers, and says in how many lines.
//
//	go run -C internal/compare ./adopters -controller placement -checkout ~/ocm
//
// It changes import paths, or puts our own functions, which stand in replacements, in the place of those of the same name. It makes
// Cohort a vendored module of the checkout, or, where the checkout vendors none, one that go.mod replaces by the directory: then give
// go test -mod=mod. It builds nothing: then run OCM's own tests of the packages that it names. With -test it runs them itself, before and
// after, and says how many passed. A checkout is swapped once; git takes it back.
package main

import (
	"embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// swap is what changes for a controller.
type swap struct {
	imports      []string          // files, or directories of files, in which imports of sdk-go change
	replacements map[string]string // files with our functions, and the directories that they go into
	fields       []field           // what our functions keep in a type of theirs
	fixtures     []string          // files of tests in which the Placements get the status that a scheduler writes
	tests        []string          // the packages with tests of it
}

var swaps = map[string]swap{
	"manifestworkreplicaset": {
		imports: []string{"pkg/work/helper/helpers.go", "pkg/work/hub/controllers/manifestworkreplicasetcontroller"},
		tests:   []string{"pkg/work/hub/controllers/manifestworkreplicasetcontroller", "pkg/work/helper"},
	},
	"manifestworkreplicaset-plan": {
		replacements: map[string]string{"manifestworkreplicaset.go.txt": "pkg/work/hub/controllers/manifestworkreplicasetcontroller"},
		tests:        []string{"pkg/work/hub/controllers/manifestworkreplicasetcontroller"},
	},
	"addon": {
		imports:      []string{"pkg/addon/controllers/addonconfiguration"},
		replacements: map[string]string{"addoninstall.go.txt": "pkg/addon/controllers/addonmanagement"},
		fixtures:     []string{"pkg/addon/controllers/addonmanagement/controller_test.go"},
		tests:        []string{"pkg/addon/controllers/addonconfiguration", "pkg/addon/controllers/addonmanagement"},
	},
	"placement": {
		replacements: map[string]string{"placement.go.txt": "pkg/placement/controllers/scheduling"},
		fields:       []field{{"pkg/placement/controllers/scheduling", "schedulingController", "ownDecisions ownDecisions"}},
		tests:        []string{"pkg/placement/controllers/scheduling"},
	},
	"propagator": {
		replacements: map[string]string{"propagator.go.txt": "controllers/propagator", "propagator_common.go.txt": "controllers/common"},
		fields:       []field{{"controllers/propagator", "ReplicatedPolicyReconciler", "resolver common.Resolver"}},
		tests:        []string{"controllers/propagator", "controllers/common"},
	},
	"template-sync": {
		replacements: map[string]string{"templatesync.go.txt": "controllers/templatesync"},
		tests:        []string{"controllers/templatesync"},
	},
}

//go:embed replacements
var replacements embed.FS

func main() {
	controller := flag.String("controller", "", "one of "+strings.Join(slices.Sorted(maps.Keys(swaps)), ", "))
	checkout := flag.String("checkout", "", "the `directory` of a checkout of OCM")
	library := flag.String("library", "../..", "the `directory` of Cohort")
	run := flag.Bool("test", false, "run OCM's own tests of the packages before and after the swap")
	flag.Parse()
	s, known := swaps[*controller]
	if !known || *checkout == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := s.swap(*controller, *checkout, *library, *run); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// swap swaps, says in how many lines, and runs the tests before and after if it is to.
func (s *swap) swap(controller, checkout, library string, run bool) error {
	said := func(when string) error {
		if !run {
			return nil
		}
		told, err := runTests(checkout, s.tests)
		if err == nil {
			fmt.Printf("%s: %s\n", when, told)
		}
		return err
	}
	if err := said("before"); err != nil {
		return err
	}
	if run {
		told, err := s.runOurs(checkout)
		if err != nil {
			return err
		}
		fmt.Print(told)
	}
	added, removed, err := s.do(checkout, library)
	if err != nil {
		return err
	}
	fmt.Printf("%s: +%d/−%d lines; its tests are those of %v\n", controller, added, removed, s.tests)
	return said("after")
}

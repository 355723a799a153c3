// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// order is which groups come after which, by name.
type order struct {
	given bool
	after map[string][]string
}

// nameless is what tables and flags call groups without a name. No name is like it.
const nameless = "-"

func (o *order) String() string { return "" }

// Set reads `prod after canary,staging`, several of it with semicolons between, or `any`.
func (o *order) Set(s string) error {
	for clause := range strings.SplitSeq(s, ";") {
		if err := o.add(strings.TrimSpace(clause)); err != nil {
			return err
		}
	}
	o.given = true
	return nil
}

func (o *order) add(clause string) error {
	if clause == "any" {
		return nil
	}
	words := errors.New("must say which groups come after which, such as 'prod after canary,staging', or be any")
	later, earlier, found := strings.Cut(strings.Join(strings.Fields(clause), " "), " after ")
	if !found {
		return words
	}
	before, err := groupNames(earlier)
	names, errLater := groupNames(later)
	if err != nil || errLater != nil {
		return words
	}
	for _, name := range names {
		if _, twice := o.after[name]; twice {
			return fmt.Errorf("must not be given twice for %s: name all that it comes after at once, as in '%s after a,b'", shownName(name), shownName(name))
		}
		if o.after == nil {
			o.after = make(map[string][]string)
		}
		o.after[name] = before
	}
	return nil
}

// groupNames reads names with commas between.
func groupNames(s string) (names []string, err error) {
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		if name == "" || strings.Contains(name, " ") {
			return nil, errors.New("no name")
		}
		names = append(names, strings.TrimPrefix(name, nameless)) // no name begins with a dash
	}
	return names, nil
}

func shownName(name string) string {
	if name == "" {
		return nameless
	}
	return name
}

// check refuses names that none of the groups has.
func (o *order) check(there []string) error {
	known := make([]string, len(there))
	for i, name := range there {
		known[i] = shownName(name)
	}
	var unknown []string
	for name, before := range o.after {
		for _, name := range append([]string{name}, before...) {
			if !slices.Contains(there, name) {
				unknown = append(unknown, shownName(name))
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	name := slices.Min(unknown)
	return fmt.Errorf("--group-order: no group has the name %s: must be one of %s%s%s", name, strings.Join(known, ", "), ofTheNameless(known), spelling.Hint(name, known))
}

// ofTheNameless says what the dash among names means.
func ofTheNameless(known []string) string {
	if slices.Contains(known, nameless) {
		return " (" + nameless + " is the groups without a name)"
	}
	return ""
}

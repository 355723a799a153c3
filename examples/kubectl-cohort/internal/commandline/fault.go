// SPDX-License-Identifier: Apache-2.0

// Package commandline says in the style of kubectl-cohort what is wrong with a command line.
package commandline

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// Var declares a flag whose value is of a type of its own. Short is one letter, or empty.
func Var(set *pflag.FlagSet, value flag.Value, name, short, usage string) {
	declared := pflag.PFlagFromGoFlag(&flag.Flag{Name: name, Usage: usage, Value: value, DefValue: value.String()})
	declared.Shorthand = short
	set.AddFlag(declared)
}

// Fault is what set.Parse returned, as a line that begins with the flag: "--takes 30: must be a time such as 30m". Names that
// are none come with the nearest that is one. pflag.ErrHelp stays as it is.
func Fault(set *pflag.FlagSet, err error) error {
	var none *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &none) && len(none.GetSpecifiedShortnames()) > 1 && set.Lookup(none.GetSpecifiedShortnames()) != nil:
		return fmt.Errorf("-%s: must have two dashes, as in --%[1]s", none.GetSpecifiedShortnames())
	case errors.As(err, &none) && none.GetSpecifiedShortnames() != "":
		return fmt.Errorf("-%s: no such flag", none.GetSpecifiedShortnames())
	case errors.As(err, &none):
		return fmt.Errorf("--%s: no such flag%s", none.GetSpecifiedName(), hint(set, none.GetSpecifiedName()))
	case errors.As(err, &empty):
		return fmt.Errorf("%s: must be followed by a value", name(empty.GetFlag()))
	case errors.As(err, &invalid):
		value, why := invalid.GetValue(), invalid.Unwrap().Error()
		if value == "" || strings.ContainsAny(value, " \t\n\"") {
			value = strconv.Quote(value)
		}
		if expected := expected(invalid.GetFlag()); expected != "" {
			why = expected
		}
		return fmt.Errorf("%s %s: %s", name(invalid.GetFlag()), value, why)
	}
	return err
}

// name is the flag as most people type it.
func name(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// expected says what the value of a flag of a plain type must be; it is empty for a type that says so itself.
func expected(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "must be true or false"
	case "duration":
		return "must be a time such as 30s or 30m"
	case "uint64":
		return "must be a whole number from 0 to 18446744073709551615"
	case "int":
		return "must be a whole number"
	}
	return ""
}

func hint(set *pflag.FlagSet, name string) string {
	var names []string
	set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return strings.Replace(spelling.Hint(name, names), "did you mean ", "did you mean --", 1)
}

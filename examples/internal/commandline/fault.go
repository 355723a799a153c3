// Package commandline says in the style of the example programs what is wrong with a command line.
package commandline

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// Parse is set.Parse, with errors that begin with the flag as it was typed: "-takes 30: must be a time such as 30m". Names
// that are none come with the nearest that is one. flag.ErrHelp stays as it is.
func Parse(set *flag.FlagSet, args []string) error {
	return fault(set, set.Parse(args))
}

func fault(set *flag.FlagSet, err error) error {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	message := err.Error()
	if name, found := strings.CutPrefix(message, "flag provided but not defined: -"); found {
		return fmt.Errorf("-%s: no such flag%s", name, hint(set, name))
	}
	if name, found := strings.CutPrefix(message, "flag needs an argument: -"); found {
		return fmt.Errorf("-%s: must be followed by a value", name)
	}
	match := regexp.MustCompile(`(?s)^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^:]*): (.*)$`).FindStringSubmatch(message)
	if match == nil {
		return err
	}
	value, name, why := match[1], match[2], match[3]
	if plain, err := strconv.Unquote(value); err == nil && plain != "" && !strings.ContainsAny(plain, " \t\n") {
		value = plain
	}
	if why == "parse error" || why == "value out of range" {
		why = expected(set.Lookup(name))
	}
	return fmt.Errorf("-%s %s: %s", name, value, why)
}

// expected says what the value of a flag of a plain type must be.
func expected(f *flag.Flag) string {
	if f == nil {
		return "must be another value"
	}
	getter, _ := f.Value.(flag.Getter)
	if getter == nil {
		return "must be another value"
	}
	switch getter.Get().(type) {
	case bool:
		return "must be true or false"
	case time.Duration:
		return "must be a time such as 30s or 30m"
	case uint, uint64:
		return "must be a whole number from 0 to 18446744073709551615"
	default:
		return "must be a whole number"
	}
}

func hint(set *flag.FlagSet, name string) string {
	var names []string
	set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if meant := spelling.Hint(name, names); meant != "" {
		return strings.Replace(meant, "did you mean ", "did you mean -", 1)
	}
	return ""
}

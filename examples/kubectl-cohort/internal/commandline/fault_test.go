// SPDX-License-Identifier: Apache-2.0

package commandline_test

import (
	"errors"
	"testing"

	"github.com/spf13/pflag"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
)

type odd struct{}

func (odd) String() string   { return "" }
func (odd) Set(string) error { return errors.New("must be even: as it is") }

func TestFaultsBeginWithTheFlagAsItWasTyped(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "1", "-b", "-s", "x"}, ""},
		{[]string{"-n", "x"}, "-n x: must be a whole number"},
		{[]string{"--unsigned", "-3"}, "--unsigned -3: must be a whole number from 0 to 18446744073709551615"},
		{[]string{"--unsigned", "99999999999999999999999"}, "--unsigned 99999999999999999999999: must be a whole number from 0 to 18446744073709551615"},
		{[]string{"--wait", "30"}, "--wait 30: must be a time such as 30s or 30m"},
		{[]string{"-b=maybe"}, "-b maybe: must be true or false"},
		{[]string{"--odd", "a b"}, `--odd "a b": must be even: as it is`},
		{[]string{"--odd", ""}, `--odd "": must be even: as it is`},
		{[]string{"--odd", `say "x"`}, `--odd "say \"x\"": must be even: as it is`},
		{[]string{"--od"}, "--od: no such flag; did you mean --odd?"},
		{[]string{"--nothing-like-it"}, "--nothing-like-it: no such flag"},
		{[]string{"-x"}, "-x: no such flag"},
		{[]string{"-wait", "30m"}, "-wait: must have two dashes, as in --wait"},
		{[]string{"-s"}, "-s: must be followed by a value"},
		{[]string{"--wait"}, "--wait: must be followed by a value"},
		{[]string{"--=x"}, "bad flag syntax: --=x"},
		{[]string{"-h"}, "pflag: help requested"},
	} {
		set := pflag.NewFlagSet("x", pflag.ContinueOnError)
		set.Usage = func() {}
		set.IntP("number", "n", 0, "")
		set.Uint64("unsigned", 0, "")
		set.Duration("wait", 0, "")
		set.BoolP("bool", "b", false, "")
		set.StringP("string", "s", "", "")
		commandline.Var(set, odd{}, "odd", "", "")
		got := ""
		if err := commandline.Fault(set, set.Parse(test.args)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q: %s\nwant %s", test.args, got, test.want)
		}
	}
}

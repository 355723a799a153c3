// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help stands before the flags. Its exit statuses are the same as in exitCode.
const help = `kubectl cohort shows how rollouts of Open Cluster Management stand, what comes next, and why a cluster waits.

It reads the hub of your kubeconfig, or files where -f is given. It writes to a hub only by open-gate, allow, start-first,
freeze, unfreeze, validate, pause, resume, retry, ignore and abort, which ask first.

examples:
  kubectl cohort plan                                 what comes next on this hub, and when does it end?
  kubectl cohort explain cluster7                     why does this cluster wait, and for which?
  kubectl cohort history cluster7                     why did it start at 10:15?
  kubectl cohort plan -f all.yaml --fail edge-7       what if this cluster fails?
  kubectl cohort plan --max-concurrency 20            what if more go at a time?
  kubectl cohort compare --strategy others.yaml       which strategy is gentler, and which one is faster?
  kubectl cohort exposure                             how many clusters can get a version that fails?
  kubectl cohort removals --rollout web               in which order does it go, where it is deleted?
  kubectl cohort report web.html --rollout web        all of that as a page
  kubectl cohort open-gate web prod                   go on: the gate before prod
  kubectl cohort freeze web edge-7 --until 12h        go on without edge-7, until tomorrow
  kubectl cohort dependencies -n cluster7             what do the templates of a cluster's policies wait for?

kinds that roll out, all that there are or the one of --rollout:
  ManifestWorkReplicaSet, ClusterManagementAddOn, Policy, and in files RolloutStrategy by itself
kinds that say where to:
  Placement, PlacementDecision, ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding;
  for a Policy also PlacementBinding, PolicySet, PlacementRule
kinds that say where it stands, from where it goes on:
  ManifestWork, ManagedClusterAddOn, replicated Policy
and in files Behavior (examples.cohort-ocm.io/v1), which says how clusters behave

exit status:
  0  there was an answer, whatever becomes of the rollout
  1  the output could not be written
  2  flags, files or the hub are wrong, or a decision was not confirmed or not written: one line says which and where
  3  of exposure: no limits keep a rollout within --at-most and --within
  and with --exit-code the outcome: 0 Complete, 3 CompleteWithFailures, 4 AtGate, 5 Stuck, 6 Breached,
  7 NothingSelected, 8 RolledBack, 9 Blocked; of several rollouts the greatest
  go run turns every status but 0 into 1: build the program to use them.

Paths are those from the current directory, which go run -C changes.`

// section is some flags of the help text.
type section struct {
	title string
	names []string
}

// beyond is the title of the flags that not every hub obeys.
const beyond = "beyond the strategy"

// sections says under which titles the flags of a command stand in its help.
var sections = []section{
	{"what rolls out", []string{"filename", "recording", "at", "rollout", "placement", "start"}},
	{"what if", []string{"max-concurrency", "max-failures", "strategy"}},
	{"how clusters behave, before what a Behavior says", []string{"takes", "validates", "fail", "fail-share", "fail-rate", "never", "cut-off", "lease",
		"not-good", "not-good-rate", "never-validated", "recover", "never-rate", "bad-rate", "retry", "fail-attempts", "runs", "seed"}},
	{"bounds", []string{"at-most", "within", "at-a-time", "group"}},
	{beyond, extraNames()},
	{"the rollback", []string{"abort-at", "abort-on-breach", "back-by-strategy"}},
	{"output", []string{"output", "watch", "interval", "rows", "chart", "svg", "png", "exit-code"}},
}

// setHelp gives a command and those below it a help text in sections.
func setHelp(root *cobra.Command) {
	all := root.PersistentFlags().Bool("all", false, "with -h: also the flags for what OCM's own controllers do not have")
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		fmt.Fprintf(w, "%s\n\nusage: %s\n", text, strings.TrimSuffix(cmd.UseLine(), " [flags]"))
		if cmd.Example != "" {
			fmt.Fprintf(w, "\nexamples:\n%s\n", cmd.Example)
		}
		if cmd.HasAvailableSubCommands() {
			fmt.Fprint(w, "\ncommands:\n")
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					fmt.Fprintf(w, "  %-14s%s\n", c.Name(), c.Short)
				}
			}
		}
		printFlags(w, cmd, *all)
	})
}

// printFlags writes what the flags are, under titles. Those that a hub without this library's controllers cannot obey stand there if all
// are wanted.
func printFlags(w io.Writer, cmd *cobra.Command, all bool) {
	said := make(map[string]bool)
	print := func(title string, flags *pflag.FlagSet) {
		if flags.HasAvailableFlags() {
			fmt.Fprintf(w, "\n%s:\n%s", title, flags.FlagUsages())
		}
	}
	for _, s := range sections {
		part := pflag.NewFlagSet("", pflag.ContinueOnError)
		part.SortFlags = false
		for _, name := range s.names {
			if f := cmd.LocalNonPersistentFlags().Lookup(name); f != nil {
				part.AddFlag(f)
				said[name] = true
			}
		}
		if s.title == beyond && !all {
			if part.HasFlags() {
				n := 0
				part.VisitAll(func(*pflag.Flag) { n++ })
				fmt.Fprintf(w, "\n%s, which OCM's own controllers do not obey: %d flags, with -h --all\n", s.title, n)
			}
			continue
		}
		print(s.title, part)
	}
	rest, hub := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case said[f.Name]:
		case cmd.Root().PersistentFlags().Lookup(f.Name) != nil && f.Name != "all":
			hub.AddFlag(f)
		default:
			rest.AddFlag(f)
		}
	})
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "all" {
			rest.AddFlag(f)
		} else {
			hub.AddFlag(f)
		}
	})
	print("other", rest)
	print("the hub, as kubectl has them", hub)
}

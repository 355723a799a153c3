// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/rollout/approvals"
)

// completion is what a shell offers for a word.
type completion = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completeWait is how long a shell waits for the hub.
const completeWait = 3 * time.Second

// offer makes a completion. Where the hub does not answer nothing is offered: a shell has no room for an error.
func (in *input) offer(of func(ctx context.Context, args []string) ([]string, error)) completion {
	return func(cmd *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completeWait)
		defer stop()
		all, err := of(ctx, args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, name := range all {
			if strings.HasPrefix(name, begun) && !slices.Contains(args, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// rollouts are the objects of the hub that roll out.
func (in *input) rollouts(ctx context.Context) ([]manifest.Object, error) {
	client, err := in.client()
	if err != nil {
		return nil, err
	}
	return client.Owners(ctx, in.namespace())
}

// rolloutNames are the names of what rolls out.
func (in *input) rolloutNames(ctx context.Context, args []string) (names []string, err error) {
	if len(args) > 0 {
		return nil, nil
	}
	all, err := in.rollouts(ctx)
	for _, o := range all {
		names = append(names, o.GetName())
	}
	return names, err
}

// clusterNames are the names of the clusters of the hub.
func (in *input) clusterNames(ctx context.Context, _ []string) (names []string, err error) {
	client, err := in.client()
	if err != nil {
		return nil, err
	}
	all, err := client.Clusters(ctx)
	for _, o := range all {
		names = append(names, o.GetName())
	}
	return names, err
}

// oneCluster is for a command that takes one cluster.
func (in *input) oneCluster(ctx context.Context, args []string) ([]string, error) {
	if len(args) > 0 {
		return nil, nil
	}
	return in.clusterNames(ctx, args)
}

// behind are the words behind the rollout of a command that decides.
func (answer *decision) behind(ctx context.Context, args []string) (names []string, err error) {
	switch {
	case len(args) == 0:
		return answer.rolloutNames(ctx, args)
	case answer.verb.name == validate.name && len(args) == 2:
		return []string{"yes", "no"}, nil
	case answer.verb.name == validate.name && len(args) > 2:
		return nil, nil
	case slices.Contains([]string{ignore.name, allow.name, startFirst.name, freeze.name, validate.name}, answer.verb.name):
		return answer.clusterNames(ctx, args)
	case answer.verb.name != openGate.name && answer.verb.name != unfreeze.name:
		return nil, nil
	}
	answer.rollout = args[0]
	if err := answer.readContext(); err != nil {
		return nil, err
	}
	all, err := answer.rollouts(ctx)
	for _, o := range all {
		asked, fault := approvals.Of(&o)
		switch {
		case fault != nil || !answer.wanted().Has(o):
		case answer.verb.name == unfreeze.name:
			for _, h := range asked.Freezes {
				names = append(names, h.Cluster)
			}
		default:
			for _, gate := range asked.Gates {
				names = append(names, groupWord(gate.Group))
			}
		}
	}
	return names, err
}

func offerWords(cmd *cobra.Command, flag string, words ...string) {
	if cmd.Flags().Lookup(flag) != nil {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // it is declared
	}
}

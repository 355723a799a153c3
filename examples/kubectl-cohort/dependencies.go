// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/dependencies"
)

const dependenciesUsage = `Say of each policy template whether it may be processed on a managed cluster, what it waits for, and what to do next.

Files hold the policies of a cluster, as they stand there, and what was observed on it. Policies in several namespaces are those
of several clusters, which are reported one after the other. Root policies are shown as they are replicated, if no policy of a cluster is there. What the files do not hold does not exist. On a hub the replicated
policies of all clusters are read, or of that of -n. What they create is not there, so each template that may be processed is to
be created; what others wait for is known.`

// dependenciesCommand says what the templates of policies wait for.
func dependenciesCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	in, out := input{hub: hub}, format("")
	cmd := &cobra.Command{
		Use:   "dependencies",
		Short: "Say what the templates of policies wait for, cluster by cluster",
		Long:  dependenciesUsage,
		Example: `  kubectl cohort dependencies -f policies.yaml -f observed.yaml
  kubectl cohort dependencies -n cluster7`,
		RunE: func(cmd *cobra.Command, more []string) error {
			objects, err := in.policies(cmd, more)
			if err != nil {
				return err
			}
			report, err := dependencies.Of(objects, in.namespace())
			if err != nil {
				return err
			}
			for _, note := range report.Notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
			}
			if err := out.write(report, cmd.OutOrStdout()); err != nil {
				return err
			}
			return report.Fault()
		},
	}
	declareFiles(cmd.Flags(), &in.files)
	commandline.Var(cmd.Flags(), &out, "output", "o", "`format` of the output: text, json or yaml")
	return cmd
}

// policies are the objects of the files, also of those that a shell made of a pattern, or those of the hub.
func (in *input) policies(cmd *cobra.Command, more []string) ([]manifest.Object, error) {
	if files := append(in.files, more...); len(files) > 0 {
		var skipped []string
		objects, err := manifest.Reader{Skipped: &skipped}.Read(cmd.InOrStdin(), files...)
		for _, note := range packed(skipped) {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
		}
		return objects, err
	}
	client, err := in.client()
	if err != nil {
		return nil, err
	}
	objects, notes, err := client.Policies(cmd.Context(), in.namespace())
	for _, note := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
	}
	return objects, err
}

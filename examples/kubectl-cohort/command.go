// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
)

const (
	exitOutput = 1 // the report could not be written
	exitInput  = 2 // flags, files or the hub are wrong
	exitBounds = 3 // of exposure: no limits hold
)

// exit is the exit status of a command that has said all that there is to say.
type exit int

func (code exit) Error() string { return fmt.Sprintf("exit status %d", int(code)) }

// unwritten is the error of output that could not be written.
type unwritten struct{ error }

// run is the command without a way to interrupt it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(context.Background(), args, stdin, stdout, stderr)
}

// execute is the command. It returns its exit status.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var status exit
	var output unwritten
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintf(stderr, "error: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	if errors.As(err, &output) {
		return exitOutput
	}
	return exitInput
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-cohort",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl cohort"},
		Short:         "How rollouts of Open Cluster Management stand, what comes next, and why a cluster waits",
		Long:          help,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	hub := genericclioptions.NewConfigFlags(true)
	hub.AddFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd == root && len(words) > 0 {
			return unknownCommand(cmd, words)
		}
		return commandline.Fault(cmd.Flags(), err)
	})
	root.AddCommand(decideCommands(hub)...)
	root.AddCommand(statusCommand(hub), planCommand(hub), explainCommand(hub), compareCommand(hub), exposureCommand(hub), removalsCommand(hub), dependenciesCommand(hub), diffCommand(hub), historyCommand(hub), recordCommand(hub), reportCommand(hub), replayCommand(hub), versionCommand())
	for _, cmd := range root.Commands() {
		offerWords(cmd, "output", strings.Split(outputs(cmd), ", ")...)
	}
	setHelp(root)
	return root
}

// unknownCommand refuses a word that is no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Root().Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("%s: no such command%s", args[0], spelling.Hint(args[0], names))
}

// noWords refuses words that are no flags.
func noWords(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: files must be given as -f FILE", args[0])
	}
	return nil
}

// versionCommand says which version of the program and of the library this is.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this program and of the library",
		Args:  noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return errors.New("version: the program was built without modules")
			}
			text := "kubectl-cohort " + info.Main.Version + "\n"
			for _, dep := range info.Deps {
				if dep.Path == "github.com/cohort-ocm/cohort" {
					text += dep.Path + " " + dep.Version + "\n"
				}
			}
			return print(cmd.OutOrStdout(), text)
		},
	}
}

func print(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return unwritten{err}
	}
	return nil
}

// outputs are the formats of a command, with commas between.
func outputs(cmd *cobra.Command) string {
	if cmd.Name() == "status" || cmd.Name() == "explain" {
		return "wide, json, yaml, name"
	}
	return "json, yaml"
}

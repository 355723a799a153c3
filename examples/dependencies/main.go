// Dependencies says of each policy template whether it may be processed on a managed cluster, what it waits for
// and what to do next.
//
//	go run . -f FILE… [-namespace NAMESPACE] [-o json]
//
// The files hold the policies of a cluster, as they stand there, and the objects observed on it, in any order
// and as many documents or lists as there are. Policies in several namespaces are those of several clusters, which are
// reported one after the other. Objects of other kinds are observed on each of them; - is standard input. What they don't hold does not exist. A
// Policy is both: its spec is evaluated and its status is what others wait for; without a spec it is only
// observed. What the templates create is active if it is among the objects, and so is what has a policy for its
// owner.
//
// A field that a Policy does not have is refused, with the nearest that it has.
//
// Bad input ends with exit status 2 and one line on standard error that names the file, the object and the
// field. A template that contradicts itself does so, too, after the report on the others.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cohort-ocm/cohort/examples/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := report(args, stdin, stdout)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		return 0
	default:
		fmt.Fprintf(stderr, "dependencies: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return 2
	}
}

func report(args []string, stdin io.Reader, stdout io.Writer) error {
	var files manifest.Files
	flags := flag.NewFlagSet("dependencies", flag.ContinueOnError)
	flags.Var(&files, "f", "`file` with policies and observed objects, - for standard input; may be repeated")
	namespace := flags.String("namespace", "", "the cluster's `namespace` (default each that policies have)")
	output := flags.String("o", "text", "`format` of the report: text or json")
	flags.SetOutput(io.Discard) // What is wrong is one line, said once.
	if err := commandline.Parse(flags, args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stdout)
		fmt.Fprintln(stdout, "usage: dependencies -f FILE… [-namespace NAMESPACE] [-o text|json]")
		flags.PrintDefaults()
		return err
	} else if err != nil {
		return err
	}
	write := writeText
	switch *output {
	case "text":
	case "json":
		write = writeJSON
	default:
		return fmt.Errorf("-o %s: must be text or json", *output)
	}
	objects, err := manifest.Read(stdin, append(files, flags.Args()...)...)
	if err != nil {
		return err
	}
	namespaces := []string{*namespace}
	if all := namespacesOf(objects); *namespace == "" && len(all) > 0 {
		namespaces = all
	}
	var clusters []cluster
	var faults []error
	for _, namespace := range namespaces {
		in, err := read(without(objects, namespaces, namespace), namespace)
		if err != nil {
			return err
		}
		if len(in.policies) == 0 {
			return fmt.Errorf("no Policy with a spec among the %d objects of the files", len(objects))
		}
		results, err := in.evaluate()
		if err != nil {
			return err
		}
		clusters, faults = append(clusters, cluster{namespace, results}), append(faults, in.faults(results))
	}
	return errors.Join(append([]error{write(stdout, clusters)}, faults...)...)
}

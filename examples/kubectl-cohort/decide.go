// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/status"
)

// decision is the command line of a command that writes: what a person decides about one rollout.
type decision struct {
	flags
	verb        verb
	words       []string // behind the name of the rollout: groups or clusters
	context     string   // the namespace of the kubeconfig's context, where it counts; else empty
	yes, dryRun bool
	how         how
}

// how are the flags of the verbs that have some.
type how struct {
	reason string
	until  horizon
	block  bool
	later  bool
}

// verb is what can be decided. Change carries it out on a copy of the owner, or of what it is about, and says in words what that is; it is
// an error where that cannot be, and already where nothing would change.
type verb struct {
	name, args, short, long string
	done                    string // how kubectl would say that it is written
	example                 string
	least, most             int  // words behind the name of the rollout; no limit where most is negative
	obeyed                  bool // by any controller, not by those alone that read the annotations
	change                  func(d decided) (says string, err error)
	flags                   func(h *how, s *pflag.FlagSet)               // nil if it has none of its own
	about                   func(d decided) (object int, err error)      // nil if it is the owner that is written
	besides                 func(d decided, before, after part) []string // what else there is to say of a placement; nil if nothing
}

// decided is the rollout that something is decided about.
type decided struct {
	owner   *manifest.Object // to be changed, unless the verb is about another object
	object  *manifest.Object // to be changed
	parts   []part           // how it stands, placement by placement
	objects []manifest.Object
	words   []string
	how     how
	now     time.Time
}

// already says that what is asked for is so, and that nothing is to be written.
type already string

func (a already) Error() string { return string(a) }

func decideCommand(flags *genericclioptions.ConfigFlags, v verb) *cobra.Command {
	d := decision{flags: *newFlags(flags), verb: v}
	written := "one object: the one that rolls out"
	if v.about != nil {
		written = "one object: the ManifestWork or the replicated Policy of the cluster"
	}
	cmd := &cobra.Command{
		Use:     v.name + " ROLLOUT" + v.args,
		Short:   v.short,
		Long:    v.long + "\n\nIt says what will follow, asks, and writes " + written + ", unless that has changed meanwhile. Where it is so already, it writes nothing.",
		Example: v.example,
		Args: func(_ *cobra.Command, args []string) error {
			if n := len(args) - 1; n < v.least || v.most >= 0 && n > v.most {
				return fmt.Errorf("%s: must be followed by ROLLOUT%s", v.name, v.args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			d.rollout, d.words = args[0], args[1:]
			return d.run(cmd)
		},
	}
	cmd.ValidArgsFunction = d.offer(d.behind)
	s := cmd.Flags()
	s.BoolVarP(&d.yes, "yes", "y", false, "write without asking")
	s.BoolVar(&d.dryRun, "dry-run", false, "say what would follow, and write nothing")
	if v.flags != nil {
		v.flags(&d.how, s)
	}
	return cmd
}

// run says what will follow, asks, and writes.
func (answer *decision) run(cmd *cobra.Command) error {
	answer.progress = progressOn(cmd.ErrOrStderr())
	client, err := answer.client()
	if err != nil {
		return err
	}
	if err := answer.readContext(); err != nil {
		return err
	}
	answer.start = instant{time.Now().UTC().Truncate(time.Second)}
	objects, notes, err := client.Rollouts(cmd.Context(), answer.wanted())
	if err != nil {
		return err
	}
	if answer.context != "" && !slices.ContainsFunc(objects, func(o manifest.Object) bool { return rollsOut(o) && answer.wanted().Has(o) }) {
		return fmt.Errorf("%s %s: nothing of this name rolls out in namespace %s, which the context of the kubeconfig has: must be given as NAMESPACE/%s, or with -n", answer.verb.name, answer.rollout, answer.context, answer.rollout)
	}
	was, becomes, text, err := answer.follows(objects)
	if is := already(""); errors.As(err, &is) {
		return print(cmd.OutOrStdout(), fmt.Sprintf("%v: %s, nothing is written\n", was, is))
	}
	if err != nil {
		return err
	}
	for _, note := range notes {
		text = "note: " + note + "\n" + text
	}
	if err := print(cmd.OutOrStdout(), text); err != nil || answer.dryRun {
		return err
	}
	if !answer.yes {
		if err := confirmed(cmd.InOrStdin(), cmd.ErrOrStderr(), was.String()); err != nil {
			return fmt.Errorf("%s: %w", answer.verb.name, err)
		}
	}
	name, err := client.Patch(cmd.Context(), was, becomes)
	if err != nil {
		return err
	}
	return print(cmd.OutOrStdout(), name+" "+answer.verb.done+"\n")
}

// wanted is the rollout to decide about. A namespace of the context counts as one of -n, as it does for every command of kubectl that
// writes.
func (answer *decision) wanted() scenario.Wanted {
	return scenario.Wanted{Rollout: answer.rollout, Namespace: cmp.Or(answer.namespace(), answer.context), Hub: true, Now: answer.start.Time}
}

// readContext takes the namespace of the kubeconfig's context, unless -n or the name of the rollout gives one.
func (answer *decision) readContext() error {
	if answer.namespace() != "" || scenario.Namespaced(answer.rollout) {
		return nil
	}
	loader := answer.hub.ToRawKubeConfigLoader()
	config, err := loader.RawConfig()
	if err != nil {
		return err
	}
	name := config.CurrentContext
	if answer.hub.Context != nil && *answer.hub.Context != "" {
		name = *answer.hub.Context
	}
	if context := config.Contexts[name]; context != nil && context.Namespace != "" {
		answer.context = context.Namespace
	}
	return nil
}

// follows carries the decision out on a copy of the object that it is about, among the objects of a hub, and says what follows from it.
func (answer *decision) follows(objects []manifest.Object) (was, becomes *manifest.Object, text string, err error) {
	before, err := answer.stands(objects)
	if err != nil {
		return nil, nil, "", err
	}
	at, err := answer.owner(objects)
	if err != nil {
		return nil, nil, "", err
	}
	owner := &objects[at]
	if !answer.verb.obeyed {
		if err := obeys(*owner, objects); err != nil {
			return nil, nil, "", fmt.Errorf("%s %v: %w", answer.verb.name, owner, err)
		}
	}
	what := decided{owner: owner, parts: before, objects: objects, words: answer.words, how: answer.how, now: answer.start.Time}
	if answer.verb.about != nil {
		if at, err = answer.verb.about(what); err != nil {
			return nil, nil, "", fmt.Errorf("%s %v: %w", answer.verb.name, owner, err)
		}
	}
	was = &objects[at]
	becomes = &manifest.Object{Unstructured: *was.DeepCopy(), At: was.At, Served: true}
	if what.object = becomes; was == owner {
		what.owner = becomes
	}
	says, err := answer.verb.change(what)
	if err != nil {
		return owner, nil, "", fmt.Errorf("%s %v: %w", answer.verb.name, owner, err)
	}
	objects = slices.Clone(objects)
	objects[at] = *becomes
	after, err := answer.stands(objects)
	if err != nil {
		return nil, nil, "", err
	}
	text = fmt.Sprintf("%v: %s\n", owner, says)
	if becomes.GetAnnotations()[annotationAbort] != was.GetAnnotations()[annotationAbort] {
		for _, p := range before {
			text += p.goesBack(len(before) > 1, answer.start.Time)
		}
		return was, becomes, text, nil
	}
	for i := range after {
		var besides []string
		if answer.verb.besides != nil {
			besides = answer.verb.besides(what, before[i], after[i])
		}
		text += after[i].since(before[i], len(after) > 1, besides...)
	}
	return was, becomes, text, nil
}

// owner finds the one object that rolls out, among those that were read.
func (answer *decision) owner(objects []manifest.Object) (int, error) {
	found, names := -1, []string(nil)
	for i, o := range objects {
		if rollsOut(o) && answer.wanted().Has(o) {
			found, names = i, append(names, o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName())
		}
	}
	if len(names) > 1 {
		return 0, fmt.Errorf("%s: must name one object that rolls out, not %s", answer.rollout, strings.Join(names, " and "))
	}
	return found, nil
}

// obeys is an error where no controller on the hub reads the annotations of the owner: one that does stamps what it writes.
func obeys(owner manifest.Object, objects []manifest.Object) error {
	if owner.GetKind() == "ClusterManagementAddOn" {
		return errors.New("the add-on manager reads no annotation of it: change its strategy")
	}
	written := 0
	for i := range objects {
		o := &objects[i]
		if !hub.Made(o, &owner) {
			continue
		}
		if status.StampOf(o).Version != "" {
			return nil
		}
		written++
	}
	if written > 0 {
		return fmt.Errorf("none of the %d objects that were written for it has the stamp of a controller that reads these annotations (OCM's own does not): change its strategy", written)
	}
	return nil
}

// confirmed asks a person.
func confirmed(in io.Reader, out io.Writer, owner string) error {
	fmt.Fprintf(out, "Write this to %s? [y/N] ", owner)
	line, _ := bufio.NewReader(in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return errors.New("not confirmed, nothing is written: answer y, or give --yes")
	}
	return nil
}

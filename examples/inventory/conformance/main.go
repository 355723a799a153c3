// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ocmclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"

	"github.com/cohort-ocm/cohort/examples/inventory/conformance/requirements"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// run prints a line for each requirement and reports whether one of them failed.
func run(ctx context.Context, args []string, out io.Writer) (failed bool, err error) {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "of the hub")
	namespace := flags.String("namespace", "", "where the slices are; for a mirror it must have no PlacementDecisions")
	watch := flags.Duration("watch", 0, "judge a scheduler by its slices for so long; otherwise a mirror is driven")
	selector := flags.String("selector", "", "with -watch: the labels of the slices of one decision")
	profiles := flags.String("profile-namespace", "", "for a mirror: where the ClusterProfiles are; the namespace if empty")
	settle := flags.Duration("settle", 30*time.Second, "how long a writer may take")
	gate := flags.Duration("gate", 0, "for a mirror: before each step the source waits until the mirror has caught up, at most so long")
	stop := flags.String("stop", "", "for a mirror: the shell command that stops it, and returns when it is stopped")
	start := flags.String("start", "", "with -stop: the shell command that starts it again")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if *namespace == "" || flags.NArg() > 0 {
		return false, fmt.Errorf("-namespace must be given, and no arguments: got namespace %q, arguments %q", *namespace, flags.Args())
	}
	if (*stop == "") != (*start == "") {
		return false, fmt.Errorf("-stop and -start must be given together: got %q and %q", *stop, *start)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return false, err
	}
	config.QPS = -1
	sigs, err := sigclient.NewForConfig(config)
	if err != nil {
		return false, err
	}
	ocm, err := ocmclient.NewForConfig(config)
	if err != nil {
		return false, err
	}
	slices := sigs.ApisV1alpha1().PlacementDecisions(*namespace)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := record(ctx, slices, *selector)
	if err != nil {
		return false, err
	}
	var history []requirements.Event
	var known map[requirements.Ref]bool
	if *watch > 0 {
		history, known, err = look(ctx, r, *watch, *settle, sigs)
	} else {
		d := &driver{recorder: r, placements: ocm.ClusterV1beta1().Placements(*namespace), decisions: ocm.ClusterV1beta1().PlacementDecisions(*namespace),
			sigs: slices, namespace: *namespace, profiles: cmp.Or(*profiles, *namespace), settle: *settle, stop: *stop, start: *start, gate: *gate}
		history, known, err = d.drive(ctx)
	}
	if err != nil {
		return false, err
	}
	for _, result := range requirements.Check(history, known) {
		fmt.Fprintln(out, result)
		failed = failed || result.Outcome == requirements.OutcomeFail
	}
	return failed, nil
}

// look watches a scheduler, which is at rest when it has written nothing for the settle time. It returns the history and
// the ClusterProfiles; nil if there are none.
func look(ctx context.Context, r *recorder, length, settle time.Duration, sigs sigclient.Interface) ([]requirements.Event, map[requirements.Ref]bool, error) {
	resting := false
	for end := time.Now().Add(length); ctx.Err() == nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if quiet := r.quiet() > settle; quiet != resting {
			if resting = quiet; quiet {
				r.mark(requirements.Event{Rest: true})
			}
		}
	}
	history, err := r.recorded()
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, nil, err
	}
	list, err := sigs.ApisV1alpha1().ClusterProfiles("").List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		return history, nil, nil // unknown, such as without that API on the hub
	}
	known := map[requirements.Ref]bool{}
	for _, p := range list.Items {
		known[requirements.Ref{Namespace: p.Namespace, Name: p.Name}] = true
	}
	return history, known, nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned/typed/cluster/v1beta1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned/typed/apis/v1alpha1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/decisionupdate/mirror"
	"github.com/cohort-ocm/cohort/examples/inventory"
	"github.com/cohort-ocm/cohort/examples/inventory/conformance/requirements"
	"github.com/cohort-ocm/cohort/grouping"
)

const (
	placement = "conformance"          // the source's placement
	stranger  = "conformance-stranger" // another writer's slice
)

// driver plays a careful scheduler of OCM, which is the source of a mirror.
type driver struct {
	*recorder
	placements clusterclient.PlacementInterface
	decisions  clusterclient.PlacementDecisionInterface
	sigs       sigclient.PlacementDecisionInterface
	namespace  string
	profiles   string // the namespace of the ClusterProfiles
	settle     time.Duration
	stop       string // the commands that stop and start the mirror; empty if it cannot be stopped
	start      string
	stopped    bool
	gate       time.Duration // how long the source waits for the mirror before each step; 0 means not at all
}

// drive runs the script, and returns the recorded history and the existing ClusterProfiles.
func (d *driver) drive(ctx context.Context) ([]requirements.Event, map[requirements.Ref]bool, error) {
	if err := d.begin(ctx); err != nil {
		return nil, nil, err
	}
	defer d.cleanUp()
	profiles := map[requirements.Ref]bool{}
	for _, s := range script() {
		if s.Restart && d.stop == "" || s.plainly && d.gate > 0 { // a source that waits makes steps, and no step makes an object of 101
			continue
		}
		for _, update := range s.updates {
			s.Selected = make([][]requirements.Ref, 2)
			for _, p := range update {
				for _, c := range p.clusters {
					ref := requirements.Ref{Namespace: d.profiles, Name: cluster(c)}
					s.Selected[p.group], profiles[ref] = append(s.Selected[p.group], ref), true
				}
			}
			if err := d.stopIf(ctx, s.down); err != nil {
				return nil, nil, err
			}
			begun := s.Step
			d.mark(requirements.Event{Step: &begun})
			if err := d.carryOut(ctx, s, update); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
			}
			if err := errors.Join(d.stopIf(ctx, s.Restart), d.startAgain(ctx)); err != nil {
				return nil, nil, err
			}
		}
		if s.Delete {
			d.mark(requirements.Event{Step: &s.Step})
			if err := d.end(ctx); err != nil {
				return nil, nil, err
			}
		}
		d.wait(ctx, s.Step)
	}
	history, err := d.recorded()
	return history, profiles, errors.Join(err, ctx.Err())
}

// stopIf stops the mirror, unless it is stopped.
func (d *driver) stopIf(ctx context.Context, stop bool) error {
	if !stop || d.stopped {
		return nil
	}
	d.stopped = true
	return shell(ctx, "-stop", d.stop)
}

func (d *driver) startAgain(ctx context.Context) error {
	if !d.stopped {
		return nil
	}
	d.stopped = false
	return shell(ctx, "-start", d.start)
}

func shell(ctx context.Context, name, command string) error {
	if out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// begin checks that the namespace is free, and makes a placement that OCM's own scheduler ignores.
func (d *driver) begin(ctx context.Context) error {
	objects, err := d.decisions.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	taken, err := d.sigs.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if n := len(objects.Items) + len(taken.Items); n > 0 {
		return fmt.Errorf("namespace %s must not have PlacementDecisions, and has %d", d.namespace, n)
	}
	p := &clusterv1beta1.Placement{}
	p.Name, p.Annotations = placement, map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	if _, err = d.placements.Create(ctx, p, metav1.CreateOptions{}); err != nil {
		return err
	}
	other := &sig.PlacementDecision{Decisions: []sig.ClusterDecision{}, SchedulerName: stranger}
	other.Name, other.Labels = stranger, map[string]string{sig.DecisionKeyLabel: stranger}
	if _, err = d.sigs.Create(ctx, other, metav1.CreateOptions{}); err != nil {
		d.cleanUp()
	}
	return err
}

// end deletes all that begin and carryOut have made, except for the stranger.
func (d *driver) end(ctx context.Context) error {
	all, err := d.decisions.List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + placement})
	if err != nil {
		return err
	}
	errs := []error{d.placements.Delete(ctx, placement, metav1.DeleteOptions{})}
	for _, o := range all.Items {
		errs = append(errs, d.decisions.Delete(ctx, o.Name, metav1.DeleteOptions{}))
	}
	return errors.Join(errs...)
}

// carryOut writes an update of the source: the objects, and then the status of the placement.
func (d *driver) carryOut(ctx context.Context, s step, parts []part) error {
	desired := objects(d.namespace, parts)
	if s.plainly {
		for _, o := range desired {
			if _, err := d.patch(ctx, o); err != nil {
				return err
			}
		}
		return d.status(ctx, desired)
	}
	for halfway := s.halfway; ; halfway = false {
		update, stored, err := d.plan(ctx, desired)
		if err != nil {
			return err
		}
		if len(update.Steps) == 0 {
			return d.status(ctx, desired)
		}
		if halfway || d.gate > 0 {
			update.Steps = update.Steps[:1]
		}
		if d.gate > 0 {
			if err := d.waitForMirror(ctx, update.Steps[0], stored); err != nil {
				return err
			}
		}
		if _, err := (decisionupdate.Applier{Client: d.decisions, Parallel: 4}).Apply(ctx, update); err != nil {
			return err
		}
		if halfway {
			time.Sleep(2 * time.Second)
		}
	}
}

// plan returns the update of the source, and the stored objects.
func (d *driver) plan(ctx context.Context, desired []*clusterv1beta1.PlacementDecision) (update decisionupdate.Update, stored []*clusterv1beta1.PlacementDecision, err error) {
	list, err := d.decisions.List(ctx, metav1.ListOptions{})
	if err != nil {
		return update, nil, err
	}
	for i := range list.Items {
		stored = append(stored, &list.Items[i])
	}
	update, err = decisionupdate.Diff(stored, desired, decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate})
	return update, stored, err
}

// waitForMirror waits until the mirror shows what is stored. When the time is up it goes on, and prints which clusters the
// mirror may drop.
func (d *driver) waitForMirror(ctx context.Context, next decisionupdate.Step, stored []*clusterv1beta1.PlacementDecision) error {
	for begun := time.Now(); ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		list, err := d.sigs.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var shown []*sig.PlacementDecision
		for i := range list.Items {
			if s := &list.Items[i]; s.Name != stranger {
				shown = append(shown, s)
			}
		}
		behind, clusters, err := mirror.Behind(next, stored, inventory.ToOCM(inventory.Convention{Profiles: d.profiles}, shown...))
		if err != nil || len(behind) == 0 {
			return err
		}
		if time.Since(begun) > d.gate {
			fmt.Fprintf(os.Stderr, "conformance: after %v the mirror does not show %v as stored, and may drop %v\n", d.gate, behind, clusters)
			return nil
		}
	}
	return ctx.Err()
}

// patch writes the clusters of an object without any steps.
func (d *driver) patch(ctx context.Context, o *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error) {
	stored, err := d.decisions.Get(ctx, o.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	stored.Status = o.Status
	return d.decisions.UpdateStatus(ctx, stored, metav1.UpdateOptions{})
}

func (d *driver) status(ctx context.Context, desired []*clusterv1beta1.PlacementDecision) error {
	p, err := d.placements.Get(ctx, placement, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if p.Status, err = grouping.Status(desired); err != nil {
		return err
	}
	_, err = d.placements.UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}

// wait waits until there would be no findings and there are no events for a while, or until the time is up.
func (d *driver) wait(ctx context.Context, s requirements.Step) {
	quiet := time.Second
	if s.Restart {
		quiet *= 5
	}
	for begun := time.Now(); ctx.Err() == nil && time.Since(begun) < d.settle; time.Sleep(50 * time.Millisecond) {
		if min(d.quiet(), time.Since(begun)) > quiet {
			if history, err := d.recorded(); err != nil || !requirements.Pending(history) {
				break
			}
		}
	}
	d.mark(requirements.Event{Rest: true})
}

// cleanUp removes everything after a failure.
func (d *driver) cleanUp() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := d.placements.Get(ctx, placement, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		_ = d.end(ctx)
	}
	_ = d.sigs.Delete(ctx, stranger, metav1.DeleteOptions{})
	_ = d.startAgain(ctx)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/status"
)

func decideCommands(hub *genericclioptions.ConfigFlags) (all []*cobra.Command) {
	for _, v := range []verb{openGate, allow, startFirst, freeze, unfreeze, validate, pause, resume, retry, ignore, abort} {
		all = append(all, decideCommand(hub, v))
	}
	return all
}

var openGate = verb{
	name: "open-gate", args: " [GROUP...]", most: -1, done: "annotated",
	short: "Open gates before groups, for the version that is wanted now",
	long: `Open gates before groups, for the version that is wanted now. A later version waits at them again.

A group is called as the annotation cohort.open-cluster-management.io/gates calls it: by its name or its index. Without one it is the only gate that is closed.`,
	example: "  kubectl cohort open-gate web prod",
	change: func(d decided) (string, error) {
		asked, err := d.asked()
		if err != nil {
			return "", err
		}
		closed, names, open := []grouping.Key(nil), []string(nil), []string(nil)
		for _, gate := range asked.Gates {
			if d.isOpen(asked, gate) {
				open = append(open, groupWord(gate.Group))
				continue
			}
			closed, names = append(closed, gate.Group), append(names, groupWord(gate.Group))
		}
		words := d.words
		switch {
		case len(open) > 0 && len(without(words, open)) == 0 && (len(words) > 0 || len(names) == 0):
			return "", already(fmt.Sprintf("the gate before %s is open for version %s already", groupWords(open), d.version()))
		case len(names) == 0:
			return "", errors.New("no gate is closed by the annotation cohort.open-cluster-management.io/gates")
		case len(words) == 0 && len(names) > 1:
			return "", fmt.Errorf("must be followed by the gates to open, of %s", strings.Join(names, ", "))
		case len(words) == 0:
			words = names
		}
		for _, word := range without(words, open) {
			at := slices.Index(names, word)
			if at < 0 {
				return "", fmt.Errorf("%s: must be a closed gate, of %s%s", word, strings.Join(names, ", "), spelling.Hint(word, names))
			}
			d.open(&asked, closed[at])
		}
		return fmt.Sprintf("open the gate before %s, for version %s", groupWords(words), d.version()), d.note(asked)
	},
	besides: otherReasons,
}

// isOpen says whether a gate is open, for the version that is wanted or because its time has come.
func (d decided) isOpen(asked approvals.Approvals, gate rollout.ClosedGate) bool {
	return asked.OpenGates.Version == d.version() && slices.Contains(asked.OpenGates.Groups, gate.Group) || !gate.Opens.IsZero() && !d.now.Before(gate.Opens)
}

// open opens a gate for the version that is wanted.
func (d decided) open(asked *approvals.Approvals, group grouping.Key) {
	if asked.OpenGates.Version != d.version() {
		asked.OpenGates = approvals.OpenGates{Version: d.version()}
	}
	asked.OpenGates.Groups = append(asked.OpenGates.Groups, group)
}

// otherReasons says what else blocks the clusters behind a gate, where no cluster starts although it is opened.
func otherReasons(_ decided, before, after part) []string {
	var opened []output.StandingGate
	for _, gate := range before.stands.Gates {
		if !slices.ContainsFunc(after.stands.Gates, func(g output.StandingGate) bool { return g.Gate == gate.Gate }) {
			opened = append(opened, gate)
		}
	}
	switch {
	case len(opened) != 1 || len(opened[0].WouldStart) > 0: // of several a line says why clusters wait, without the gates
		return nil
	case opened[0].Otherwise == nil:
		return []string{"no cluster waits behind it now"}
	}
	return []string{"the gate is not all that blocks: " + before.stands.Clock.Read(opened[0].Message)}
}

var pause = verb{
	name: "pause", done: "annotated",
	short:   "Start no cluster any more, until resume",
	long:    "Start no cluster any more, whatever version is wanted, until resume. Clusters in flight go on.",
	example: "  kubectl cohort pause web",
	change: func(d decided) (string, error) {
		asked, err := d.asked()
		switch {
		case err != nil:
			return "", err
		case asked.Pause:
			return "", already("it is paused already")
		}
		asked.Pause = true
		return "pause", d.note(asked)
	},
}

var resume = verb{
	name: "resume", done: "annotated",
	short:   "Go on after a pause",
	long:    "Go on after a pause.",
	example: "  kubectl cohort resume web --yes",
	change: func(d decided) (string, error) {
		asked, err := d.asked()
		switch {
		case err != nil:
			return "", err
		case !asked.Pause:
			return "", already("it is not paused")
		}
		asked.Pause = false
		return "go on after the pause", d.note(asked)
	},
}

var retry = verb{
	name: "retry", done: "annotated",
	short:   "Try the version again on clusters where it failed or timed out",
	long:    "Try the version that is wanted now again on clusters where it failed or timed out, within the limits of the strategy. Not for a Policy.",
	example: "  kubectl cohort retry web",
	change: func(d decided) (string, error) {
		asked, err := d.asked()
		if err != nil {
			return "", err
		}
		if d.owner.GetKind() == "Policy" {
			return "", errors.New("the clusters of a policy evaluate it again by themselves: there is nothing to retry")
		}
		attempt, failed := 0, []string(nil)
		for _, p := range d.parts {
			failed = append(failed, p.stands.Failed...)
			for _, report := range p.rollout.Observed {
				attempt = max(attempt, report.Attempt)
			}
			if m := p.rollout.StoredRecord; m != nil && m.Record.Version == m.Version {
				attempt = max(attempt, m.Record.Attempt)
			}
		}
		if asked.Retry.Version == d.version() {
			attempt = max(attempt, asked.Retry.Attempt)
		}
		if len(failed) == 0 {
			return "", errors.New("no cluster failed or timed out with the version that is wanted now")
		}
		asked.Retry = approvals.Retry{Attempt: attempt + 1, Version: d.version()}
		return fmt.Sprintf("attempt %d at version %s, where it failed: %s", attempt+1, d.version(), strings.Join(failed, " ")), d.note(asked)
	},
}

var ignore = verb{
	name: "ignore", args: " CLUSTER...", least: 1, most: -1, done: "annotated",
	short:   "Ignore clusters: they count no more, whatever becomes of them",
	long:    "Ignore clusters: no cluster waits for them, and their failures stop nothing. They keep what they have.",
	example: "  kubectl cohort ignore web edge-7",
	change: func(d decided) (string, error) {
		asked, err := d.askedOf(d.words)
		if err != nil {
			return "", err
		}
		given := without(d.words, asked.Ignored)
		if len(given) == 0 {
			return "", already(those(d.words, "is", "are") + " ignored already")
		}
		asked.Ignored = append(asked.Ignored, given...)
		return "ignore " + strings.Join(given, ", "), d.note(asked)
	},
}

var abort = verb{
	name: "abort", done: "patched", obeyed: true,
	short: "Roll a ManifestWorkReplicaSet back to the previous version",
	long: `Roll a ManifestWorkReplicaSet back to the previous version.

Where its controller keeps revisions (enhancement 229, works -rollback), all clusters that have the version roll back at once. Elsewhere
its template becomes the one before again, which is read from the works of clusters that wait: clusters that have the version roll back within
the limits of the strategy. Any controller does that, as it is a change of the spec. Gates open for it and all
clusters are allowed for it, so that nothing but the strategy, a pause and freezes keep a cluster from rolling back. Where the spec comes
from elsewhere, such as a repository, that has to be rolled back, too.`,
	example: "  kubectl cohort abort web --dry-run",
	change: func(d decided) (string, error) {
		if d.owner.GetKind() != "ManifestWorkReplicaSet" {
			return "", fmt.Errorf("the hub does not keep the previous version of a %s: apply that version", d.owner.GetKind())
		}
		if update, current := d.revisions(); update != "" {
			if current == "" || current == update {
				return "", fmt.Errorf("revision %s is the only one that clusters had: there is none to roll back to", update)
			}
			annotations := d.owner.GetAnnotations()
			if annotations == nil {
				annotations = make(map[string]string)
			}
			generation := strconv.FormatInt(d.owner.GetGeneration(), 10)
			if annotations[annotationAbort] == generation {
				return "", already("revision " + update + " is rolled back already")
			}
			annotations[annotationAbort] = generation
			d.owner.SetAnnotations(annotations)
			return fmt.Sprintf("roll revision %s back to revision %s", update, current), nil
		}
		template, version, clusters, err := d.before()
		if err != nil {
			return "", err
		}
		says := fmt.Sprintf("roll version %s back to the template of %s", d.version(), of(clusters, "the cluster that waits", "%d clusters that wait"))
		if err := unstructured.SetNestedField(d.owner.Object, template, "spec", "manifestWorkTemplate"); err != nil {
			return "", err
		}
		if freed, err := d.freeRollback(version); err != nil || !freed {
			return says, err
		}
		return says + "; gates and the allowlist do not block that", nil
	},
}

// freeRollback opens the gates for a version, and allows all clusters for it if there is an allowlist, so that
// neither blocks a rollback. It says whether there was any. It leaves what it cannot read, and an unknown version.
func (d decided) freeRollback(version string) (freed bool, err error) {
	asked, fault := d.asked()
	if fault != nil || version == "" {
		return false, nil
	}
	if asked.Allowlist.Version != "" {
		asked.Allowlist = approvals.Allowlist{Version: version, Clusters: sorted(d.selected(), d.have())}
		freed = true
	}
	if len(asked.Gates) > 0 {
		asked.OpenGates = approvals.OpenGates{Version: version}
		freed = true
	}
	for _, gate := range asked.Gates {
		asked.OpenGates.Groups = append(asked.OpenGates.Groups, gate.Group)
	}
	return freed, d.note(asked)
}

// annotationAbort has the generation whose revision is to be rolled back. The controller works reads it where it keeps revisions.
const annotationAbort = "cohort.open-cluster-management.io/abort"

// revisions are the one that is rolled out and the one that all had before, where a controller keeps any.
func (d decided) revisions() (update, current string) {
	update, _, _ = unstructured.NestedString(d.owner.Object, "status", "updateRevision")
	current, _, _ = unstructured.NestedString(d.owner.Object, "status", "currentRevision")
	return update, current
}

// groupWords are groups in a sentence, such as group 0, prod.
func groupWords(words []string) string {
	named := slices.Clone(words)
	for i, word := range named {
		if _, err := strconv.Atoi(word); err == nil {
			named[i] = "group " + word
		}
	}
	return strings.Join(named, ", ")
}

func groupWord(key grouping.Key) string {
	word := key.Name
	if word == "" {
		word = fmt.Sprint(key.Index)
	}
	if key.Placement != "" {
		word = key.Placement + "/" + word
	}
	return word
}

// asked is what people decided already.
func (d decided) asked() (approvals.Approvals, error) { return approvals.Of(d.owner) }

// askedOf is the same, for a verb about some clusters of the rollout. Another word is an error.
func (d decided) askedOf(clusters []string) (approvals.Approvals, error) {
	if err := d.knows(clusters); err != nil {
		return approvals.Approvals{}, err
	}
	return d.asked()
}

// note writes it into the owner.
func (d decided) note(asked approvals.Approvals) error {
	_, err := asked.Note(d.owner)
	return err
}

// version is the one that is wanted.
func (d decided) version() string { return d.parts[0].rollout.Version }

// before is the template that most works of the rollout have which do not have the present one, its version as their stamps name it, and how
// many have it.
func (d decided) before() (template map[string]any, version string, clusters int, err error) {
	now, _, _ := unstructured.NestedMap(d.owner.Object, "spec", "manifestWorkTemplate")
	specs, count, stamps := make(map[string]map[string]any), make(map[string]int), make(map[string]string)
	for i := range d.objects {
		o := &d.objects[i]
		spec, _, _ := unstructured.NestedMap(o.Object, "spec")
		if !hub.Made(o, d.owner) || o.GetKind() != "ManifestWork" || status.StampOf(o).Version == d.version() || reflect.DeepEqual(spec, now) {
			continue
		}
		text, err := json.Marshal(spec)
		if err != nil {
			return nil, "", 0, err
		}
		specs[string(text)] = spec
		stamps[string(text)] = cmp.Or(status.StampOf(o).Version, stamps[string(text)])
		count[string(text)]++
	}
	most := ""
	for _, text := range slices.Sorted(maps.Keys(count)) {
		if count[text] > count[most] {
			most = text
		}
	}
	if most == "" {
		return nil, "", 0, errors.New("no cluster waits with another template, so nothing on the hub keeps the one before: apply it")
	}
	return specs[most], stamps[most], count[most], nil
}

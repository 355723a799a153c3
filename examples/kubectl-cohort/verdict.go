// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/status"
)

var validate = verb{
	name: "validate", args: " CLUSTER yes|no", least: 2, most: 2, done: "annotated",
	short: "Say of a cluster that succeeded whether it is good, where clusters are validated",
	long: `Say of a cluster that succeeded whether it is good, where clusters are validated: the ManifestWorkReplicaSet names a rollout plugin, or the Policy has
the annotation cohort.open-cluster-management.io/validate: "true".

Yes has it count as done, or soak from now on. No is a failure, with a reason that explanations repeat. It is about the version and the attempt
that the cluster has now. The last word counts, of a user or of the plugin; after a yes or a no the plugin is not asked again.`,
	example: `  kubectl cohort validate web edge-7 yes
  kubectl cohort validate web edge-7 no --reason "the mesh has no route to store 7"`,
	flags: func(h *how, s *pflag.FlagSet) {
		s.StringVar(&h.reason, "reason", "", "`why`, which explanations repeat; a no must have it")
	},
	about: func(d decided) (int, error) {
		if d.parts[0].rollout.Validator == "" {
			if d.owner.GetKind() == "Policy" {
				return 0, fmt.Errorf("its clusters are not validated: it has no annotation %svalidate: \"true\"", annotationPrefix)
			}
			return 0, fmt.Errorf("no plugin validates its clusters: it has no annotation %splugin, so no plugin is asked for a verdict", annotationPrefix)
		}
		if err := d.knows(d.words[:1]); err != nil {
			return 0, err
		}
		if _, err := d.unjudged(); err != nil {
			return 0, err
		}
		found := -1
		for i := range d.objects {
			o := &d.objects[i]
			if hub.Made(o, d.owner) && o.GetNamespace() == d.words[0] && (found < 0 || status.StampOf(o).Version == d.version()) {
				found = i
			}
		}
		if found < 0 {
			return 0, fmt.Errorf("%s: has no object of it", d.words[0])
		}
		return found, nil
	},
	change: func(d decided) (string, error) {
		report, err := d.unjudged()
		if err != nil {
			return "", err
		}
		version := status.StampOf(d.object).Version
		if !d.parts[0].rollout.Aborted { // also of a work without a stamp
			version = d.version()
		}
		v := status.Verdict{Version: version, Attempt: report.Attempt, Message: strings.TrimSpace(d.how.reason)}
		switch d.words[1] {
		case "yes":
			v.Result = status.ValidationSucceeded
		case "no":
			v.Result = status.ValidationFailed
		default:
			return "", fmt.Errorf("%s: must be yes or no", d.words[1])
		}
		if v.Result == status.ValidationFailed && v.Message == "" {
			return "", errors.New("no: must have a --reason, which explanations repeat")
		}
		if said, err := status.VerdictOf(d.object, "", d.now); err == nil {
			if said.Time = v.Time; said == v && d.judged() {
				return "", already(fmt.Sprintf("%s is validated so already", d.words[0]))
			}
		}
		v.NoteOn(d.object)
		says := fmt.Sprintf("%s is good with version %s", d.words[0], version)
		if v.Result == status.ValidationFailed {
			says = fmt.Sprintf("%s is not good with version %s: %s", d.words[0], version, v.Message)
		}
		return says, nil
	},
}

const annotationPrefix = "cohort.open-cluster-management.io/"

// unjudged is the report of the cluster without what was said of it; an error unless it has succeeded with the version.
func (d decided) unjudged() (status.Report, error) {
	if d.parts[0].rollout.Aborted {
		return d.rolledBack()
	}
	for _, p := range d.parts {
		at := slices.IndexFunc(p.rollout.Unjudged, func(r status.Report) bool { return r.Cluster == d.words[0] })
		if at < 0 {
			continue
		}
		if r := p.rollout.Unjudged[at]; r.Status != status.Succeeded {
			return r, fmt.Errorf("%s: must have succeeded with version %s, and %s", d.words[0], d.version(), does(r))
		}
		return p.rollout.Unjudged[at], nil
	}
	return status.Report{}, fmt.Errorf("%s: must have version %s, and has nothing of it", d.words[0], d.version())
}

// rolledBack is the report of a cluster that rolled back from a version that is rolled back, or never had it, about the version that it has.
func (d decided) rolledBack() (report status.Report, err error) {
	for i := range d.objects {
		var work workv1.ManifestWork
		if o := &d.objects[i]; o.GetKind() != "ManifestWork" || o.GetNamespace() != d.words[0] || !hub.Made(o, d.owner) {
			continue
		} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &work); err != nil {
			return report, err
		}
		has := status.StampOf(&work).Version
		if has == d.version() {
			return report, fmt.Errorf("%s: has version %s, which is rolled back", d.words[0], has)
		}
		if report, _ = status.FromManifestWork(status.WorkState{Work: &work, Version: has, Now: d.now}); report.Status != status.Succeeded {
			return report, fmt.Errorf("%s: must have succeeded with version %s, and is %s", d.words[0], has, report.Status)
		}
		return report, nil
	}
	return report, fmt.Errorf("%s: has no ManifestWork of it", d.words[0])
}

// does says in words what a cluster does that has not succeeded.
func does(r status.Report) string {
	switch {
	case r.Status == status.ToApply && r.Applied.IsZero():
		return "waits for that version"
	case r.Status == status.ToApply:
		return "has not reported on this version"
	case r.Status == status.Failed:
		return "has failed"
	case r.Status == status.TimeOut:
		return "has timed out"
	}
	return "is " + strings.ToLower(string(r.Status))
}

// judged says whether a verdict on the cluster counts.
func (d decided) judged() bool {
	for _, p := range d.parts {
		for _, r := range p.rollout.Observed {
			if r.Cluster == d.words[0] {
				return r.Status != status.Validating
			}
		}
	}
	return false
}

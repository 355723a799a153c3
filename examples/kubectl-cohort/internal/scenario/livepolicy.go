// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// replicated is a policy in the namespace of a cluster.
type replicated struct {
	manifest.Object
	policy policyv1.Policy // with its action alone
	status policyv1.PolicyStatus
}

// resumePolicy reads the replicated policies of a root policy, which are named after it. Where one has a stamp, a controller
// of this library has written them, and stamps say what each has. Otherwise OCM's propagator has.
func (s *Scenario) resumePolicy(r applier, o *objects) (int, error) {
	var replicas []replicated
	stamped := false
	for _, object := range o.replicated {
		if object.GetName() == r.GetNamespace()+"."+r.GetName() {
			o.use(object)
			replicas = append(replicas, readReplicated(object))
			stamped = stamped || status.StampOf(&object).Version != ""
		}
	}
	want := contentOf(r.Object)
	s.Stamped = stamped
	s.Version = o.policyVersion(r, replicas, want)
	s.Policy.Version = s.Version
	if err := s.remember(r, s.Policy.Version); err != nil {
		return 0, err
	}
	for i := range replicas {
		if stamped {
			s.Policy.Replicas = append(s.Policy.Replicas, passes.ReplicaOf(&replicas[i].policy, &replicas[i].status).At(o.now))
		} else {
			s.Policy.Replicas = append(s.Policy.Replicas, replicas[i].unstamped(s.Policy.Version, want))
		}
	}
	s.validate(r, replicas, o.now)
	s.depend(r, o)
	s.noteDeleting(replicas)
	slices.SortFunc(s.Policy.Replicas, func(a, b passes.Replica) int { return strings.Compare(a.Cluster, b.Cluster) })
	s.Policy.Replicas = slices.CompactFunc(s.Policy.Replicas, func(a, b passes.Replica) bool { return a.Cluster == b.Cluster })
	return len(s.Policy.Replicas), nil
}

// noteDeleting says which replicated policies are being deleted, and what keeps them: a controller writes none of them before it is gone.
func (s *Scenario) noteDeleting(replicas []replicated) {
	s.Policy.Deleting = make(map[string]bool)
	var bound, others []string
	for i := range replicas {
		replica := &replicas[i]
		if replica.GetDeletionTimestamp() == nil {
			continue
		}
		cluster := replica.GetNamespace()
		s.Policy.Deleting[cluster] = true
		if said := cluster + " since " + replica.GetDeletionTimestamp().UTC().Format(time.RFC3339) + kept(replica.Object); s.selected(cluster) {
			bound = append(bound, said)
		} else {
			others = append(others, said)
		}
	}
	then := ", and gets it anew then"
	if s.Ends {
		then = ""
	}
	s.noteClusters("bound, and its replicated policy is being deleted: it counts as it is until that is gone"+then, bound)
	s.noteClusters("not bound, and its replicated policy is being deleted", others)
}

// kept names the finalizers of an object that is being deleted.
func kept(object manifest.Object) string {
	if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
		return " (finalizers: " + strings.Join(finalizers, ", ") + ")"
	}
	return ""
}

// validate lets count what was said of the clusters of a policy that are validated, as the controller policies does.
func (s *Scenario) validate(r applier, replicas []replicated, now time.Time) {
	if value := r.GetAnnotations()[annotationValidate]; !s.Stamped || value == "" || value == "false" {
		return
	} else if value != "true" {
		s.note("metadata.annotations[%s]: %q must be true or false: no cluster starts as long as that stands there", annotationValidate, value)
		s.Asked.Pause = true
		return
	}
	s.Validator = annotationValidate
	s.note("validated, as the annotation %s says: a cluster that complies counts once it is found good; a forecast finds each good at once", annotationValidate)
	s.Unjudged = s.Reports(rollout.Options{})
	for i := range replicas {
		replica := &s.Policy.Replicas[i]
		v, err := status.VerdictOf(&replicas[i], replica.Cluster, now)
		if err != nil {
			s.note("%v: no cluster starts as long as that stands there", replicas[i].Fault(err))
			s.Asked.Pause = true
		}
		if v.Time.IsZero() && v.Cluster != "" { // the time is unknown that is: of the success
			v.Time = Since(&status.Report{Applied: replica.Applied, LastTransitionTime: replica.ComplianceTime})
		}
		replica.Verdict = &v
	}
}

// readReplicated reads what counts of a replicated policy. What can't be read is unknown.
func readReplicated(object manifest.Object) replicated {
	r := replicated{Object: object}
	if policy, err := dependency.PolicyOf(&object.Unstructured); err == nil {
		r.policy = *policy
	} else {
		action, _, _ := unstructured.NestedString(object.Object, "spec", "remediationAction")
		r.policy.Namespace, r.policy.Annotations, r.policy.Spec.RemediationAction = object.GetNamespace(), object.GetAnnotations(), policyv1.RemediationAction(action)
	}
	var typed struct {
		Status policyv1.PolicyStatus `json:"status"`
	}
	data, _ := json.Marshal(object.Object)
	_ = json.Unmarshal(data, &typed)
	r.status = typed.Status
	return r
}

// policyVersion is the version that is wanted, as stamps name it: by a hash of what is replicated without action and strategy,
// as the controller in examples/controllers does, or else as the newest stamp does of a replica with the root's templates.
func (o *objects) policyVersion(r applier, replicas []replicated, want []any) string {
	version := ""
	if template, err := dependency.Replicate(&r.Unstructured, r.GetNamespace(), o.setsByName()); err == nil {
		version = passes.VersionOf(template)
	}
	var newest time.Time
	other := ""
	for i := range replicas {
		has, stamp := passes.ReplicaOf(&replicas[i].policy, &replicas[i].status).Version, status.StampOf(&replicas[i])
		if has == version {
			return version
		}
		if has != "" && (other == "" || stamp.Applied.After(newest)) && sameContent(want, contentOf(replicas[i].Object)) {
			other, newest = has, stamp.Applied
		}
	}
	if other != "" || version == "" {
		return other
	}
	return version
}

// unstamped is a replicated policy without a stamp as package passes sees it. It is of the version if its content is the
// root's.
func (copied *replicated) unstamped(version string, want []any) passes.Replica {
	replica := passes.ReplicaOf(&copied.policy, &copied.status)
	if sameContent(want, contentOf(copied.Object)) {
		replica.Version = version
	}
	if copied.GetGeneration() <= 1 {
		replica.Applied = copied.GetCreationTimestamp().Time
	}
	return replica
}

// contentOf is what the templates of a policy create, as JSON has it, one after the other. The rest of the spec a
// propagator writes in its own way, such as dependencies, and a rollout, such as the action.
func contentOf(object manifest.Object) (content []any) {
	spec, _ := object.Object["spec"].(map[string]any)
	templates, _ := spec["policy-templates"].([]any)
	for _, template := range templates {
		fields, _ := template.(map[string]any)
		content = append(content, generic(fields["objectDefinition"]))
	}
	return content
}

// sameContent says whether a replicated policy has the root's templates. One that a hub fills in looks different.
func sameContent(root, replica []any) bool {
	return slices.EqualFunc(root, replica, func(a, b any) bool {
		if text, err := json.Marshal(a); err == nil && bytes.Contains(text, []byte("{{hub")) {
			return true
		}
		return reflect.DeepEqual(a, b)
	})
}

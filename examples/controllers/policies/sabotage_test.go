// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// outsideDuties are those that can be tampered with from outside: the controller itself has no switches.
var outsideDuties = map[proof.Duty][]proof.Invariant{
	proof.DutyRecord:     proof.TrialDuties[proof.DutyRecord],
	proof.DutyReadBack:   proof.TrialDuties[proof.DutyReadBack],
	proof.DutyPassRecord: append(proof.TrialDuties[proof.DutyPromptly], proof.TrialDuties[proof.DutyPassRecord]...),
	proof.DutyIgnored:    proof.TrialDuties[proof.DutyIgnored],
	proof.DutyPromptly:   proof.TrialDuties[proof.DutyPromptly],
	proof.DutyTakeBack:   proof.TrialDuties[proof.DutyTakeBack],
	proof.DutyAdopt:      proof.TrialDuties[proof.DutyAdopt],
	proof.DutyEdited:     proof.TrialDuties[proof.DutyEdited],
	proof.DutyTemplates:  proof.TrialDuties[proof.DutyTemplates],
	proof.DutyRemoveLate: proof.TrialDuties[proof.DutyPromptly],
	proof.DutyRecheck:    proof.TrialDuties[proof.DutyPromptly],
	proof.DutyStatus:     proof.Duties[proof.DutyStatus],

	proof.DutyReadYourWrites: proof.TrialDuties[proof.DutyReadYourWrites],
	proof.DutyOneWrite:       proof.TrialDuties[proof.DutyOneWrite],
	proof.DutyTimeOfWrite:    proof.TrialDuties[proof.DutyTimeOfWrite],
	proof.DutyVerdict:        proof.TrialDuties[proof.DutyVerdict],
	proof.DutyUnregistered:   proof.TrialDuties[proof.DutyUnregistered],
	proof.DutyOwnerGone:      proof.TrialDuties[proof.DutyOwnerGone],
}

// saboteur has a process ignore a duty: what it reads and what it writes goes through here.
type saboteur struct {
	process *proof.Process

	mu       sync.Mutex
	believed map[string]string // annotations of the root that were written in the process's belief only
	late     string            // the cluster that is rolled back only after the next start
	planned  time.Time         // when the look began
}

// is says whether an object is the root policy.
func (s *saboteur) is(namespace, name string) bool {
	return s.process.Set.Namespace == namespace && s.process.Set.Name == name
}

// keep reads the root policy without what the process is to ignore, or with what it only believes to have written.
func (s *saboteur) keep(keep cache.TransformFunc) cache.TransformFunc {
	return func(object any) (any, error) {
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return keep(object)
		}
		if !s.is(u.GetNamespace(), u.GetName()) {
			return s.keepReplica(u, keep)
		}
		annotations := maps.Clone(u.GetAnnotations())
		given, gave := annotations[ignoreAnnotation]
		switch s.process.Ignored {
		case proof.DutyPassRecord:
			annotations = map[string]string{}
			if gave {
				annotations[ignoreAnnotation] = given
			}
		case proof.DutyIgnored:
			delete(annotations, ignoreAnnotation)
		case proof.DutyVerdict:
			delete(annotations, validateAnnotation)
		case proof.DutyRecord, proof.DutyReadBack:
			s.mu.Lock()
			if annotations == nil {
				annotations = map[string]string{}
			}
			maps.Copy(annotations, s.believed)
			s.mu.Unlock()
		default:
			return keep(object)
		}
		u.SetAnnotations(annotations)
		return keep(u)
	}
}

// keepReplica reads a replica without what the process is to ignore.
func (s *saboteur) keepReplica(u *unstructured.Unstructured, keep cache.TransformFunc) (any, error) {
	read := u.DeepCopy()
	kept, err := keep(u)
	p, ok := kept.(*policy)
	if !ok || err != nil {
		return kept, err
	}
	switch s.process.Ignored {
	case proof.DutyAdopt:
		p.stranger = nil
	case proof.DutyEdited:
		p.content = p.replica.Version
	case proof.DutyTemplates:
		var st policyv1.PolicyStatus
		if err := decode(read.Object["status"], &st); err != nil {
			return nil, err
		}
		replica := replicaOf(read, p.ObjectMeta)
		replica.Spec.PolicyTemplates = nil
		p.replica = passes.ReplicaOf(replica, &st)
	}
	return p, nil
}

// begin has a process forget before a look what it is to ignore.
func (s *saboteur) begin(m *memory) {
	s.planned = time.Now()
	switch s.process.Ignored {
	case proof.DutyRemoveLate:
		m.last = nil
	case proof.DutyReadYourWrites:
		m.written = writes.Own[*policy]{}
	}
}

// deaf is a queue that does not hear when to come back.
type deaf struct{ queue }

func (deaf) AddAfter(types.NamespacedName, time.Duration) {}

// sabotaged is a client that writes something else than it is told.
type sabotaged struct {
	dynamic.Interface
	by *saboteur
}

func (c sabotaged) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	if c.by.process.Ignored == "" {
		return c.Interface.Resource(r)
	}
	return sabotagedResource{c.Interface.Resource(r), c.by, r}
}

type sabotagedResource struct {
	dynamic.NamespaceableResourceInterface
	by *saboteur
	of schema.GroupVersionResource
}

// Get finds each ManagedCluster.
func (r sabotagedResource) Get(ctx context.Context, name string, o metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	if r.by.process.Ignored == proof.DutyUnregistered && r.of == managedClusters {
		return &unstructured.Unstructured{}, nil
	}
	return r.NamespaceableResourceInterface.Get(ctx, name, o, sub...)
}

func (r sabotagedResource) Namespace(namespace string) dynamic.ResourceInterface {
	return sabotagedNamespace{r.NamespaceableResourceInterface.Namespace(namespace), r.by, namespace}
}

type sabotagedNamespace struct {
	dynamic.ResourceInterface
	by        *saboteur
	namespace string
}

// Get finds the root policy, also after its deletion.
func (n sabotagedNamespace) Get(ctx context.Context, name string, o metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	if n.by.process.Ignored == proof.DutyOwnerGone && n.by.is(n.namespace, name) {
		return &unstructured.Unstructured{}, nil
	}
	return n.ResourceInterface.Get(ctx, name, o, sub...)
}

// Patch lets the process believe that it has written the root's annotations.
func (n sabotagedNamespace) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*unstructured.Unstructured, error) {
	ignored := n.by.process.Ignored
	if n.by.is(n.namespace, name) && len(sub) > 0 && ignored == proof.DutyStatus {
		return n.Get(ctx, name, metav1.GetOptions{})
	}
	if !n.by.is(n.namespace, name) || len(sub) > 0 || ignored != proof.DutyRecord && ignored != proof.DutyReadBack {
		return n.ResourceInterface.Patch(ctx, name, kind, data, o, sub...)
	}
	var patch struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	return n.believe(ctx, name, patch.Metadata.Annotations)
}

func (n sabotagedNamespace) believe(ctx context.Context, name string, annotations map[string]string) (*unstructured.Unstructured, error) {
	n.by.mu.Lock()
	n.by.believed = maps.Clone(annotations)
	n.by.mu.Unlock()
	u, err := n.Get(ctx, name, metav1.GetOptions{})
	if err == nil { // an event, so that it is read again
		u, err = n.ResourceInterface.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata": {"labels": {"sabotage": "v`+u.GetResourceVersion()+`"}}}`), metav1.PatchOptions{})
	}
	return u, err
}

// inTwo writes a replica with the stamp that it had, and then the stamp.
func (n sabotagedNamespace) inTwo(ctx context.Context, u *unstructured.Unstructured, o metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	stored, err := n.Get(ctx, u.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	stamp := u.GetAnnotations()
	u.SetAnnotations(stored.GetAnnotations())
	if _, err = n.ResourceInterface.Update(ctx, u, o); err != nil {
		return nil, err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": stamp}})
	if err != nil {
		return nil, err
	}
	return n.ResourceInterface.Patch(ctx, u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
}

// Update takes an enforced replica back only after the next start, or notes the stamp otherwise than it should.
func (n sabotagedNamespace) Update(ctx context.Context, u *unstructured.Unstructured, o metav1.UpdateOptions, sub ...string) (*unstructured.Unstructured, error) {
	ignored := n.by.process.Ignored
	if n.by.is(n.namespace, u.GetName()) && len(sub) == 0 && (ignored == proof.DutyRecord || ignored == proof.DutyReadBack) {
		return n.believe(ctx, u.GetName(), u.GetAnnotations())
	}
	switch stamp := u.GetAnnotations(); {
	case ignored == proof.DutyOneWrite:
		return n.inTwo(ctx, u, o)
	case ignored == proof.DutyTimeOfWrite && stamp["cohort.open-cluster-management.io/applied"] != "":
		stamp["cohort.open-cluster-management.io/applied"] = n.by.planned.UTC().Format(time.RFC3339Nano)
		u.SetAnnotations(stamp)
	}
	if ignored != proof.DutyTakeBack || n.by.is(n.namespace, u.GetName()) || len(sub) > 0 {
		return n.ResourceInterface.Update(ctx, u, o, sub...)
	}
	action, _, _ := unstructured.NestedString(u.Object, "spec", "remediationAction")
	if action == "inform" {
		stored, err := n.Get(ctx, u.GetName(), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if had, _, _ := unstructured.NestedString(stored.Object, "spec", "remediationAction"); had == "enforce" && (n.by.late == "" || n.by.late == n.namespace) {
			n.by.late = n.namespace
			return stored, nil
		}
		return n.ResourceInterface.Update(ctx, u, o)
	}
	written, err := n.ResourceInterface.Update(ctx, u, o)
	n.by.late = ""
	return written, err
}

// Delete leaves what is enforced.
func (n sabotagedNamespace) Delete(ctx context.Context, name string, o metav1.DeleteOptions, sub ...string) error {
	if n.by.process.Ignored == proof.DutyPromptly {
		return nil
	}
	return n.ResourceInterface.Delete(ctx, name, o, sub...)
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// The labels of replicated policies, as OCM's propagator sets them.
const (
	rootLabel             = "policy.open-cluster-management.io/root-policy" // namespace.name
	clusterLabel          = "policy.open-cluster-management.io/cluster-name"
	clusterNamespaceLabel = "policy.open-cluster-management.io/cluster-namespace"
)

// reportedAnnotation notes on a replicated policy what its cluster had reported when it was written.
const reportedAnnotation = "policies.cohort.open-cluster-management.io/reported"

// policy is what is kept of a Policy in the cache. Most are replicated, and of these only what is asked is kept: with
// templates, 10,000 of them would take as much memory as all else.
type policy struct {
	metav1.ObjectMeta // without managed fields

	// Of a root policy:
	raw    *unstructured.Unstructured // as it was read
	root   *policyv1.Policy           // nil if it can't be read, or is replicated
	err    error                      // why it can't be read
	status status.PolicyStatus

	// Of a replicated policy:
	replica  passes.Replica
	reported string // what its cluster says now
}

func (p *policy) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// sameContent says whether two states of a root policy differ in nothing but the status, which changes with every report.
func sameContent(a, b *policy) bool {
	return a == b || a != nil && b != nil && a.UID == b.UID && a.Generation == b.Generation &&
		maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

// rootOf is the root policy of a replicated one. A namespace has no dot in it.
func rootOf(replica metav1.Object) (types.NamespacedName, bool) {
	value := replica.GetLabels()[rootLabel]
	namespace, name, ok := strings.Cut(value, ".")
	return types.NamespacedName{Namespace: namespace, Name: name}, ok && value == replica.GetName() && namespace != replica.GetNamespace()
}

// keep turns a Policy into what is kept of it, before it comes into the cache.
func keep(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil // it is kept already
	}
	p := &policy{}
	if err := decode(u.Object["metadata"], &p.ObjectMeta); err != nil {
		return nil, err
	}
	p.ManagedFields = nil
	if err := decode(u.Object["status"], &p.status); err != nil {
		p.err = fmt.Errorf("status: %w", err)
	}
	if _, replicated := p.Labels[rootLabel]; replicated {
		p.readReplica(u)
		return p, nil
	}
	u.SetManagedFields(nil)
	p.raw = u
	if root, err := dependency.PolicyOf(u); err != nil {
		p.err = err
	} else {
		p.root = root
	}
	return p, nil
}

func decode(from any, into any) error {
	object, ok := from.(map[string]any)
	if !ok {
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object, into)
}

// readReplica reads what was written to a replicated policy, and what its cluster has reported since. A cluster does not
// say of which content it speaks: a report counts if it is another one than the one that was there when the policy was
// written. The clocks of hub and cluster need not agree.
func (p *policy) readReplica(u *unstructured.Unstructured) {
	action, _, _ := unstructured.NestedString(u.Object, "spec", "remediationAction")
	stamp, written := status.StampOf(p)
	version, _, _ := strings.Cut(stamp, " ")
	p.reported = markOf(&p.status)
	p.replica = passes.Replica{
		Cluster: p.Namespace, Version: version, Action: policyv1.RemediationAction(action),
		WriteTime: written, RolloutStatus: p.status.RolloutStatus,
	}
	if p.reported != p.Annotations[reportedAnnotation] {
		p.replica.Compliance, p.replica.ComplianceTime = p.status.ComplianceState, reportTime(&p.status)
	}
	p.status = status.PolicyStatus{}
}

// reported is what the clusters of some replicated policies say of them.
func reported(replicas []*policy) []passes.Replica {
	all := make([]passes.Replica, len(replicas))
	for i := range replicas {
		all[i] = replicas[i].replica
	}
	return all
}

// stamp notes on a replicated policy, in the write that carries them, its version with its action, since when it has them,
// and what its cluster had reported until then.
func stamp(object metav1.Object, version string, action policyv1.RemediationAction, reported string, now time.Time) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[reportedAnnotation] = reported
	object.SetAnnotations(annotations)
	status.Stamp(object, version+" "+string(action), now)
}

// markOf tells one report of a cluster from another. Each event of a template has a name of its own.
func markOf(st *status.PolicyStatus) string {
	if st.ComplianceState == "" {
		return ""
	}
	text := string(st.ComplianceState)
	for _, details := range st.Details {
		text += "\n" + details.TemplateMeta.Name
		if len(details.History) > 0 {
			text += " " + details.History[0].EventName + " " + details.History[0].LastTimestamp.UTC().Format(time.RFC3339)
		}
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// reportTime is when the last template has reported.
func reportTime(st *status.PolicyStatus) (last time.Time) {
	for _, details := range st.Details {
		if len(details.History) > 0 && details.History[0].LastTimestamp.After(last) {
			last = details.History[0].LastTimestamp.Time
		}
	}
	return last
}

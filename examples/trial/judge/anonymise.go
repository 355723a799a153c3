// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bufio"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// fields is a part of an object.
type fields = map[string]any

// Anonymise writes a recording anew with what is judged and nothing else: names are hashed with a salt, versions are hashed, and
// payloads, annotations, messages and objects of other kinds are left out. With the same salt a name gets the same hash.
func Anonymise(out io.Writer, r *Recording, salt []byte) error {
	return (&anonymiser{salt: salt, names: map[string]string{}}).write(out, slices.Clone(r.events))
}

// write writes lines with what is judged, in their order.
func (a *anonymiser) write(out io.Writer, events []event) error {
	buffered := bufio.NewWriter(out)
	lines := json.NewEncoder(buffered)
	slices.SortStableFunc(events, func(x, y event) int { return cmp.Compare(x.line, y.line) })
	for i := range events {
		e := &events[i]
		l := Line{Type: e.typed, At: at(e.at), Kind: e.about}
		if l.Reason = e.reason; e.reason != "" && !a.clear {
			l.Reason = "lost"
		}
		if e.class == isOther {
			continue
		}
		if e.class != isNothing {
			var err error
			if l.Object, err = json.Marshal(a.object(e)); err != nil {
				return err
			}
		}
		if err := lines.Encode(l); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

type anonymiser struct {
	salt  []byte
	names map[string]string
	clear bool // names stay as they are
}

// name hashes a name. The empty one stays.
func (a *anonymiser) name(s string) string {
	if s == "" || a.clear {
		return s
	}
	if have, ok := a.names[s]; ok {
		return have
	}
	sum := hmac.New(sha256.New, a.salt)
	sum.Write([]byte(s))
	a.names[s] = "n" + hex.EncodeToString(sum.Sum(nil)[:6])
	return a.names[s]
}

// split takes a key apart, with both parts hashed.
func (a *anonymiser) split(key string) (namespace, name string) {
	if before, after, ok := strings.Cut(key, "/"); ok {
		return a.name(before), a.name(after)
	}
	return "", a.name(key)
}

func (a *anonymiser) object(e *event) fields {
	namespace, name := a.split(e.key)
	meta := fields{"namespace": namespace, "name": name, "resourceVersion": strconv.FormatInt(e.rv, 10), "generation": 1}
	object := fields{"kind": e.kind, "metadata": meta}
	deleting := false
	switch s := e.state.(type) {
	case *placementState:
		groups := []fields{}
		for _, g := range s.groups {
			var names []string
			for _, d := range g.decisions {
				names = append(names, a.name(d))
			}
			groups = append(groups, fields{"decisionGroupIndex": g.index, "decisionGroupName": a.name(g.name), "clusterCount": g.count, "decisions": names})
		}
		if s.foreign {
			meta["annotations"] = fields{clusterv1beta1.PlacementDisableAnnotation: "true"}
		}
		if s.size > 0 {
			object["spec"] = fields{"decisionStrategy": fields{"groupStrategy": fields{"clustersPerDecisionGroup": s.size}}}
		}
		object["status"] = fields{"numberOfSelectedClusters": s.selected, "decisionGroups": groups}
	case *decisionState:
		deleting = s.deleting
		_, placement := a.split(s.placement)
		meta["labels"] = fields{
			clusterv1beta1.PlacementLabel: placement, clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(s.index),
			clusterv1beta1.DecisionGroupNameLabel: a.name(s.name),
		}
		clusters := []fields{}
		for _, c := range s.clusters {
			clusters = append(clusters, fields{"clusterName": a.name(c)})
		}
		object["status"] = fields{"decisions": clusters}
	case *ownerState:
		deleting = s.deleting
		a.owner(object, e.kind, s)
	case *holderState:
		deleting = s.deleting
		a.holder(object, meta, e.kind, s)
	case *rootState:
		deleting = s.deleting
		action := "enforce"
		if s.fault != "" {
			action = "inform" // it is not judged
		}
		if s.annotations[failAtOnce] == "true" {
			meta["annotations"] = fields{failAtOnce: "true"}
		}
		object["spec"] = fields{"remediationAction": action, "rolloutStrategy": a.strategy(s.strategy), "policy-templates": templates(s.version)}
		if status := (fields{"compliant": "Pending"}); !s.silent {
			if len(s.claims) > 0 {
				status["rolloutStatus"] = conditionSucceeded
			}
			object["status"] = status
		}
	case *bindingState:
		kind, subjects := "Placement", []fields{}
		if s.placement == "" {
			kind = "none"
		}
		_, placement := a.split(s.placement)
		for _, x := range s.subjects {
			subjects = append(subjects, fields{"kind": x.kind, "name": a.name(x.name)})
		}
		object["placementRef"], object["subjects"] = fields{"kind": kind, "name": placement}, subjects
		if s.fault != "" && s.placement != "" {
			object["subFilter"] = "restricted"
		}
	case *clusterState:
		deleting = s.deleting
	case *setState:
		policies := []string{}
		for _, name := range s.policies {
			policies = append(policies, a.name(name))
		}
		spec := fields{"policies": policies}
		if s.fault != "" {
			spec["exclusions"] = []fields{{}}
		}
		object["spec"] = spec
	}
	if deleting {
		meta["deletionTimestamp"] = at(e.at).Format(time.RFC3339)
	}
	return object
}

func (a *anonymiser) owner(object fields, kind string, s *ownerState) {
	var refs, progressions []fields
	manifests := []fields{}
	for _, r := range s.spec.refs {
		namespace, name := a.split(r.placement)
		ref := fields{"name": name, "rolloutStrategy": a.strategy(r.raw)}
		if kind == "ClusterManagementAddOn" {
			ref["namespace"], ref["configs"] = namespace, a.configs(r.version, false, false)
			progressions = append(progressions, fields{"namespace": namespace, "name": name, "configReferences": a.configs(r.version, true, false), "conditions": claimed(kind, s, r.placement)})
		}
		refs = append(refs, ref)
		manifests = []fields{{"version": r.version}}
	}
	for _, c := range s.claims {
		if c.generation > 0 {
			object["metadata"].(fields)["generation"] = c.generation
		}
	}
	if kind == "ClusterManagementAddOn" {
		object["spec"] = fields{"installStrategy": fields{"type": "Placements", "placements": refs}}
		if !s.silent {
			object["status"] = fields{"installProgressions": append(progressions, fields{"name": "said"})}
		}
		return
	}
	object["spec"] = fields{"manifestWorkTemplate": fields{"workload": fields{"manifests": manifests}}, "placementRefs": refs}
	if !s.silent {
		object["status"] = fields{"conditions": append(claimed(kind, s, ""), fields{"type": "Said", "status": "True"})}
	}
}

// claimed are the conditions with which an owner calls its rollout to a placement complete.
func claimed(kind string, s *ownerState, placement string) []fields {
	all := []fields{}
	for _, c := range s.claims {
		condition := fields{"type": workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut, "status": "True", "observedGeneration": c.generation}
		if kind == "ClusterManagementAddOn" {
			condition["type"], condition["status"], condition["reason"] = addonv1beta1.ManagedClusterAddOnConditionProgressing, "False", addonv1beta1.ProgressingReasonCompleted
		} else if c.succeeded {
			condition["type"] = conditionSucceeded
		}
		if c.placement == placement {
			all = append(all, condition)
		}
	}
	return all
}

// strategy is one with hashed names of groups.
func (a *anonymiser) strategy(raw clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	s := *raw.DeepCopy()
	if p := s.Progressive; p != nil {
		a.groups(p.MandatoryDecisionGroups.MandatoryDecisionGroups)
	}
	if p := s.ProgressivePerGroup; p != nil {
		a.groups(p.MandatoryDecisionGroups.MandatoryDecisionGroups)
	}
	return s
}

func (a *anonymiser) groups(of []clusterv1alpha1.MandatoryDecisionGroup) {
	for i := range of {
		of[i].GroupName = a.name(of[i].GroupName)
	}
}

// templates are those of a policy with a version.
func templates(version string) []fields {
	return []fields{{"objectDefinition": fields{"version": version}}}
}

// configs writes a version of an add-on as configurations.
func (a *anonymiser) configs(version string, held, applied bool) []fields {
	all := []fields{}
	if version == "" {
		return all
	}
	for part := range strings.SplitSeq(version, "\n") {
		c := fields{"group": "hashed", "resource": "configs"}
		if held {
			c["desiredConfig"] = fields{"name": a.name(part)}
			if applied {
				c["lastAppliedConfig"] = fields{"name": a.name(part)}
			}
		} else {
			c["name"] = a.name(part)
		}
		all = append(all, c)
	}
	return all
}

func (a *anonymiser) holder(object, meta fields, kind string, s *holderState) {
	condition := func(kind string, is bool) fields {
		c := fields{"type": kind, "status": map[bool]string{true: "True", false: "False"}[is], "observedGeneration": 1}
		if s.since > 0 {
			c["lastTransitionTime"] = at(s.since).Format(time.RFC3339Nano)
		}
		return c
	}
	conditions := []fields{}
	if kind == "ManagedClusterAddOn" {
		if s.answer != silent {
			c := condition("Progressing", s.answer == underWay)
			c["reason"] = map[answer]string{underWay: "Progressing", does: "Completed", fails: "Failed"}[s.answer]
			conditions = append(conditions, c)
		}
		object["status"] = fields{"conditions": conditions, "configReferences": a.configs(s.version, true, s.answer == does)}
		return
	}
	_, owner, _ := strings.Cut(s.owner, " ")
	namespace, name := a.split(owner)
	if kind == "Policy" {
		action := map[bool]string{true: "inform", false: "enforce"}[s.inform]
		meta["labels"] = fields{rootLabel: namespace + "." + name}
		object["spec"] = fields{"remediationAction": action, "policy-templates": templates(s.version)}
		status := fields{"compliant": map[answer]string{silent: "Pending", does: "Compliant", fails: "NonCompliant"}[s.answer]}
		if s.since > 0 {
			status["details"] = []fields{detail(s.since, status["compliant"])}
			if s.latest != s.since {
				status["details"] = []fields{detail(s.since, "Compliant"), detail(s.latest, status["compliant"])}
			}
		}
		object["status"] = status
		return
	}
	meta["labels"] = fields{workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey: namespace + "." + name}
	if s.answer != silent {
		conditions = []fields{condition("Applied", true), condition("Progressing", s.answer != does), condition("Degraded", s.answer == fails)}
	}
	object["spec"] = fields{"workload": fields{"manifests": []fields{{"version": s.version}}}}
	object["status"] = fields{"conditions": conditions}
}

// detail is what a template said last.
func detail(when int64, says any) fields {
	return fields{"compliant": says, "history": []fields{{"lastTimestamp": at(when).Format(time.RFC3339)}}}
}

// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

const (
	policyGroup = "policy.open-cluster-management.io"
	rootLabel   = policyGroup + "/root-policy" // of a replicated policy: namespace.name
	failAtOnce  = "cohort.open-cluster-management.io/fail-at-once"
)

// rootState is a root policy. What it wants stands in it, and where it wants it in the bindings.
type rootState struct {
	ownerState
	version  string
	strategy clusterv1alpha1.RolloutStrategy
	fault    string
}

// subject is a Policy or a PolicySet that a binding names.
type subject struct{ kind, name string }

// bindingState is a PlacementBinding.
type bindingState struct {
	placement string // namespace/name, empty if it names none
	subjects  []subject
	fault     string // why what it binds is not judged
}

// setState is a PolicySet.
type setState struct {
	policies []string
	fault    string
}

func (r *reader) policy(o *object, e *event) error {
	if root := o.Metadata.Labels[rootLabel]; root != "" {
		return r.replica(o, e, root)
	}
	var spec struct {
		Disabled          bool                            `json:"disabled"`
		RemediationAction string                          `json:"remediationAction"`
		RolloutStrategy   clusterv1alpha1.RolloutStrategy `json:"rolloutStrategy"`
	}
	var status struct {
		Placement []json.RawMessage `json:"placement"`
		Compliant string            `json:"compliant"`
		Rollout   string            `json:"rolloutStatus"`
	}
	if err := cmp.Or(decode("spec", o.Spec, &spec), decode("status", o.Status, &status)); err != nil {
		return err
	}
	version, templates, err := r.versionOfPolicy(o.Spec)
	if err != nil {
		return err
	}
	s := &rootState{version: version, strategy: spec.RolloutStrategy}
	s.annotations = o.annotations()
	s.deleting = o.Metadata.DeletionTimestamp != nil || spec.Disabled
	s.silent = len(status.Placement) == 0 && status.Compliant == ""
	if status.Rollout == conditionSucceeded {
		s.claims = []claim{{succeeded: true}}
	}
	switch {
	case strings.EqualFold(spec.RemediationAction, "inform"):
		s.fault = "its remediationAction is inform, so nothing is rolled out"
	case strings.Contains(templates, "{{hub"):
		s.fault = "it has templates of the hub, which differ from cluster to cluster"
	}
	e.class, e.state = isRoot, s
	return nil
}

// versionOfPolicy is a hash of its spec, without what a rollout sets, and without dependencies, which have another form on clusters.
func (r *reader) versionOfPolicy(raw json.RawMessage) (version, text string, err error) {
	spec := map[string]json.RawMessage{}
	var templates []map[string]json.RawMessage
	if err := decode("spec", raw, &spec); err != nil {
		return "", "", err
	}
	if err := decode("spec.policy-templates", spec["policy-templates"], &templates); err != nil {
		return "", "", err
	}
	for _, t := range templates {
		delete(t, "extraDependencies")
	}
	for _, set := range []string{"disabled", "remediationAction", "rolloutStrategy", "dependencies", "policy-templates"} {
		delete(spec, set)
	}
	all, err := json.Marshal([]any{spec, templates})
	if err != nil {
		return "", "", err
	}
	version, err = r.hash(all)
	return version, string(all), err
}

// replica reads a policy of a cluster. Its newest report has a time; nothing else says which version it is about.
func (r *reader) replica(o *object, e *event, root string) error {
	namespace, name, ok := strings.Cut(root, ".")
	if !ok {
		return fmt.Errorf("the label %s is %q, expected namespace.name", rootLabel, root)
	}
	var spec struct {
		RemediationAction string `json:"remediationAction"`
	}
	var status struct {
		Compliant string `json:"compliant"`
		Details   []struct {
			Compliant    string `json:"compliant"`
			TemplateMeta struct {
				Name string `json:"name"`
			} `json:"templateMeta"`
			History []struct {
				LastTimestamp metav1.Time `json:"lastTimestamp"`
			} `json:"history"`
		} `json:"details"`
	}
	if err := cmp.Or(decode("spec", o.Spec, &spec), decode("status", o.Status, &status)); err != nil {
		return err
	}
	version, _, err := r.versionOfPolicy(o.Spec)
	if err != nil {
		return err
	}
	h := &holderState{
		owner: r.same("Policy " + keyOf(namespace, name)), cluster: r.same(o.Metadata.Namespace), version: version, dated: true,
		inform: strings.EqualFold(spec.RemediationAction, "inform"), deleting: o.Metadata.DeletionTimestamp != nil,
	}
	informs, err := informing(o.Spec)
	if err != nil {
		return err
	}
	var newest, oldest, latest int64 // of all templates, and of those that do not comply
	complies, unfit, told := true, false, false
	for _, d := range status.Details {
		told = told || d.Compliant != ""
		if len(d.History) == 0 {
			complies = false
			continue
		}
		at := nanos(d.History[0].LastTimestamp)
		newest = max(newest, at)
		if oldest == 0 || at < oldest {
			oldest = at
		}
		isFit := d.Compliant == "Compliant" || informs[d.TemplateMeta.Name]
		complies = complies && isFit
		if d.Compliant == "NonCompliant" && !isFit {
			unfit, latest = true, max(latest, at)
		}
	}
	if !told { // its parts say nothing
		complies, unfit, latest = status.Compliant == "Compliant", status.Compliant == "NonCompliant", newest
	}
	switch {
	case unfit: // as long as one template may not have answered, it is unclear
		h.answer, h.since, h.latest = fails, oldest, latest
	case complies:
		h.answer, h.since, h.latest = does, newest, newest
	}
	e.class, e.state = isHolder, h
	return nil
}

// informing names the templates that no policy makes enforce: those of informOnly, and of kinds whose controllers only inform.
func informing(raw json.RawMessage) (map[string]bool, error) {
	var spec struct {
		Templates []struct {
			Definition struct {
				Kind     string `json:"kind"`
				Metadata struct {
					Name string `json:"name"`
				} `json:"metadata"`
				Spec struct {
					RemediationAction string `json:"remediationAction"`
				} `json:"spec"`
			} `json:"objectDefinition"`
		} `json:"policy-templates"`
	}
	if err := decode("spec", raw, &spec); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, t := range spec.Templates {
		kind := t.Definition.Kind
		onlyInforms := kind == "CertificatePolicy" || kind == "IamPolicy"
		names[t.Definition.Metadata.Name] = onlyInforms || strings.EqualFold(t.Definition.Spec.RemediationAction, "informOnly")
	}
	return names, nil
}

func (r *reader) binding(o *object, e *event) error {
	var b struct {
		Placement struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"placementRef"`
		Subjects []struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"subjects"`
		SubFilter string `json:"subFilter"`
		Overrides struct {
			RemediationAction string `json:"remediationAction"`
		} `json:"bindingOverrides"`
	}
	if err := decode("the binding", o.whole, &b); err != nil {
		return err
	}
	s := &bindingState{}
	if b.Placement.Kind == "Placement" {
		s.placement = r.same(keyOf(o.Metadata.Namespace, b.Placement.Name))
	} else {
		s.fault = fmt.Sprintf("it is bound to a %q, expected a Placement", b.Placement.Kind)
	}
	if b.SubFilter != "" || b.Overrides.RemediationAction != "" {
		s.fault = "a binding has a filter or an override"
	}
	for _, x := range b.Subjects {
		s.subjects = append(s.subjects, subject{r.same(x.Kind), r.same(x.Name)})
	}
	if o.Metadata.DeletionTimestamp != nil {
		s.subjects = nil
	}
	e.class, e.state = isBinding, s
	return nil
}

func (r *reader) policySet(o *object, e *event) error {
	var spec struct {
		Policies   []string          `json:"policies"`
		Exclusions []json.RawMessage `json:"exclusions"`
	}
	if err := decode("spec", o.Spec, &spec); err != nil {
		return err
	}
	s := &setState{}
	for _, name := range spec.Policies {
		s.policies = append(s.policies, r.same(name))
	}
	if len(spec.Exclusions) > 0 {
		s.fault = "its set has exclusions"
	}
	e.class, e.state = isSet, s
	return nil
}

// bound are the policies of a hub with what binds them to placements.
type bound struct {
	roots    map[string]*rootState // by namespace/name
	bindings map[string]*bindingState
	sets     map[string]*setState
	now      map[string]*ownerSpec // what each wants, by the policy
	text     map[string]string     // that, as a text
}

func newBound() *bound {
	return &bound{map[string]*rootState{}, map[string]*bindingState{}, map[string]*setState{}, map[string]*ownerSpec{}, map[string]string{}}
}

// put takes the next state of a root policy, a binding or a set, and returns the policies that it may concern.
func (b *bound) put(e *event) []string {
	switch {
	case e.class == isRoot && e.gone:
		delete(b.roots, e.key)
	case e.class == isRoot:
		b.roots[e.key] = e.state.(*rootState)
	case e.class == isBinding && e.gone:
		delete(b.bindings, e.key)
	case e.class == isBinding:
		b.bindings[e.key] = e.state.(*bindingState)
	case e.gone:
		delete(b.sets, e.key)
	default:
		b.sets[e.key] = e.state.(*setState)
	}
	if e.class == isRoot {
		return []string{e.key}
	}
	namespace, _, _ := strings.Cut(e.key, "/")
	return slices.DeleteFunc(sortedKeys(b.roots), func(key string) bool { return !strings.HasPrefix(key, namespace+"/") })
}

// wants is a policy as an owner like the others: with the placements that it is bound to. It is nil if there is none.
func (b *bound) wants(key string) *ownerState {
	root := b.roots[key]
	if root == nil {
		return nil
	}
	s := &ownerSpec{fault: root.fault}
	namespace, name, _ := strings.Cut(key, "/")
	for _, k := range sortedKeys(b.bindings) {
		binding := b.bindings[k]
		if in, _, _ := strings.Cut(k, "/"); in != namespace {
			continue
		}
		for _, of := range binding.subjects {
			set := b.sets[keyOf(namespace, of.name)]
			if (of.kind != "Policy" || of.name != name) && (of.kind != "PolicySet" || set == nil || !slices.Contains(set.policies, name)) {
				continue
			}
			s.fault = cmp.Or(s.fault, binding.fault)
			if of.kind == "PolicySet" {
				s.fault = cmp.Or(s.fault, set.fault)
			}
			if r := (ref{placement: binding.placement, version: root.version, raw: root.strategy}); !slices.ContainsFunc(s.refs, func(x ref) bool { return x.placement == r.placement }) {
				s.refs = append(s.refs, r)
			}
		}
	}
	if len(s.refs) > 1 {
		s.fault = cmp.Or(s.fault, "it is bound to several placements")
	}
	for i := range s.refs {
		var fault string
		s.refs[i].strategy, fault = readStrategy(s.refs[i].raw)
		s.refs[i].patient = root.annotations[failAtOnce] != "true"
		s.fault = cmp.Or(s.fault, fault)
	}
	raw, _ := json.Marshal(root.strategy)
	text := fmt.Sprintf("%s %s %q %t", root.version, raw, s.fault, root.annotations[failAtOnce] == "true")
	for i := range s.refs {
		text += " " + s.refs[i].placement
	}
	if b.text[key] != text {
		b.text[key], b.now[key] = text, s
	}
	return &ownerState{spec: b.now[key], deleting: root.deleting, silent: root.silent, claims: root.claims, annotations: root.annotations}
}

// judgePasses judges what only policies in two passes have: no cluster is enforced without a first pass, and none while
// another one is still enforced with another version.
func (o *owner) judgePasses(m *member, id, version string, before *holderState) {
	j := o.judge
	s := o.states.now()
	if s == nil || len(s.spec.refs) != 1 || s.spec.refs[0].all {
		return
	}
	f := Finding{Kind: FirstPass, Grade: Broken, Owner: o.key, Cluster: m.cluster, version: version, holder: id}
	if before == nil && m.last != nil && m.last.version == version && !m.last.inform {
		return // it is back, and goes on where it was
	}
	if before == nil || before.version != version {
		f.Text = fmt.Sprintf("%s is enforced with version %s without a first pass", m.cluster, short(version))
		j.find(f)
		return
	}
	p := j.placing(s.spec.refs[0].placement)
	fleets, all := p.seen(j.now, j.lag)
	for _, cluster := range sortedKeys(o.members) {
		other := o.members[cluster]
		if other == m || slices.ContainsFunc(fleets, func(f *fleet) bool { _, is := f.groupOf[cluster]; return !is }) {
			continue
		}
		if !all || len(fleets) == 0 || !other.enforcedWithAnother(version, j.now) {
			continue
		}
		if f.Kind, f.Grade = TakenBack, Suspicious; other.enforcedWithAnother(version, j.now-j.lag) {
			f.Grade = Broken
		}
		f.Text = fmt.Sprintf("%s is enforced with version %s while %s is still enforced with another one", m.cluster, short(version), cluster)
		j.find(f)
		return
	}
}

// enforcedWithAnother says whether a cluster has been enforced with another version since a time.
func (m *member) enforcedWithAnother(version string, since int64) bool {
	for _, h := range m.holders {
		always := true
		h.since(since, func(s *holderState) bool {
			always = s != nil && !s.deleting && !s.inform && s.version != version
			return always
		})
		if always {
			return true
		}
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	compliant    = "Compliant"
	nonCompliant = "NonCompliant"
	pending      = "Pending"
	informOnly   = "InformOnly"

	configurationPolicy = "ConfigurationPolicy"
	operatorPolicy      = "OperatorPolicy"
	certificatePolicy   = "CertificatePolicy"
	iamPolicy           = "IamPolicy"
	constraint          = "K8sRequiredLabels"
	constraintTemplate  = "ConstraintTemplate"
)

// apiVersions are those of the kinds of templates.
var apiVersions = map[string]string{
	configurationPolicy: policyGroup + "/v1", operatorPolicy: policyGroup + "/v1beta1", certificatePolicy: policyGroup + "/v1", iamPolicy: policyGroup + "/v1",
	constraint: "constraints.gatekeeper.sh/v1beta1", constraintTemplate: "templates.gatekeeper.sh/v1",
}

// policyTemplate is one template of the root policy.
type policyTemplate struct {
	kind, name    string
	own           string // its remediationAction; Gatekeeper's kinds have none
	content, note string // which version edited its spec last, and which its annotations
	waitsFor      string // the name of another template, if any
	ignorePending bool
}

// informs says whether no policy makes it enforce: by its own action, or as the controllers of its kind take enforce and only inform.
func (t *policyTemplate) informs() bool {
	return t.own == informOnly || t.kind == certificatePolicy || t.kind == iamPolicy
}

// isSame says whether no pass changes what it does: it only informs, or has no action.
func (t *policyTemplate) isSame() bool { return t.informs() || t.kind == constraintTemplate }

// isQuiet says whether its controller says only what is new. Those of ConfigurationPolicies and OperatorPolicies say something of each content.
func (t *policyTemplate) isQuiet() bool {
	return t.kind != configurationPolicy && t.kind != operatorPolicy
}

// speaks says whether it says something of each content.
func (t policyTemplate) speaks() bool { return !t.isSame() && !t.isQuiet() && t.waitsFor == "" }

// An edit is what one version of a policy changes.
type edit string

const (
	editsSpec         edit = "the spec of a template"
	editsAnnotations  edit = "the annotations of a template"
	editsDependencies edit = "what a template waits for"
	editsIgnore       edit = "ignorePending"
	editsAction       edit = "a remediationAction"
	addsOne           edit = "one more"
	removesOne        edit = "one less"
	renamesOne        edit = "a name"
	reorders          edit = "the order"
	editsKind         edit = "a kind"
)

// drawTemplates draws the templates of a version, one to five, and what was edited last. Each version edits one thing alone.
func drawTemplates(seed uint64, version int) (all []policyTemplate, last edit) {
	rng := drawn(seed, "templates")
	for i := range 1 + rng.IntN(5) {
		all = append(all, drawTemplate(rng, fmt.Sprintf("t1-%d", i)))
	}
	for i := range all {
		all[i].wait(rng, all)
	}
	mend(all)
	for n := 2; n <= version; n++ {
		last = editTemplates(rng, &all, n)
		mend(all)
	}
	return all, last
}

// editTemplates changes one thing. Where that is not possible, it edits a spec.
func editTemplates(rng *rand.Rand, all *[]policyTemplate, n int) edit {
	at, version := rng.IntN(len(*all)), fmt.Sprintf("v%d", n)
	t := &(*all)[at]
	what := pick(rng, editsSpec, editsSpec, editsAnnotations, editsDependencies, editsIgnore, editsAction, addsOne, removesOne, renamesOne, reorders, editsKind)
	switch what {
	case editsAnnotations:
		t.note = version
	case editsDependencies:
		if before := t.waitsFor; before != "" {
			t.waitsFor = ""
		} else if t.waitsFor = (*all)[0].name; at == 0 {
			t.waitsFor, what = "", editsSpec
		}
	case editsIgnore:
		t.ignorePending = !t.ignorePending
	case editsAction:
		if t.own == "" {
			what = editsSpec
		} else if t.own == "inform" {
			t.own = "enforce"
		} else {
			t.own = "inform"
		}
	case addsOne:
		if len(*all) == 5 {
			what = editsSpec
		} else {
			added := drawTemplate(rng, "t"+version)
			*all = slices.Insert(*all, at, added)
		}
	case removesOne:
		if len(*all) == 1 {
			what = editsSpec
		} else {
			*all = slices.Delete(*all, at, at+1)
		}
	case renamesOne:
		before := t.name
		t.name = "t" + version
		for i := range *all {
			if x := &(*all)[i]; x.waitsFor == before {
				x.waitsFor = t.name
			}
		}
	case reorders:
		if at == 0 {
			what = editsSpec
		} else {
			(*all)[0], (*all)[at] = (*all)[at], (*all)[0]
		}
	case editsKind:
		next := drawTemplate(rng, t.name)
		t.kind, t.own = next.kind, next.own
	}
	if what == editsSpec {
		t.content = version
	}
	return what
}

// mend has no template wait for one that is gone or comes later, and one speak of each content: a cluster that says nothing in the first pass
// is waited for five minutes, which are longer than a trial.
func mend(all []policyTemplate) {
	for i := range all {
		if !slices.ContainsFunc(all[:i], func(t policyTemplate) bool { return t.name == all[i].waitsFor }) {
			all[i].waitsFor = ""
		}
	}
	if !slices.ContainsFunc(all, policyTemplate.speaks) {
		all[0].kind, all[0].own = configurationPolicy, "enforce"
	}
}

func drawTemplate(rng *rand.Rand, name string) policyTemplate {
	t := policyTemplate{
		name: name, content: "v1", ignorePending: rng.IntN(3) == 0, own: pick(rng, "inform", "enforce", "inform", informOnly),
		kind: pick(rng, configurationPolicy, configurationPolicy, configurationPolicy, certificatePolicy, iamPolicy, operatorPolicy, constraint, constraintTemplate),
	}
	if t.kind == constraint || t.kind == constraintTemplate {
		t.own = ""
	}
	return t
}

// wait draws whether a template waits for the first one.
func (t *policyTemplate) wait(rng *rand.Rand, all []policyTemplate) {
	if t.name != all[0].name && rng.IntN(4) == 0 {
		t.waitsFor = all[0].name
	}
}

// wants is what the template of that index waits for: its compliance. One that only informs never complies in a trial.
func wants(all []policyTemplate, t *policyTemplate) (of *policyTemplate, at int, compliance string) {
	at = slices.IndexFunc(all, func(x policyTemplate) bool { return x.name == t.waitsFor })
	if t.waitsFor == "" || at < 0 {
		return nil, -1, ""
	}
	if compliance = compliant; all[at].informs() {
		compliance = nonCompliant
	}
	return &all[at], at, compliance
}

func templatesOf(all []policyTemplate) (list []any) {
	for i := range all {
		t := &all[i]
		metadata := map[string]any{"name": t.name}
		if t.note != "" {
			metadata["annotations"] = map[string]any{"example.com/note": t.note}
		}
		spec := map[string]any{"content": t.content}
		if t.own != "" {
			spec["remediationAction"] = t.own
		}
		template := map[string]any{"objectDefinition": map[string]any{"apiVersion": apiVersions[t.kind], "kind": t.kind, "metadata": metadata, "spec": spec}}
		if t.ignorePending {
			template["ignorePending"] = true
		}
		if of, _, compliance := wants(all, t); of != nil {
			template["extraDependencies"] = []any{map[string]any{
				"apiVersion": apiVersions[of.kind], "kind": of.kind, "name": of.name, "compliance": compliance,
			}}
		}
		list = append(list, template)
	}
	return list
}

func templatesIn(u *unstructured.Unstructured) (all []policyTemplate) {
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "policy-templates")
	for _, element := range list {
		template := element.(map[string]any)
		text := func(path ...string) string {
			s, _, _ := unstructured.NestedString(template, append([]string{"objectDefinition"}, path...)...)
			return s
		}
		t := policyTemplate{
			kind: text("kind"), name: text("metadata", "name"), own: text("spec", "remediationAction"),
			content: text("spec", "content"), note: text("metadata", "annotations", "example.com/note"),
		}
		extra, _, _ := unstructured.NestedSlice(template, "extraDependencies")
		if len(extra) > 0 {
			t.waitsFor, _, _ = unstructured.NestedString(extra[0].(map[string]any), "name")
		}
		t.ignorePending, _, _ = unstructured.NestedBool(template, "ignorePending")
		all = append(all, t)
	}
	return all
}

// versionOfPolicy is the version of a policy, which each write of the root sets beside what it edits. Nothing that a cluster evaluates has it.
func versionOfPolicy(u *unstructured.Unstructured) string {
	version, _, _ := unstructured.NestedString(u.Object, "spec", "hubTemplateOptions", "serviceAccountName")
	return version
}

// isPatient says whether the policy of a trial waits for the deadline of a cluster that does not comply, in place of having it failed at once.
func isPatient(t *trial) bool { return drawn(t.seed, "patient").IntN(2) == 0 }

func partsOfPolicy(o object) int { return len(templatesIn(o.(*unstructured.Unstructured))) }

// badTemplate is the one that does not comply where a version does not work.
func badTemplate(version string, all []policyTemplate) int {
	bad := int(hashOf(version) % uint64(len(all)))
	for i := 0; all[bad].isSame() && i < len(all); i++ {
		bad = (bad + 1) % len(all)
	}
	return bad
}

// reportOfTemplate has one template say something, as OCM's agents do: details are merged template by template, and those of templates that
// are gone are left out; compliant stays as it was while nothing is known of one. Where a version does not work, all comply but one. With
// inform none complies, but for ConstraintTemplates. One with an unmet dependency is Pending, and after is that one. The report is nil
// where nothing is new.
func reportOfTemplate(o object, a answer, part int) (report map[string]any, after int) {
	u := o.(*unstructured.Unstructured)
	templates, details, action := templatesIn(u), detailsOf(u), actionOfPolicy(u)
	t := &templates[part]
	says := compliant
	if t.kind != constraintTemplate && strings.EqualFold(action, "inform") || t.informs() || a == doesNot && !t.isSame() && part == badTemplate(versionOfPolicy(u), templates) {
		says = nonCompliant
	}
	why := ""
	of, after, compliance := wants(templates, t)
	if of != nil {
		if d := details[of.name]; d.hasAnswered(of, u) && d.Compliant == compliance {
			after = -1
		} else if says, why = pending, "; Dependencies were not satisfied"; t.ignorePending {
			says = compliant
		}
	}
	d := details[t.name]
	if message := says + why + t.about(u); len(d.History) == 0 || !t.repeats(d.History[0].Message, message, why) {
		d.Compliant = says
		now := time.Now()
		d.History = slices.Insert(slices.Clone(d.History), 0, templateMessage{second(now), message, fmt.Sprintf("%s.%x", u.GetName(), now.UnixNano())})
		d.History = d.History[:min(3, len(d.History))]
		details[t.name] = d
	}
	status := statusOf(u, templates, details)
	if had, _ := u.Object["status"].(map[string]any); had != nil && reflect.DeepEqual(had["details"], status["details"]) {
		return nil, after
	}
	return map[string]any{"status": status}, after
}

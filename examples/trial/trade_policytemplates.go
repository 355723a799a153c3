package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	compliant    = "Compliant"
	nonCompliant = "NonCompliant"
	informOnly   = "InformOnly"
)

// policyTemplate is one template of the root policy.
type policyTemplate struct {
	kind, name, own string
	version         string // the one that edited it last
	waitsFor        string // the name of another template, if any
	ignorePending   bool
}

// drawTemplates draws the templates of a version: one to five. Each version edits one of those before it, at least, and may add one, remove
// one, rename one, or put them in another order.
func drawTemplates(seed uint64, version int) (all []policyTemplate) {
	rng := drawn(seed, "templates")
	for n := 1; n <= version; n++ {
		named := func(i int) string { return fmt.Sprintf("t%d-%d", n, i) }
		if n == 1 {
			for i := range 1 + rng.IntN(5) {
				all = append(all, drawTemplate(rng, named(i)))
			}
		}
		switch at := rng.IntN(len(all)); rng.IntN(6) {
		case 0:
			if len(all) < 5 {
				all = slices.Insert(all, at, drawTemplate(rng, named(9)))
			}
		case 1:
			if len(all) > 1 {
				all = slices.Delete(all, at, at+1)
			}
		case 2:
			all[at].name = named(8)
			all[at].version = fmt.Sprintf("v%d", n)
		case 3:
			all[0], all[at] = all[at], all[0]
		}
		all[rng.IntN(len(all))].version = fmt.Sprintf("v%d", n)
		for i := range all { // none waits for itself, or for one that is gone
			if all[i].version == fmt.Sprintf("v%d", n) {
				if all[i].waitsFor = ""; i > 0 && rng.IntN(4) == 0 {
					all[i].waitsFor, all[i].ignorePending = all[0].name, rng.IntN(2) == 0
				}
			}
			if !slices.ContainsFunc(all[:i], func(t policyTemplate) bool { return t.name == all[i].waitsFor }) && all[i].waitsFor != "" {
				all[i].waitsFor, all[i].version = "", fmt.Sprintf("v%d", n)
			}
		}
	}
	if !slices.ContainsFunc(all, func(t policyTemplate) bool { return t.own != informOnly }) {
		all[0].own = "enforce" // a version that enforces nothing reaches nobody
	}
	return all
}

func drawTemplate(rng *rand.Rand, name string) policyTemplate {
	return policyTemplate{
		name: name, version: "v1", own: pick(rng, "inform", "enforce", "inform", informOnly),
		kind: pick(rng, "ConfigurationPolicy", "ConfigurationPolicy", "CertificatePolicy", "OperatorPolicy"),
	}
}

func templatesOf(all []policyTemplate) (list []any) {
	for _, t := range all {
		template := map[string]any{"objectDefinition": map[string]any{
			"apiVersion": policyGroup + "/v1", "kind": t.kind, "metadata": map[string]any{"name": t.name},
			"spec": map[string]any{"remediationAction": t.own, "version": t.version},
		}}
		if t.waitsFor != "" {
			template["ignorePending"] = t.ignorePending
			template["extraDependencies"] = []any{map[string]any{
				"apiVersion": policyGroup + "/v1", "kind": all[0].kind, "name": t.waitsFor, "compliance": compliant,
			}}
		}
		list = append(list, template)
	}
	return list
}

// templatesIn reads the templates of a policy.
func templatesIn(u *unstructured.Unstructured) (all []policyTemplate) {
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "policy-templates")
	for _, element := range list {
		template := element.(map[string]any)
		text := func(path ...string) string {
			s, _, _ := unstructured.NestedString(template, append([]string{"objectDefinition"}, path...)...)
			return s
		}
		t := policyTemplate{kind: text("kind"), name: text("metadata", "name"), own: text("spec", "remediationAction"), version: text("spec", "version")}
		extra, _, _ := unstructured.NestedSlice(template, "extraDependencies")
		if len(extra) > 0 {
			t.waitsFor, _, _ = unstructured.NestedString(extra[0].(map[string]any), "name")
		}
		t.ignorePending, _, _ = unstructured.NestedBool(template, "ignorePending")
		all = append(all, t)
	}
	return all
}

// versionOfTemplates is the latest version that edited one.
func versionOfTemplates(all []policyTemplate) (version string) {
	for _, t := range all {
		if numberOf(t.version) > numberOf(version) {
			version = t.version
		}
	}
	return version
}

// about ends a message, and names the content that the cluster evaluated: the generation of the policy that it came with, or where no pass
// changes it, the content alone.
func (t policyTemplate) about(u *unstructured.Unstructured) string {
	if t.own == informOnly {
		return fmt.Sprintf("; %s %s, inform", t.kind, t.version)
	}
	return fmt.Sprintf("; %s %s, %s of generation %d", t.kind, t.version, strings.ToLower(actionOfPolicy(u)), u.GetGeneration())
}

// templateDetails is what a policy's status says of a template.
type templateDetails struct {
	Compliant    string            `json:"compliant,omitempty"`
	TemplateMeta map[string]string `json:"templateMeta"`
	History      []templateMessage `json:"history,omitempty"`
}

type templateMessage struct {
	LastTimestamp metav1.Time `json:"lastTimestamp"`
	Message       string      `json:"message"`
	EventName     string      `json:"eventName"`
}

// detailsOf reads the details of a policy's status, by the name of the template.
func detailsOf(u *unstructured.Unstructured) map[string]templateDetails {
	var st struct {
		Details []templateDetails `json:"details"`
	}
	if status, ok := u.Object["status"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, &st); err != nil {
			panic(err)
		}
	}
	all := map[string]templateDetails{}
	for _, d := range st.Details {
		all[d.TemplateMeta["name"]] = d
	}
	return all
}

// isPatient says whether the policy of a trial waits for the deadline of a cluster that does not comply, in place of having it failed at once.
func isPatient(t *trial) bool { return drawn(t.seed, "patient").IntN(2) == 0 }

func partsOfPolicy(o object) int { return len(templatesIn(o.(*unstructured.Unstructured))) }

// reportOfTemplate has one template say something, as OCM's agents do: details are merged template by template, and those of templates that
// are gone are left out; compliant stays as it was while nothing is known of one. Where a version does not work, all comply but one. With
// inform none complies. A template that no pass changes says nothing again.
func reportOfTemplate(o object, a answer, part, count int) map[string]any {
	u := o.(*unstructured.Unstructured)
	templates, details, action := templatesIn(u), detailsOf(u), actionOfPolicy(u)
	t := templates[part]
	says := compliant
	bad := int(hashOf(versionOfTemplates(templates)) % uint64(len(templates)))
	for templates[bad].own == informOnly {
		bad = (bad + 1) % len(templates)
	}
	if strings.EqualFold(action, "inform") || t.own == informOnly || a == doesNot && part == bad {
		says = nonCompliant
	}
	d := details[t.name]
	message := says + t.about(u)
	if len(d.History) == 0 || t.own != informOnly || d.History[0].Message != message { // all else has changed its action, at least
		d.Compliant, d.TemplateMeta = says, map[string]string{"name": t.name}
		now := time.Now()
		d.History = slices.Insert(slices.Clone(d.History), 0, templateMessage{second(now), message, fmt.Sprintf("%s.%x", u.GetName(), now.UnixNano())})
		d.History = d.History[:min(3, len(d.History))]
		details[t.name] = d
	}
	compliance, _, _ := unstructured.NestedString(u.Object, "status", "compliant")
	list, complies := make([]any, len(templates)), true
	for i, t := range templates {
		d := details[t.name]
		d.TemplateMeta = map[string]string{"name": t.name}
		if complies = complies && d.Compliant == compliant; d.Compliant == nonCompliant {
			compliance = nonCompliant
		}
		list[i], _ = plain(d)
	}
	if complies {
		compliance = compliant
	}
	status := map[string]any{"details": list}
	if compliance != "" {
		status["compliant"] = compliance
	}
	return map[string]any{"status": status}
}

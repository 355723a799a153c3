// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// wholeName is the name of the one part of a policy without templates.
const wholeName = "*"

// template has the parts of a template on which its answers depend.
type template struct {
	name string
	// content is a digest of what the cluster evaluates: the object without its metadata, with its action on the cluster.
	content string
	// effect is the digest of content without what makes no difference on the cluster; see [normalize].
	effect string
	// rest is a digest of what may lead to a message, too: annotations, dependencies and ignorePending.
	rest string
	// evaluates says that the template's controller reports on each content. Other controllers report only what is new.
	evaluates bool
	// informs says that the template only informs although the policy may enforce: by its kind, by its own action, or as InformOnly.
	informs bool
}

// templatesOf reads the templates of a replicated policy. If there are none, or if the caller left them out, one part stands for
// the whole policy.
func templatesOf(policy *policyv1.Policy) []template {
	spec := &policy.Spec
	if len(spec.PolicyTemplates) == 0 {
		return []template{{name: wholeName, evaluates: true}}
	}
	all := make([]template, len(spec.PolicyTemplates))
	dependencies := ""
	if len(spec.Dependencies) > 0 {
		dependencies = text(spec.Dependencies)
	}
	for i := range all {
		all[i] = templateOf(&spec.PolicyTemplates[i], i, spec.RemediationAction, dependencies)
	}
	return all
}

func templateOf(policyTemplate *policyv1.PolicyTemplate, position int, action policyv1.RemediationAction, dependencies string) template {
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(policyTemplate.ObjectDefinition.Raw))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil || object == nil {
		content := digest(string(policyTemplate.ObjectDefinition.Raw))
		return template{name: unnamed(position), content: content, effect: content}
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	kind, _ := object["kind"].(string)
	if _, isList := object["items"]; kind == "" || isList {
		name = unnamed(position)
	}
	apiVersion, _ := object["apiVersion"].(string)
	group, _, _ := strings.Cut(apiVersion, "/")
	of := schema.GroupKind{Group: group, Kind: kind}
	own := act(object, of, action)
	delete(object, "metadata")
	made := template{name: name, content: digest(text(object)), evaluates: isEvaluating(of)}
	if made.effect = made.content; normalize(object, of) {
		made.effect = digest(text(object))
	}
	made.informs = own == policyv1.Inform && !strings.EqualFold(string(action), string(policyv1.Inform))
	if object["spec"] == nil && !isInforming(of) { // the object's controller may take the action from the policy
		dependencies += string(action)
	}
	if annotations := metadata["annotations"]; annotations != nil || dependencies != "" || len(policyTemplate.ExtraDependencies) > 0 || policyTemplate.IgnorePending {
		made.rest = digest(text(annotations), dependencies, text(policyTemplate.ExtraDependencies), strconv.FormatBool(policyTemplate.IgnorePending))
	}
	return made
}

// unnamed is the name that OCM's template sync and status sync give a template that they cannot decode as an object.
func unnamed(position int) string { return "template-" + strconv.Itoa(position) }

const policyGroup = "policy.open-cluster-management.io"

// isEvaluating says whether a kind's controller reports on each content, at least once for each metadata.generation.
func isEvaluating(of schema.GroupKind) bool {
	return of.Group == policyGroup && (of.Kind == "ConfigurationPolicy" || of.Kind == "OperatorPolicy")
}

// isInforming says whether a kind's controller takes the action enforce and only informs.
func isInforming(of schema.GroupKind) bool {
	return of.Group == policyGroup && (of.Kind == "CertificatePolicy" || of.Kind == "IamPolicy")
}

// act sets the action of a template's object as the template sync does: that of the policy, where it has one. A constraint has
// an enforcementAction, a ConstraintTemplate no action, and InformOnly never enforces. A kind that only informs has the same action
// whatever the policy's, since its controller evaluates the same. act gives the object's resulting action.
func act(object map[string]any, of schema.GroupKind, action policyv1.RemediationAction) policyv1.RemediationAction {
	spec, _ := object["spec"].(map[string]any)
	known, _ := action.Known()
	if isInforming(of) {
		delete(spec, "remediationAction")
		return policyv1.Inform
	}
	if spec == nil || of.Group == "templates.gatekeeper.sh" {
		return ""
	}
	if of.Group == "constraints.gatekeeper.sh" {
		switch known {
		case policyv1.Inform:
			spec["enforcementAction"] = "warn"
		case policyv1.Enforce:
			spec["enforcementAction"] = "deny"
		default:
			if own, _ := spec["enforcementAction"].(string); own == "warn" || own == "dryrun" {
				return policyv1.Inform
			}
		}
		return known
	}
	text, _ := spec["remediationAction"].(string)
	switch own := policyv1.RemediationAction(strings.ToLower(text)); {
	case own == "informonly":
		known = policyv1.Inform
	case known == "":
		known = own
	}
	spec["remediationAction"] = string(known)
	if known == "" && isEvaluating(of) {
		return policyv1.Inform // by the default of the CRD
	}
	return known
}

// notes has what the annotation of a replicated policy says about each template and its last message before the write.
type notes struct {
	stamped bool // false without a version
	known   bool // false where the templates are not in the annotation
	none    bool // no message has arrived since the write, as far as is known without the templates
	of      map[string]note
}

// note has what the annotation says about one template.
type note struct {
	content, rest, message string
	owed                   *due // an earlier answer that was still due
	// missed says that there was no sign that the cluster had got content. Had is what it had before that, if it had answered
	// it; see [hadOf]. Where content was set by hand, had begins with [setBack].
	missed bool
	had    string
	// effect and hadEffect are those of content, and of the content in had; see [template]. Where a process of an earlier version
	// wrote the note, they are these contents.
	effect, hadEffect string
}

// lastHad gives the content that the cluster is known to have answered last, with its rest, and its effect, before the write of this
// note, which wrote the template. It is [noContent] where the cluster had got a later content that it must answer, and empty where
// nothing is known.
func (n note) lastHad(written *template) (had, effect string) {
	switch {
	case n.had == setBack:
		return hadOf(written.content, written.rest), written.effect
	case n.missed:
		return strings.TrimPrefix(n.had, setBack), n.hadEffect
	case n.owed != nil && !n.owed.known:
		return "", ""
	case n.isUnanswered() && n.owed.sure:
		return noContent, noContent
	case n.isUnanswered(): // with other annotations or dependencies, or with the same content in other words
		return hadOf(n.content, noContent), n.effect
	default:
		return hadOf(n.content, n.rest), n.effect
	}
}

// hadOf joins a content with the rest that came with it.
func hadOf(content, rest string) string { return strings.TrimSuffix(content+"/"+rest, "/") }

// contentOf gives the content of a text that [hadOf] made.
func contentOf(had string) string {
	content, _, _ := strings.Cut(strings.TrimPrefix(had, setBack), "/")
	return content
}

// isUnanswered says whether nothing was said that may be the answer that was still due: what is new counts at once, or late.
func (n note) isUnanswered() bool { return n.owed != nil && n.message == n.owed.before }

// isOf says whether the content of the note is that of the template on the cluster. A note of an earlier version has no effects.
func (n note) isOf(template *template) bool {
	return n.content == template.content || n.effect == template.effect
}

// hadIsOf says the same of the content that the cluster had before.
func (n note) hadIsOf(template *template) bool {
	return contentOf(n.had) == template.content || n.hadEffect == template.effect
}

// noContent stands for a content that the cluster had got and not answered, or for what came with it. It is the digest of neither.
const noContent = "-"

// due gives the answer that a template owes, nil if it owes none.
func (n notes) due(template *template, message message, applied time.Time) *due {
	switch before, is := n.of[keyOf(template.name)]; {
	case !n.stamped:
		return nil
	case n.none:
		return &due{since: applied, before: message.id, known: true, sure: true}
	case !n.known:
		return &due{since: applied}
	case !is:
		return &due{since: applied, known: true}
	case template.name != wholeName && before.content == template.content && before.rest == template.rest:
		return before.owed.at(applied)
	case before.missed && before.had == hadOf(template.content, template.rest): // it has it again, or still
		return nil
	case before.missed && (before.had == setBack || before.had == setBack+hadOf(template.content, template.rest)):
		return &due{since: applied, before: before.message, known: true} // the edit may arrive after all
	default:
		isNew := !before.isOf(template) && !(before.missed && before.hadIsOf(template))
		reports := template.name == wholeName || template.evaluates && isNew && !message.unrepeated
		mayHaveIt := before.missed && before.had == "" // the content may be the one that the message is about
		owes := before.isOf(template) && before.isUnanswered() && before.owed.sure
		return &due{since: applied, before: before.message, known: true, sure: reports && !mayHaveIt || owes, missed: reports && mayHaveIt}
	}
}

// isUntimed says whether neither the messages before the write are known nor its time.
func (n notes) isUntimed(applied time.Time) bool {
	return n.stamped && !n.known && !n.none && applied.IsZero()
}

// at gives what is due with the time of the write that is read, where the time of its own write is unknown.
func (d *due) at(applied time.Time) *due {
	if d == nil || !d.since.IsZero() {
		return d
	}
	timed := *d
	timed.since = applied
	return &timed
}

// lacks says whether a template had a message at the write, and has no entry in the status any more.
func (n notes) lacks(st *policyv1.PolicyStatus) bool {
	there := make(map[string]bool, len(st.Details)+1)
	there[wholeName] = true // has no entry
	for i := range st.Details {
		there[keyOf(st.Details[i].TemplateMeta.Name)] = true
	}
	for key, before := range n.of {
		if before.message != "" && !there[key] {
			return true
		}
	}
	return false
}

// notesOf reads the annotations of a policy that has this status. An empty annotation means that there was nothing to note.
func notesOf(stamped bool, annotations map[string]string, st *policyv1.PolicyStatus) notes {
	text, is := annotations[annotationReported]
	n := notes{stamped: stamped, known: is, of: make(map[string]note)}
	if text != "" && !strings.Contains(text, ".") { // from a version of this library that noted no templates
		return notes{stamped: stamped, none: text == mark(st)}
	}
	for part := range strings.FieldsSeq(text) {
		f := strings.Split(part, ".")
		if key, is := strings.CutPrefix(f[0], effects); is && len(f) == 4 { // it comes after the entry of that key
			before := n.of[key]
			before.effect, before.hadEffect = f[1], f[2]
			n.of[key] = before
			continue
		}
		missed, had := false, ""
		if len(f) == 5 || len(f) == 8 {
			missed, had, f = true, f[len(f)-1], f[:len(f)-1]
		}
		if len(f) == 4 || len(f) == 7 {
			n.of[f[0]] = note{
				content: f[1], rest: f[2], message: f[3], owed: owedOf(f[4:]), missed: missed, had: had, effect: f[1], hadEffect: contentOf(had),
			}
		}
	}
	return n
}

func owedOf(f []string) *due {
	if len(f) != 3 {
		return nil
	}
	due := &due{before: f[0], known: f[0] != unknown, sure: f[2] == "s", missed: f[2] == "m"}
	if nanos, err := strconv.ParseInt(f[1], 36, 64); err == nil {
		due.since = time.Unix(0, nanos).UTC()
	}
	return due
}

const unknown = "?"

// write adds the note of a template of that name to the text of the annotation.
func (n note) write(b *strings.Builder, name string) {
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	fields := []string{keyOf(name), n.content, n.rest, n.message}
	if n.owed != nil {
		fields = append(fields, n.owed.fields()...)
	}
	if n.missed {
		fields = append(fields, n.had)
	}
	b.WriteString(strings.Join(fields, "."))
	if hadEffect := contentOf(n.had); n.effect != n.content || n.missed && n.hadEffect != hadEffect {
		b.WriteString(" " + effects + keyOf(name) + "." + n.effect + "." + n.hadEffect + ".")
	}
}

// effects begins the key of the second entry of a template, with the effects of its contents where they differ from these. Processes of
// earlier versions look up the keys of templates, which have no such letter, and so skip it.
const effects = "~"

// fields is what [owedOf] reads.
func (d *due) fields() []string {
	before, since, reports := d.before, "", ""
	if !d.known {
		before = unknown
	}
	if !d.since.IsZero() {
		since = strconv.FormatInt(d.since.UnixNano(), 36)
	}
	switch {
	case d.sure:
		reports = "s"
	case d.missed:
		reports = "m"
	}
	return []string{before, since, reports}
}

func keyOf(name string) string {
	if name == wholeName {
		return name
	}
	return digest(name)
}

// digest is a short text that tells these texts from others.
func digest(texts ...string) string {
	sum := fnv.New64a()
	for _, text := range texts {
		sum.Write([]byte(text))
		sum.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// text is the JSON of a value. Keys are in order, and numbers as they were written.
func text(value any) string {
	made, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value) // it came from JSON
	}
	return string(made)
}

// mark is a digest of a status, empty if there is no report. Earlier versions of this library noted it.
func mark(st *policyv1.PolicyStatus) string {
	if st.ComplianceState == "" {
		return ""
	}
	sum := fnv.New64a()
	note := func(text string) { sum.Write([]byte(text)); sum.Write([]byte{0}) }
	note(string(st.ComplianceState))
	for i := range st.Details {
		note(st.Details[i].TemplateMeta.Name)
		if history := st.Details[i].History; len(history) > 0 {
			note(history[0].EventName)
			note(history[0].LastTimestamp.UTC().Format(time.RFC3339))
			note(history[0].Message)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

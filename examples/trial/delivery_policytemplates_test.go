// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The policies of trials have one to five templates of several kinds. Each version edits one thing alone.
func TestVersionsOfPoliciesEditOneThing(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(300) {
		var before []policyTemplate
		for n := 1; n <= 4; n++ {
			all, what := drawTemplates(seed, n)
			if len(all) < 1 || len(all) > 5 || n > 1 && reflect.DeepEqual(all, before) && what != editsKind && what != editsSpec {
				t.Fatalf("seed %d, version %d, %s: %+v", seed, n, what, all)
			}
			seen[fmt.Sprint(len(all))], seen[string(what)] = true, true
			names := map[string]bool{}
			enforces := false
			for _, x := range all {
				of, _, compliance := wants(all, &x)
				if names[x.name] || x.waitsFor != "" && !names[x.waitsFor] || (of != nil) != (x.waitsFor != "") {
					t.Fatalf("seed %d, version %d: %+v", seed, n, all)
				}
				names[x.name], enforces = true, enforces || x.speaks()
				seen[x.kind], seen[x.own], seen[fmt.Sprintf("waits %t %t %s", x.waitsFor != "", x.ignorePending, compliance)] = true, true, true
			}
			if !enforces {
				t.Fatalf("seed %d, version %d says nothing", seed, n)
			}
			before = all
		}
	}
	for _, want := range []string{
		"1", "2", "3", "4", "5", configurationPolicy, certificatePolicy, iamPolicy, operatorPolicy, constraint, constraintTemplate, "inform", "enforce", informOnly, "",
		"waits true true Compliant", "waits true false Compliant", "waits true false NonCompliant",
		string(editsSpec), string(editsAnnotations), string(editsDependencies), string(editsIgnore), string(editsAction), string(addsOne), string(removesOne),
		string(renamesOne), string(reorders), string(editsKind),
	} {
		if !seen[want] {
			t.Errorf("never drawn: %s", want)
		}
	}
}

// policyUnderTest is a replica with templates, of which agents report.
type policyUnderTest struct {
	*unstructured.Unstructured
	t         *testing.T
	templates []policyTemplate
}

func newPolicyUnderTest(t *testing.T, templates ...policyTemplate) *policyUnderTest {
	return &policyUnderTest{policyObject("c1", "Policy", "t1.web"), t, templates}
}

func (p *policyUnderTest) write(action string, generation int64) {
	list, err := plain(templatesOf(p.templates))
	if err != nil {
		p.t.Fatal(err)
	}
	p.Object["spec"] = map[string]any{"remediationAction": action, "policy-templates": list, "hubTemplateOptions": map[string]any{"serviceAccountName": "v2"}}
	p.SetGeneration(generation)
}

// says has templates report, and gives those that have to speak again, each with the one before it.
func (p *policyUnderTest) says(a answer, parts ...int) (again string) {
	p.t.Helper()
	for _, part := range parts {
		report, after := reportOfTemplate(p.Unstructured, a, part)
		if after >= 0 {
			again += fmt.Sprintf("%d after %d ", part, after)
		}
		if report == nil {
			again += fmt.Sprintf("%d says nothing ", part)
			continue
		}
		made, err := plain(report)
		if err != nil {
			p.t.Fatal(err)
		}
		p.Object["status"] = made.(map[string]any)["status"]
	}
	return strings.TrimSpace(again)
}

func (p *policyUnderTest) check(when string, want answer, compliance string) {
	p.t.Helper()
	got, _, _ := unstructured.NestedString(p.Object, "status", "compliant")
	if h := readPolicy([]object{p.Unstructured}); h.answer != want || h.version != "v2" || got != compliance {
		p.t.Errorf("%s: %+v, and the status says %q, want %d and %q", when, h, got, want, compliance)
	}
}

// A policy has answered once each of its templates has, since the last write. It fails by one that enforces, and not by one that only informs.
func TestAPolicyAnswersTemplateByTemplate(t *testing.T) {
	p := newPolicyUnderTest(t, policyTemplate{kind: configurationPolicy, name: "a", own: "inform", content: "v1"},
		policyTemplate{kind: certificatePolicy, name: "b", own: informOnly, content: "v1"}, policyTemplate{kind: configurationPolicy, name: "c", own: "enforce", content: "v2"})
	p.write("inform", 1)
	p.check("nothing said", awaited, "")
	p.says(doesNot, 0, 2)
	p.check("one has not reported on this version", awaited, nonCompliant)
	p.says(doesNot, 1)
	p.check("with inform", doesNot, nonCompliant)
	p.write("enforce", 2)
	p.check("what was said is about inform", awaited, nonCompliant)
	p.says(does, 2, 0)
	p.check("the one that only informs says nothing new", does, nonCompliant)
	p.write("enforce", 3)
	p.says(doesNot, 0, 1, 2)
	p.check("one that enforces does not comply", doesNot, nonCompliant)
	p.templates = p.templates[:1]
	p.write("enforce", 4)
	p.says(does, 0)
	p.check("the details of those that are gone go", does, compliant)
}

// A person edits one template by hand, and the edit is set back. The cluster answers for that template. What it said of the others still counts.
func TestATemplateThatWasNotEditedNeedNotAnswerAnew(t *testing.T) {
	p := newPolicyUnderTest(t, policyTemplate{kind: configurationPolicy, name: "a", own: "enforce", content: "v1"},
		policyTemplate{kind: configurationPolicy, name: "b", own: "enforce", content: "v1"})
	var since []object
	next := func(generation int64, parts ...int) observed {
		p.write("enforce", generation)
		p.says(does, parts...)
		since = append(since, p.DeepCopy())
		return readPolicy(since)
	}
	if h := next(1, 0, 1); h.answer != does {
		t.Errorf("before the edit: %+v", h)
	}
	p.templates[1].waitsFor = "a"
	next(2, 1)
	p.templates[1].waitsFor = ""
	if h := next(3); h.answer != awaited {
		t.Errorf("set back, and nothing said: %+v", h)
	}
	if h := next(3, 1); h.answer != does {
		t.Errorf("the one that was edited answers: %+v", h)
	}
	if h := readPolicy(since[3:]); h.answer != awaited {
		t.Errorf("without the states before: %+v", h)
	}
	p.write("inform", 4)
	since = append(since, p.DeepCopy())
	if h := next(5); h.answer != does {
		t.Errorf("it never got what was written with inform: %+v", h)
	}
	p.templates[0].content = "v2"
	if h := next(6); h.answer != awaited {
		t.Errorf("one has another content: %+v", h)
	}
}

// One with an unmet dependency is Pending, and speaks again after that one. ignorePending has it comply meanwhile. Which waits for what only
// informs waits for NonCompliant.
func TestATemplateWaitsForAnother(t *testing.T) {
	for _, ignores := range []bool{false, true} {
		p := newPolicyUnderTest(t, policyTemplate{kind: configurationPolicy, name: "a", own: "enforce", content: "v1"},
			policyTemplate{kind: configurationPolicy, name: "b", own: "enforce", content: "v1", waitsFor: "a", ignorePending: ignores})
		p.write("inform", 1)
		if again := p.says(doesNot, 1); again != "1 after 0" {
			t.Errorf("speaks again: %q", again)
		}
		p.says(doesNot, 0)
		p.check("with inform", doesNot, nonCompliant)
		p.write("enforce", 2)
		if again := p.says(does, 1); again != "1 after 0 1 says nothing" {
			t.Errorf("speaks again: %q", again)
		}
		p.says(does, 0)
		p.check("the one that waits has not reported on this version", awaited, map[bool]string{true: compliant, false: pending}[ignores])
		if again := p.says(does, 1); again != "" {
			t.Errorf("speaks again: %q", again)
		}
		p.check("both answered", does, compliant)
	}
	p := newPolicyUnderTest(t, policyTemplate{kind: certificatePolicy, name: "a", own: informOnly, content: "v1"},
		policyTemplate{kind: configurationPolicy, name: "b", own: "enforce", content: "v1", waitsFor: "a"})
	p.write("enforce", 1)
	p.says(does, 0)
	if again := p.says(does, 1); again != "" {
		t.Errorf("speaks again: %q", again)
	}
	p.check("what it waits for is NonCompliant", does, nonCompliant)
}

// ConfigurationPolicies and OperatorPolicies say something of each content. A ConstraintTemplate, and what only informs, is what it is,
// whatever the action.
func TestSomeKindsSayOnlyWhatIsNew(t *testing.T) {
	for kind, quiet := range map[string]bool{configurationPolicy: false, operatorPolicy: false, constraint: true} {
		p := newPolicyUnderTest(t, policyTemplate{kind: kind, name: "a", content: "v1"})
		p.write("inform", 1)
		p.says(doesNot, 0)
		p.write("enforce", 2)
		if again := p.says(doesNot, 0); (again != "") != quiet {
			t.Errorf("%s: %q", kind, again)
		}
		p.check(kind, map[bool]answer{true: awaited, false: doesNot}[quiet], nonCompliant)
		p.says(does, 0)
		p.check(kind, does, compliant)
	}
	for _, test := range []struct{ kind, compliance string }{{constraintTemplate, compliant}, {certificatePolicy, nonCompliant}, {iamPolicy, nonCompliant}} {
		p := newPolicyUnderTest(t, policyTemplate{kind: test.kind, name: "a", own: "enforce", content: "v1"})
		p.write("inform", 1)
		p.says(doesNot, 0)
		p.check(test.kind, map[string]answer{compliant: does, nonCompliant: doesNot}[test.compliance], test.compliance)
		p.write("enforce", 2)
		p.check(test.kind, does, test.compliance)
	}
}

// In a patient trial a cluster that does not comply has not failed; in others it has.
func TestAPatientTrialWaitsForTheDeadline(t *testing.T) {
	modes := map[answer]bool{}
	u := policyObject("c1", "Policy", "t1.web")
	u.Object["spec"] = map[string]any{"remediationAction": "enforce", "policy-templates": templatesOf([]policyTemplate{{kind: configurationPolicy, name: "a", content: "v1"}})}
	report, _ := reportOfTemplate(u, doesNot, 0)
	u.Object["status"] = report["status"]
	for seed := range uint64(20) {
		j := &checker{history: newHistory(nil, nil, nil), delivery: OfPolicies(), trial: &trial{world: &world{seed: seed}}}
		modes[j.read(u).answer] = true
	}
	if !modes[awaited] || !modes[doesNot] || len(modes) != 2 {
		t.Errorf("got %v", modes)
	}
}

// The templates answer one after the other, in some order.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	got := spread([]play{{after: time.Second, answer: does}, {dies: true}}, 3, rng)
	parts := map[int]bool{}
	for _, p := range got[:3] {
		parts[p.part] = p.answer == does
	}
	if len(got) != 4 || len(parts) != 3 || !got[3].dies || got[0].after != time.Second {
		t.Errorf("got %+v", got)
	}
}

package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The policies of trials have one to five templates of several kinds. Each version edits one, and some add, remove, rename or reorder others.
func TestVersionsOfPoliciesEditTheirTemplates(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		var before []policyTemplate
		for n := 1; n <= 4; n++ {
			all := drawTemplates(seed, n)
			if len(all) < 1 || len(all) > 5 || versionOfTemplates(all) != fmt.Sprintf("v%d", n) {
				t.Fatalf("seed %d, version %d: %+v", seed, n, all)
			}
			seen[fmt.Sprint(len(all))] = true
			names := map[string]bool{}
			enforces := false
			for i, x := range all {
				if names[x.name] || x.waitsFor != "" && !names[x.waitsFor] {
					t.Fatalf("seed %d, version %d: %+v", seed, n, all)
				}
				names[x.name], enforces = true, enforces || x.own != informOnly
				seen[x.kind], seen[x.own], seen[fmt.Sprint("waits ", x.waitsFor != "", x.ignorePending)] = true, true, true
				was := slices.IndexFunc(before, func(b policyTemplate) bool { return b.name == x.name })
				seen[fmt.Sprint("new ", n > 1 && was < 0)], seen[fmt.Sprint("moved ", was >= 0 && was != i)] = true, true
			}
			for _, b := range before {
				seen[fmt.Sprint("gone ", !names[b.name])] = true
			}
			if !enforces {
				t.Fatalf("seed %d, version %d enforces nothing", seed, n)
			}
			before = all
		}
	}
	for _, want := range []string{
		"1", "2", "3", "4", "5", "ConfigurationPolicy", "CertificatePolicy", "OperatorPolicy", "inform", "enforce", informOnly,
		"waits true true", "waits true false", "new true", "moved true", "gone true",
	} {
		if !seen[want] {
			t.Errorf("never drawn: %s", want)
		}
	}
}

// A policy has answered once each of its templates has, since the last write. It fails by one that enforces, and not by one that only informs.
func TestAPolicyAnswersTemplateByTemplate(t *testing.T) {
	all := []policyTemplate{
		{kind: "ConfigurationPolicy", name: "a", own: "inform", version: "v1"}, {kind: "CertificatePolicy", name: "b", own: informOnly, version: "v1"},
		{kind: "OperatorPolicy", name: "c", own: "enforce", version: "v2"},
	}
	u := policyObject("c1", "Policy", "t1.web")
	write := func(action string, generation int64) {
		list, err := plain(templatesOf(all))
		if err != nil {
			t.Fatal(err)
		}
		u.Object["spec"] = map[string]any{"remediationAction": action, "policy-templates": list}
		u.SetGeneration(generation)
	}
	count := 0
	says := func(a answer, parts ...int) {
		for _, part := range parts {
			count++
			report, err := plain(reportOfTemplate(u, a, part, count))
			if err != nil {
				t.Fatal(err)
			}
			u.Object["status"] = report.(map[string]any)["status"]
		}
	}
	check := func(when string, want answer, compliance string) {
		t.Helper()
		got, _, _ := unstructured.NestedString(u.Object, "status", "compliant")
		if h := readPolicy(u); h.answer != want || h.version != "v2" || got != compliance {
			t.Errorf("%s: %+v, and the status says %q, want %d and %q", when, h, got, want, compliance)
		}
	}
	write("inform", 1)
	check("nothing said", awaited, "")
	says(doesNot, 0, 2)
	check("one has not answered", awaited, nonCompliant)
	says(doesNot, 1)
	check("with inform", doesNot, nonCompliant)
	write("enforce", 2)
	check("what was said is about inform", awaited, nonCompliant)
	says(does, 2, 0)
	check("the one that only informs says nothing new", does, nonCompliant)
	write("enforce", 3)
	says(doesNot, 0, 1, 2)
	check("one that enforces does not comply", doesNot, nonCompliant)
	all = all[:1]
	all[0].version = "v2"
	write("enforce", 4)
	says(does, 0)
	check("the details of those that are gone go", does, compliant)
}

// In a patient trial a cluster that does not comply has not failed; in others it has.
func TestAPatientTrialWaitsForTheDeadline(t *testing.T) {
	modes := map[answer]bool{}
	u := policyObject("c1", "Policy", "t1.web")
	u.Object["spec"] = map[string]any{"remediationAction": "enforce", "policy-templates": templatesOf([]policyTemplate{{kind: "ConfigurationPolicy", name: "a", version: "v1"}})}
	u.Object["status"], _ = plain(reportOfTemplate(u, doesNot, 0, 1)["status"])
	for seed := range uint64(20) {
		j := &jury{history: newHistory(nil, nil, nil), trade: OfPolicies(), trial: &trial{world: &world{seed: seed}}}
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

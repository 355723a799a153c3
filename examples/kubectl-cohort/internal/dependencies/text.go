// SPDX-License-Identifier: Apache-2.0

package dependencies

import (
	"fmt"
	"io"
	"strings"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// writeText writes the clusters, with a line before each if there are several.
func writeText(w io.Writer, clusters []cluster) error {
	var b strings.Builder
	for i, c := range clusters {
		if i > 0 {
			b.WriteString("\n")
		}
		if len(clusters) > 1 {
			fmt.Fprintf(&b, "Cluster %s\n", c.namespace)
		}
		writePolicies(&b, c.results)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writePolicies writes a block for each policy: a line for each template, one for its message, and one for each unmet
// dependency that the message does not describe.
func writePolicies(b *strings.Builder, results []result) {
	for _, r := range results {
		fmt.Fprintf(b, "Policy %s: %s\n", r.Policy, orUnknown(r.compliance))
		if len(r.Templates) == 0 {
			b.WriteString("  has no templates\n")
		}
		for i, template := range r.Templates {
			writeTemplate(b, i, template, r.actions[i])
		}
		for _, action := range r.actions[len(r.Templates):] {
			fmt.Fprintf(b, "  %s\n      next: %s\n      %s\n", action.Object, next(action.Verb), action.Message)
		}
	}
}

func writeTemplate(b *strings.Builder, i int, template dependency.TemplateEvaluation, action dependency.Action) {
	fmt.Fprintf(b, "  [%d] %s: %s\n      next: %s\n", i, template.Object, template.State, next(action.Verb))
	message := action.Message
	if message == "" {
		message = template.Message()
	}
	if message != "" {
		fmt.Fprintf(b, "      %s\n", message)
	}
	for _, unmet := range template.Unmet {
		if !strings.Contains(message, unmet.String()) {
			fmt.Fprintf(b, "      - %s\n", unmet)
		}
	}
}

// next says what comes next in a word, or that nothing does.
func next(verb dependency.Verb) string {
	if verb == dependency.VerbLeave {
		return "nothing"
	}
	return string(verb)
}

func orUnknown(c policyv1.ComplianceState) string {
	if c == "" {
		return "unknown"
	}
	return string(c)
}

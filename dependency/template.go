package dependency

import (
	"strings"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// informOnly is the action of a template that informs, whatever its policy says.
const informOnly = "informonly"

// isTemplateAction says whether the text spells an action that a template may have.
func isTemplateAction(text string) bool {
	_, known := policyv1.RemediationAction(text).Known()
	return known || strings.EqualFold(text, informOnly)
}

package policyv1

import "strings"

// Known gives the constant that the action spells, in any letter case, and true. It gives empty and true for the empty
// action, and false for any other text.
func (a RemediationAction) Known() (RemediationAction, bool) {
	for _, known := range []RemediationAction{"", Inform, Enforce} {
		if strings.EqualFold(string(a), string(known)) {
			return known, true
		}
	}
	return "", false
}

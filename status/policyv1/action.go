package policyv1

import "strings"

// Known gives the constant that the action spells in any letter case, empty for the empty one, and says whether it
// is one of them.
func (a RemediationAction) Known() (RemediationAction, bool) {
	for _, known := range []RemediationAction{"", Inform, Enforce} {
		if strings.EqualFold(string(a), string(known)) {
			return known, true
		}
	}
	return "", false
}

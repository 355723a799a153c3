// SPDX-License-Identifier: Apache-2.0

package policyv1

import "strings"

// RemediationAction is what a policy does on a cluster that does not comply. Objects spell it in any letter case; the
// library gives the constants. Empty means that each template has its own action.
type RemediationAction string

const (
	// Inform reports non-compliance and changes nothing.
	Inform RemediationAction = "inform"
	// Enforce changes the cluster until it complies.
	Enforce RemediationAction = "enforce"
)

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

// SPDX-License-Identifier: Apache-2.0

package policyv1

// ComplianceState is the compliance that a policy, or an object that one of its templates creates, reports. The empty
// value is unknown: there is no report yet.
type ComplianceState string

const (
	// Compliant says that the cluster is as the policy wants it.
	Compliant ComplianceState = "Compliant"
	// NonCompliant says that the cluster is not as the policy wants it.
	NonCompliant ComplianceState = "NonCompliant"
	// Pending says that it is not decided, for instance because a template waits for its dependencies.
	Pending ComplianceState = "Pending"
)

// Aggregate gives the compliance of a whole from its parts: of a policy from its templates, of a root policy from its
// clusters, of a set from its policies. It is NonCompliant if one part is, else Pending if one is, else unknown if one
// is, else Compliant. Any value other than the constants counts as unknown. Without parts it is unknown.
//
// The caller leaves out parts that must not count: for a set, the policies that are disabled or missing.
func Aggregate(parts ...ComplianceState) ComplianceState {
	if len(parts) == 0 {
		return ""
	}
	all := Compliant
	for _, part := range parts {
		switch {
		case part == NonCompliant:
			return NonCompliant
		case part == Pending:
			all = Pending
		case part != Compliant && all == Compliant:
			all = ""
		}
	}
	return all
}

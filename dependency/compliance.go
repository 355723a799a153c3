package dependency

// Compliance is what a policy, or an object that a template creates, says of itself. The empty value is
// unknown: nothing was said yet.
type Compliance string

const (
	// Compliant: the cluster is as the policy wants it.
	Compliant Compliance = "Compliant"
	// NonCompliant: the cluster is not as the policy wants it.
	NonCompliant Compliance = "NonCompliant"
	// Pending: it is not decided, for instance because a template waits for its dependencies.
	Pending Compliance = "Pending"
)

// valid says whether c is one of the values a dependency can wait for.
func (c Compliance) valid() bool {
	return c == Compliant || c == NonCompliant || c == Pending
}

// Aggregate returns the compliance of what consists of parts (P7): of a policy over its templates, of a root
// policy over its clusters, of a set over its policies. It is NonCompliant if one part is, else Pending if one
// is, else unknown if one is, else Compliant. Values that are no constant of this package count as unknown. It
// is unknown over nothing.
func Aggregate(parts ...Compliance) Compliance {
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

// SPDX-License-Identifier: Apache-2.0

package limits

// Places keeps as many of a stage's last clusters waiting as count in it without being selected there (R65).
type Places struct {
	Kept       int  // how many keep a place
	Waiting    int  // how many of the stage wait for their turn
	IsUnderWay bool // a cluster of the stage has the version and is not settled
}

// Left gives how many may start. Those beside the kept places start first; the last ones once all others are settled.
func (p Places) Left() int {
	switch {
	case p.Kept == 0:
		return Unlimited
	case p.Waiting > p.Kept:
		return p.Waiting - p.Kept
	case p.IsUnderWay:
		return 0
	default:
		return Unlimited
	}
}

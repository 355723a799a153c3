// SPDX-License-Identifier: Apache-2.0

package limits

// Ramp lets as many clusters hold a slot as have soaked, and at first an initial number (R35).
type Ramp struct {
	Initial int // 0: no limit
	Soaked  int // how many succeeded and soaked
	Used    int // how many hold a slot
}

// Bound gives how many may hold a slot now.
func (r Ramp) Bound() int { return max(r.Initial, r.Soaked) }

// Left gives how many more may start.
func (r Ramp) Left() int {
	if r.Initial == 0 {
		return Unlimited
	}
	return max(0, r.Bound()-r.Used)
}

// IsFreedBy says whether one more may start beside those that start now, once so many that hold a slot have ended, soaked ones among them.
// One that has soaked frees a slot and may add one.
func (r Ramp) IsFreedBy(starting, ended, soaked int) bool {
	return r.Used+starting-ended < max(r.Initial, r.Soaked+soaked)
}

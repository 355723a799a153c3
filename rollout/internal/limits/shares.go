// SPDX-License-Identifier: Apache-2.0

package limits

// Shares bound what one of several hubs may have in flight, and how many of its clusters may have failed for another one to start (R57).
type Shares struct {
	Most, Used            int // in flight
	MaxFailures, Failures int
}

// IsNone says whether nothing may start, whatever ends.
func (shares Shares) IsNone() bool { return shares.Most == 0 || shares.Failures > shares.MaxFailures }

// Excess gives how many in flight have to end before one more may start, beside those that start now.
func (shares Shares) Excess(starting int) int {
	return Concurrency{shares.Most, shares.Used}.Excess(starting)
}

// Left gives how many more may start.
func (shares Shares) Left() int {
	if shares.IsNone() {
		return 0
	}
	return Concurrency{shares.Most, shares.Used}.Left()
}

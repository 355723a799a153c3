// SPDX-License-Identifier: Apache-2.0

package limits

// Concurrency bounds how many clusters hold a slot at a time (R11, R24).
type Concurrency struct{ Most, Used int }

// Left gives how many more may start.
func (c Concurrency) Left() int { return max(0, c.Most-c.Used) }

// Excess gives how many that hold a slot have to end before one more may start, beside those that start now.
func (c Concurrency) Excess(starting int) int { return c.Used + starting - c.Most + 1 }

// SPDX-License-Identifier: Apache-2.0

package output

// DefaultReasons is how many waves of JSON say at most why the rest waits, by default. Each costs a whole plan.
const DefaultReasons = 1000

// Value is the report, as data. If there are more waves than rows, only the waves that a table would show say why the rest
// waits: the first, the wave where the rollout ended, the last, and some between.
func (r Report) Value() (any, error) {
	_, err := r.waveRows(DefaultReasons)
	return r, err
}

// SPDX-License-Identifier: Apache-2.0

package picture

import "time"

// ticks are round numbers from 0 to last. Their number is about the wanted one at most.
func ticks(last, about int) (all []int) {
	step := 1
	for i := 0; last/step > about; i++ {
		step = step * []int{2, 5, 4}[i%3] / []int{1, 2, 2}[i%3] // 1, 2, 5, 10, 20, …
	}
	for n := 0; n <= last; n += step {
		all = append(all, n)
	}
	return all
}

// timeTicks are times that people say, from 0 to end, at most nine.
func timeTicks(end time.Duration) (all []time.Duration) {
	const day = 24 * time.Hour
	step := time.Duration(0)
	for _, step = range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
		day, 2 * day, 5 * day, 10 * day, 30 * day, 100 * day,
	} {
		if end/step <= 8 {
			break
		}
	}
	for end/step > 8 {
		step *= 2
	}
	for at := time.Duration(0); at <= end; at += step {
		all = append(all, at)
	}
	return all
}

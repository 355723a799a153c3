// SPDX-License-Identifier: Apache-2.0

package dependency

// All gives the evaluations of all policies, sorted by name.
func (e *Evaluator) All() []Evaluation { return e.all() }

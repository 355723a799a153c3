// SPDX-License-Identifier: Apache-2.0

package main

import "io"

// several are the reports of several rollouts: the text has one after the other, and data is a list.
type several []written

func (many several) Text(w io.Writer) error {
	for i, report := range many {
		if i > 0 {
			if _, err := io.WriteString(w, "\n────────\n\n"); err != nil {
				return err
			}
		}
		if err := report.Text(w); err != nil {
			return err
		}
	}
	return nil
}

// Value is a list of all.
func (many several) Value() (any, error) {
	var all []any
	for _, report := range many {
		value, err := report.Value()
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return map[string][]any{"rollouts": all}, nil
}

package main

import (
	"encoding/json"
	"io"
)

// several are the reports of several rollouts: the text has one after the other, JSON a list.
type several []listed

// listed can stand in a list.
type listed interface {
	written
	// Value is what JSON writes of it.
	Value() (any, error)
}

func (s several) Text(w io.Writer) error {
	for i, report := range s {
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

func (s several) JSON(w io.Writer) error {
	var all []any
	for _, report := range s {
		value, err := report.Value()
		if err != nil {
			return err
		}
		all = append(all, value)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string][]any{"rollouts": all})
}

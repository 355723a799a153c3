package output

import (
	"encoding/json"
	"io"
)

// JSON writes the report as one indented object.
func (r Report) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	value, err := r.Value()
	if err != nil {
		return err
	}
	return encoder.Encode(value)
}

// Value is what JSON writes.
func (r Report) Value() (any, error) { return r, r.explain() }

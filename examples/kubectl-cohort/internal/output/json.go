package output

import (
	"encoding/json"
	"io"
)

// DefaultReasons is how many waves of JSON say at most why the rest waits, where nobody says. Each costs a whole plan.
const DefaultReasons = 1000

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

// Value is what JSON writes. If there are more waves than rows, only the waves that a table would show say why the rest
// waits: the first, the wave where the rollout ended, the last, and some between.
func (r Report) Value() (any, error) {
	_, err := r.waveRows(DefaultReasons)
	return r, err
}

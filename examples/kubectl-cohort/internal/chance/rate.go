// SPDX-License-Identifier: Apache-2.0

package chance

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Rate is a chance from 0 to 1.
type Rate float64

// ParseRate reads 0.3% or 0.003.
func ParseRate(s string) (Rate, error) {
	number, percent := strings.CutSuffix(s, "%")
	rate, err := strconv.ParseFloat(number, 64)
	if percent {
		rate /= 100
	}
	if err != nil || !(rate >= 0 && rate <= 1) {
		return 0, errors.New("must be a chance such as 0.3% or 0.003")
	}
	return Rate(rate), nil
}

// String is like "0.3%".
func (odds Rate) String() string { return strconv.FormatFloat(float64(odds)*100, 'g', 4, 64) + "%" }

// UnmarshalJSON reads what ParseRate does, as a string or a number.
func (odds *Rate) UnmarshalJSON(data []byte) error {
	s := string(data)
	if strings.HasPrefix(s, `"`) {
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
	}
	rate, err := ParseRate(s)
	*odds = rate
	return err
}

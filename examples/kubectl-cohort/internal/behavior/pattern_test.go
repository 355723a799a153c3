// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"path"
	"testing"

	"pgregory.net/rapid"
)

func TestPatternsMatchAsPathMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, name := rapid.StringMatching(`[ab*?\[\]\\-]{0,5}`).Draw(t, "pattern"), rapid.StringMatching(`[ab*\\-]{0,5}`).Draw(t, "name")
		want, err := path.Match(whole, name)
		if err != nil {
			return // which Validate refuses
		}
		if got := (Rule{Names: []string{whole}}).patterns()[0].match(name); got != want {
			t.Fatalf("%q matches %q: %v, want %v", whole, name, got, want)
		}
	})
}

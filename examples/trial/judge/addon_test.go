// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"testing"
)

// addOn has an owner want a configuration, one cluster at a time, with the hash that its status knows, if it does.
func (s *fixture) addOn(hash string) *fixture {
	status := ""
	if hash != "" {
		status = fmt.Sprintf(`,"configReferences":[{"group":"g","resource":"configs","desiredConfig":{"name":"v1","specHash":%q}}]`, hash)
	}
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"ClusterManagementAddOn",%s,"spec":{"installStrategy":{"type":"Placements","placements":[{"namespace":"w","name":"fleet",`+
		`"configs":[{"group":"g","resource":"configs","name":"v1"}],"rolloutStrategy":%s}]}},"status":{"installProgressions":[{"namespace":"w","name":"fleet"%s}]}}`,
		s.meta("", "addon", ""), progressive("1", "0", ""), status))
	return s
}

// on has the add-on of a cluster have the configuration with a hash, or none, with more of its metadata and status.
func (s *fixture) on(cluster, hash, meta, status string) *fixture {
	references := ""
	if hash != "" {
		references = fmt.Sprintf(`{"group":"g","resource":"configs","desiredConfig":{"name":"v1","specHash":%q}}`, hash)
	}
	s.object("MODIFIED", fmt.Sprintf(`{"kind":"ManagedClusterAddOn",%s,"status":{"configReferences":[%s]%s}}`, s.meta(cluster, "addon", meta), references, status))
	return s
}

// As long as the owner's status does not say what is in a configuration, its name alone counts.
func TestAddOnsWhoseHashIsNotKnownYet(t *testing.T) {
	for hash, want := range map[string][]string{"": nil, "h": nil, "another": {"broken version a"}} {
		s := begin()
		s.addOn(hash).fleet("a", "b").at(5).on("a", "h", "", "").until(6)
		if got := said(s.judge(t)); !slices.Equal(got, want) {
			t.Errorf("the hash %q: got %q, want %q", hash, got, want)
		}
	}
}

// A cluster that left with a version counts also once its add-on has no configuration any more, as OCM's add-on manager leaves it. One that
// is selected counts no more.
func TestWhatAnOwnerTakesBackCounts(t *testing.T) {
	const dying = `,"deletionTimestamp":"2026-01-01T00:01:50Z","finalizers":["f"]`
	const failed = `,"conditions":[{"type":"Progressing","status":"False","reason":"Failed","lastTransitionTime":"2026-01-01T00:01:46Z"}]`
	for why, c := range map[string]struct {
		tell func(s *fixture)
		want []string
	}{
		"it left, and is being deleted":   {func(s *fixture) { s.at(9).fleet("b").at(13).on("a", "", dying, failed) }, []string{"suspicious deselected b"}},
		"it left, and is not deleted yet": {func(s *fixture) { s.at(9).fleet("b").at(13).on("a", "", "", failed) }, []string{"suspicious deselected b"}},
		"it is selected":                  {func(s *fixture) { s.at(10).on("a", "", "", failed) }, nil},
		"it left, and its add-on has gone": {func(s *fixture) {
			s.at(9).fleet("b").at(13).object("DELETED", fmt.Sprintf(`{"kind":"ManagedClusterAddOn",%s}`, s.meta("a", "addon", "")))
		}, []string{"suspicious deselected b"}},
	} {
		s := begin()
		s.addOn("h").fleet("a", "b").at(5).on("a", "h", "", "").at(6).on("a", "h", "", failed)
		c.tell(s)
		s.at(16).on("b", "h", "", "")
		if got := said(s.judge(t)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

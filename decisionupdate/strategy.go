// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import "k8s.io/apimachinery/pkg/util/validation/field"

// UpdateStrategy says how the PlacementDecisions of a placement are updated when its selected clusters change. The API
// has no such type yet. The JSON is from the design document, which has it at spec.decisionStrategy.updateStrategy of a
// Placement. The zero value is All.
type UpdateStrategy struct {
	// Type is All (also when empty) or RollingUpdate.
	Type UpdateStrategyType `json:"type,omitempty"`

	// MaxSteps bounds the number of steps of RollingUpdate. Steps follow one another, so fewer steps finish sooner, at the
	// price of more writes. Zero is no bound; otherwise at least 2 are needed. It bounds neither the steps that fill named
	// groups one after the other where clusters are only added, nor the last step if that deletes objects of the surge.
	MaxSteps int `json:"maxSteps,omitempty"`

	// SurgeAndFinalize takes the two phases of the design document: first each object gets the union of its stored and its
	// desired clusters, then what is desired. It takes two steps, a third where objects of the surge are deleted, and writes
	// nearly every object twice. MaxSteps does not matter then. All ignores both.
	SurgeAndFinalize bool `json:"surgeAndFinalize,omitempty"`
}

// UpdateStrategyType names an update strategy.
type UpdateStrategyType string

const (
	// UpdateStrategyTypeAll writes all objects at once, then deletes those that are no longer desired. A
	// cluster that moves may be in no object for a moment.
	UpdateStrategyTypeAll UpdateStrategyType = "All"

	// UpdateStrategyTypeRollingUpdate keeps every cluster that stays selected in some object all the time.
	UpdateStrategyTypeRollingUpdate UpdateStrategyType = "RollingUpdate"
)

// Validate reports a type that is neither empty nor one of the two constants, and a bound on the steps that no update can
// keep. It is for a webhook to return. Path is where the strategy stands, such as spec.decisionStrategy.updateStrategy.
func Validate(strategy UpdateStrategy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch strategy.Type {
	case "", UpdateStrategyTypeAll, UpdateStrategyTypeRollingUpdate:
	default:
		errs = append(errs, field.NotSupported(path.Child("type"), strategy.Type,
			[]UpdateStrategyType{UpdateStrategyTypeAll, UpdateStrategyTypeRollingUpdate}))
	}
	if strategy.MaxSteps < 0 || strategy.MaxSteps == 1 {
		errs = append(errs, field.Invalid(path.Child("maxSteps"), strategy.MaxSteps,
			"must be 0, for no bound, or at least 2: a cluster is written where it goes before it is removed where it was"))
	}
	return errs
}

package decisionupdate

import "k8s.io/apimachinery/pkg/util/validation/field"

// UpdateStrategy says how the PlacementDecisions of a placement are updated when its selected clusters change. The API
// has no such type yet. The JSON is from the design document, which has it at spec.decisionStrategy.updateStrategy of a
// Placement. The zero value is All.
type UpdateStrategy struct {
	// Type is All (also when empty) or RollingUpdate.
	Type UpdateStrategyType `json:"type,omitempty"`
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

// Validate reports a type that is neither empty nor one of the two constants, for a webhook to return. Path is where
// the strategy stands, such as spec.decisionStrategy.updateStrategy.
func Validate(strategy UpdateStrategy, path *field.Path) field.ErrorList {
	switch strategy.Type {
	case "", UpdateStrategyTypeAll, UpdateStrategyTypeRollingUpdate:
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Child("type"), strategy.Type,
		[]UpdateStrategyType{UpdateStrategyTypeAll, UpdateStrategyTypeRollingUpdate})}
}

// Option changes how [Diff] carries out RollingUpdate. All ignores options, so a caller can pass the same ones for
// every placement.
type Option func(*options)

type options struct {
	maxSteps      int
	surgeFinalize bool
}

// MaxSteps bounds the number of steps of an update. Steps follow one another, so fewer steps finish sooner, at the
// price of more writes. Zero, the default, is no bound; otherwise at least 2 are needed. It does not bound the steps
// that fill named groups one after the other where clusters are only added.
func MaxSteps(n int) Option {
	return func(o *options) { o.maxSteps = n }
}

// SurgeAndFinalize takes the two phases of the design document: first each object gets the union of its
// stored and its desired clusters, then what is desired. It takes two steps and writes nearly every
// object twice.
func SurgeAndFinalize() Option {
	return func(o *options) { o.surgeFinalize = true }
}

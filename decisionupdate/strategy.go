package decisionupdate

// UpdateStrategy says how the PlacementDecisions of a placement are updated when its selected clusters change.
// The API has no such type yet: the JSON is that of the design document, where it stands at
// spec.decisionStrategy.updateStrategy of a Placement. The zero value is All.
type UpdateStrategy struct {
	// Type is All (also when empty) or RollingUpdate.
	Type UpdateStrategyType `json:"type,omitempty"`
}

// UpdateStrategyType names an update strategy.
type UpdateStrategyType string

const (
	// UpdateStrategyTypeAll writes all objects at once, then deletes those that are no longer desired (D2). A
	// cluster that moves may be in no object for a moment.
	UpdateStrategyTypeAll UpdateStrategyType = "All"

	// UpdateStrategyTypeRollingUpdate keeps every cluster that stays selected in some object all the time (D3,
	// D4).
	UpdateStrategyTypeRollingUpdate UpdateStrategyType = "RollingUpdate"
)

// Option changes how [New] carries out RollingUpdate. Options don't concern All, so that a caller can pass the
// same ones for every placement.
type Option func(*options)

type options struct {
	maxSteps      int
	surgeFinalize bool
}

// MaxSteps bounds the number of steps of a plan. Steps follow one another, so fewer steps finish sooner, at the
// price of more writes (D4). Zero, the default, is no bound; otherwise at least 2 are needed.
func MaxSteps(n int) Option {
	return func(o *options) { o.maxSteps = n }
}

// SurgeAndFinalize takes the two phases of the design document (D3): first each object gets the union of its
// stored and its desired clusters, then what is desired. It is always within two steps and writes nearly every
// object twice.
func SurgeAndFinalize() Option {
	return func(o *options) { o.surgeFinalize = true }
}

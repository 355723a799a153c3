// SPDX-License-Identifier: Apache-2.0

package picture

import "image/color"

// State is where a cluster stands. Each is in one at a time.
type State int

// The states stand in the order in which they lie on one another, from the ground up; those that are not counted hang from
// the top.
const (
	Succeeded State = iota
	Soaking
	Validating
	InFlight
	Failed
	TimedOut
	Deselected
	RolledBack
	Waiting
	Frozen // or not allowed
	Ignored
	numStates
)

// String is the word in the legend.
func (state State) String() string { return looks[state].word }

// hatch is what tells a state where there is no colour.
type hatch int

const (
	plain hatch = iota
	level
	rising
	crossed
)

// look is how a state is drawn.
type look struct {
	word  string
	fill  color.RGBA
	hatch hatch
}

// looks are told apart by brightness or hatch alone. What failed is the darkest of all.
var looks = [numStates]look{
	Succeeded:  {"succeeded", color.RGBA{0x8c, 0xc6, 0x9b, 0xff}, plain},
	Soaking:    {"soaking", color.RGBA{0xd5, 0xec, 0xd9, 0xff}, level},
	Validating: {"validating", color.RGBA{0xbf, 0xdd, 0xdc, 0xff}, crossed},
	InFlight:   {"in flight", color.RGBA{0xa9, 0xcc, 0xee, 0xff}, rising},
	Failed:     {"failed", color.RGBA{0x8e, 0x10, 0x1c, 0xff}, plain},
	RolledBack: {"rolled back", color.RGBA{0x9b, 0x8f, 0xb8, 0xff}, level},
	TimedOut:   {"timed out", color.RGBA{0xe8, 0xa3, 0x3d, 0xff}, crossed},
	Deselected: {"deselected", color.RGBA{0x77, 0x6a, 0x8c, 0xff}, rising},
	Frozen:     {"frozen", color.RGBA{0xf3, 0xe6, 0xc4, 0xff}, level},
	Ignored:    {"ignored", color.RGBA{0xe0, 0xe0, 0xe0, 0xff}, plain},
	Waiting:    {"waiting", color.RGBA{0xff, 0xff, 0xff, 0xff}, plain},
}

// States are all states, from the ground up.
func States() (all []State) {
	for s := range numStates {
		all = append(all, s)
	}
	return all
}

package decisionupdate

import (
	"math"
	"math/bits"
)

// maxExact is the most objects connected by moves for which every choice of surges is tried.
const maxExact = 12

// fewestSurges tries all sets of vertices, the smallest first. Among the smallest that work, it returns the one that
// goes least over the limit of clusters, then the one with the fewest steps, then the first.
func (g graph) fewestSurges(maxSteps int) []bool {
	var candidates uint
	for v := range g.out {
		if g.between(int32(v)) {
			candidates |= 1 << v
		}
	}
	masks := g.masks()
	type cost struct{ over, steps int }
	for size := 0; ; size++ {
		best, found := cost{over: math.MaxInt}, uint(0)
		for set := range uint(1) << len(g.out) {
			if bits.OnesCount(set) != size || set&^candidates != 0 {
				continue
			}
			steps := stepsNeeded(masks, set, maxSteps)
			if steps == 0 {
				continue
			}
			c := cost{steps: steps}
			for s := set; s != 0; s &= s - 1 {
				c.over += int(g.over[bits.TrailingZeros(s)])
			}
			if c.over < best.over || c.over == best.over && c.steps < best.steps {
				best, found = c, set
			}
		}
		if best.over < math.MaxInt {
			surged := make([]bool, len(g.out))
			for v := range surged {
				surged[v] = found&(1<<v) != 0
			}
			return surged
		}
	}
}

// masks returns the edges of each vertex as bits.
func (g graph) masks() []uint {
	masks := make([]uint, len(g.out))
	for v := range g.out {
		for _, w := range g.out[v] {
			masks[v] |= 1 << w
		}
	}
	return masks
}

// stepsNeeded returns in how many steps all vertices are written for the last time, or 0 if never or in more than
// maxSteps. It does what levels does, for small graphs.
func stepsNeeded(out []uint, surged uint, maxSteps int) int {
	all := uint(1)<<len(out) - 1
	var there, last uint // vertices that have their arriving clusters, and vertices that are done
	for step := 1; step <= maxSteps; step++ {
		before := last
		for v, waits := range out {
			if waits&^there == 0 {
				last |= 1 << v
			}
		}
		if there = last | surged; last == all {
			return step
		}
		if step > 1 && last == before {
			return 0
		}
	}
	return 0
}

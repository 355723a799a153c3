package rollout

import "encoding/binary"

// load is how many clusters of a stage count while it is active, and how many still do once it is complete, which are no
// more.
type load struct{ active, passed int }

// then is the load of two stages of which the second comes after the first, and nothing else does.
func (l load) then(next load) load {
	return load{max(l.active, l.passed+next.active), l.passed + next.passed}
}

// together is the most clusters of all stages that count at the same time, where a stage becomes active when all that it
// comes after are complete. Where many come after the same many, as one layer after another, a joint between them stands for
// all their pairs: it is active when all before it are complete, complete at once, and counts nothing.
func (s *prospect) together(loadOf func(stage int) load) int {
	if s.After == nil {
		var l load
		for i := range s.Stages {
			l = l.then(loadOf(i))
		}
		return l.active
	}
	var chains []load    // of stages between which nothing branches
	var before [][]int32 // of each chain those that it comes after
	of := make([]int32, len(s.Stages))
	next := make([]int, len(s.Stages)) // how many stages come directly after
	for i := range s.Stages {
		for _, b := range s.After[i] {
			next[b]++
		}
	}
	joints := make(map[string]int32) // of what several come after together, a chain without a load in between
	for i := range s.Stages {
		if after := s.After[i]; len(after) == 1 && next[after[0]] == 1 {
			of[i] = of[after[0]]
			chains[of[i]] = chains[of[i]].then(loadOf(i))
			continue
		}
		var b []int32
		for _, stage := range s.After[i] {
			b = append(b, of[stage])
		}
		if len(b) > 1 {
			key := keyOf(b)
			joint, known := joints[key]
			if !known {
				joint = int32(len(chains))
				joints[key] = joint
				chains, before = append(chains, load{}), append(before, b)
			}
			b = []int32{joint}
		}
		of[i] = int32(len(chains))
		chains, before = append(chains, loadOf(i)), append(before, b)
	}
	return newNetwork(chains, before).heaviest()
}

// keyOf is the same for the same numbers alone.
func keyOf(numbers []int32) string {
	key := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	return string(key)
}

// network finds which stages are active, and which complete, where most clusters count together. An active stage gives
// what it counts. It asks for each that it comes after to be complete, which takes away the difference to
// what that counted active. What a selection of stages is worth is what remains; the most is found as the greatest flow from what
// is given to what is taken away (a maximum closure): it leaves of what is given as much as the best selection is worth.
//
// Of a {4 active, 1 passed} and two that come after it, b {2, 2} and c {2, 2}: a takes away 3, of the 2 and 2 that b and c
// give. With b and c active it is 1 + 2 + 2 = 5, the 8 of all less 3.
type network struct {
	loads  []load
	before [][]int32 // of each stage
	after  [][]arc   // of each stage
	flow   [][]int   // of each stage, to each that it comes after
	pass   []int     // of each stage: what came from later ones and goes on to earlier ones
	room   []int     // of each stage: what it still takes away
	seen   []bool    // in this search: sends and takes of each stage
}

// arc is the k-th of those that a stage comes after.
type arc struct {
	stage int32
	k     int
}

func newNetwork(loads []load, before [][]int32) *network {
	n := len(loads)
	f := &network{loads, before, make([][]arc, n), make([][]int, n), make([]int, n), make([]int, n), make([]bool, 2*n)}
	for i, l := range loads {
		f.room[i] = l.active - l.passed
		f.flow[i] = make([]int, len(before[i]))
		for k, b := range before[i] {
			f.after[b] = append(f.after[b], arc{int32(i), k})
		}
	}
	return f
}

// heaviest is what all give less what of it flows away.
func (f *network) heaviest() (rest int) {
	for i, l := range f.loads {
		given := l.active
		for given > 0 {
			clear(f.seen)
			sent := f.send(int32(i), given)
			if sent == 0 {
				break
			}
			given -= sent
		}
		rest += given
	}
	return rest
}

// send moves at most so much from a stage to those that it comes after, and says how much.
func (f *network) send(stage int32, most int) (sent int) {
	if most == 0 || f.seen[2*stage] {
		return 0
	}
	f.seen[2*stage] = true
	for k, b := range f.before[stage] {
		n := f.take(b, most-sent)
		f.flow[stage][k] += n
		sent += n
	}
	n := f.take(stage, min(most-sent, f.pass[stage])) // which takes back what it passed on
	f.pass[stage] -= n
	return sent + n
}

// take moves at most so much, which has come to a stage from later ones, to what it takes away, or on.
func (f *network) take(stage int32, most int) (taken int) {
	if most == 0 || f.seen[2*stage+1] {
		return 0
	}
	f.seen[2*stage+1] = true
	taken = min(most, f.room[stage])
	f.room[stage] -= taken
	n := f.send(stage, most-taken)
	f.pass[stage] += n
	taken += n
	for _, from := range f.after[stage] { // which then send what they sent here elsewhere
		n := f.send(from.stage, min(most-taken, f.flow[from.stage][from.k]))
		f.flow[from.stage][from.k] -= n
		taken += n
	}
	return taken
}

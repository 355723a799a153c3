package decisionupdate

// fewestWrites writes each object once, in an order in which every cluster arrives before it leaves. It surges objects
// where there is no such order, or none short enough (D4). With maxSteps 0 every order is short enough.
func (f *fleet) fewestWrites(maxSteps int) []Step {
	vertices, g := f.moves()
	surged := chooseSurges(g, maxSteps)
	level, latest := g.levels(surged)
	if f.hurry(vertices, level, surged) {
		level, latest = g.levels(surged)
	}

	steps := make([]Step, latest)
	add := func(level int, w Write) { steps[level-1] = append(steps[level-1], w) }
	at := make([]int, len(f.objects)) // by object: the step of its last write
	for v, o := range vertices {
		at[o] = level[v]
	}
	for v, o := range vertices {
		obj := &f.objects[o]
		early := func(cluster int32) bool { // the object that gives it away waits only for the surge
			from := f.holder[cluster]
			return from != nobody && at[from] <= at[o]
		}
		if !surged[v] || !f.desires(o, early) {
			add(level[v], obj.final(nil))
			continue
		}
		surge := obj.surge(f.content(o, f.heldBy(o), early))
		final := obj.final(&surge)
		add(1, surge)
		add(level[v], final)
	}
	return steps
}

// hurry also surges the objects that would be written after the first step and get a cluster that only an object being
// deleted has (D13). It reports whether there are any.
func (f *fleet) hurry(vertices []int32, level []int, surged []bool) bool {
	found := false
	for v, o := range vertices {
		dying := func(cluster int32) bool {
			from := f.holder[cluster]
			return from != nobody && f.objects[from].dying()
		}
		if level[v] > 1 && !surged[v] && f.desires(o, dying) {
			surged[v], found = true, true
		}
	}
	return found
}

// desires reports whether the object desires such a cluster. The heuristic may choose a surge for none; that is left
// out.
func (f *fleet) desires(o int32, such func(cluster int32) bool) bool {
	obj := &f.objects[o]
	if obj.desired == nil {
		return false
	}
	for i := range obj.desired.Status.Decisions {
		if such(obj.first + int32(i)) {
			return true
		}
	}
	return false
}

// heldBy reports whether the object has to keep a cluster.
func (f *fleet) heldBy(o int32) func(cluster int32) bool {
	return func(cluster int32) bool { return cluster != nobody && f.holder[cluster] == o }
}

// moves returns the objects that have to be written, in order, and the graph between them: an edge from the
// object that holds a cluster to the one that it goes to.
func (f *fleet) moves() ([]int32, graph) {
	var vertices []int32
	vertex := make([]int32, len(f.objects))
	for o := range f.objects {
		if f.objects[o].differs() {
			vertex[o] = int32(len(vertices))
			vertices = append(vertices, int32(o))
		}
	}
	g := newGraph(len(vertices))
	for _, o := range vertices {
		for _, cluster := range f.objects[o].storedIDs {
			if cluster == nobody || f.holder[cluster] != o {
				continue // nobody waits for it, or another object keeps it
			}
			g.link(vertex[o], vertex[f.goal[cluster]])
		}
	}
	for v, o := range vertices {
		g.over[v] = f.surgeOver(o)
	}
	return vertices, g
}

// surgeOver returns how far a surge could take the object over the limit.
func (f *fleet) surgeOver(o int32) int32 {
	obj := &f.objects[o]
	if obj.stored == nil || obj.desired == nil {
		return 0
	}
	n := 0
	for i := range obj.desired.Status.Decisions {
		if id := obj.first + int32(i); f.stays[id] || f.holder[id] != nobody {
			n++
		}
	}
	for _, id := range obj.storedIDs {
		if f.heldBy(o)(id) {
			n++
		}
	}
	return int32(max(n-maxClusters, 0))
}

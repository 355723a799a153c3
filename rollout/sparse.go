package rollout

// sparse has a value for each position. It is nil as long as all are zero.
type sparse[V comparable] []V

// of gives the value of a position.
func (s sparse[V]) of(position int) (v V) {
	if s != nil {
		v = s[position]
	}
	return v
}

// set notes the value of one of n positions.
func (s *sparse[V]) set(position int, v V, n int) {
	if *s == nil {
		var zero V
		if v == zero {
			return
		}
		*s = make(sparse[V], n)
	}
	(*s)[position] = v
}

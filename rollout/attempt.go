package rollout

// attempts gives the attempt at the version that each position is in.
type attempts = pagedSlice[int]

package rollout

// deselectedClusters lists the deselected clusters.
func (s *schedule) deselectedClusters(v view) []Cluster {
	if len(s.Deselected) == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, len(s.Deselected))
	for _, position := range s.Deselected {
		clusters = s.addCluster(clusters, position, v.State(position), v.Attempt(position))
	}
	return clusters
}

package policy

import "github.com/cohort-ocm/cohort/override/passes"

// Replicas are those that Plan has written.
func (h *Hub) Replicas() []passes.Replica { return h.replicas }

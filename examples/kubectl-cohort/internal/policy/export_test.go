// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
)

// Replicas are those that Plan has written.
func (h *Hub) Replicas() []passes.Replica { return h.replicas }

// Record is what the root policy has stored.
func (h *Hub) Record() status.Record { return h.record }

package rollout_test

import (
	"testing"

	"github.com/cohort-ocm/cohort/internal/copied"
	"github.com/cohort-ocm/cohort/rollout"
)

// What stands in an API is copied there. Order and Previous do not.
func TestDeepCopies(t *testing.T) {
	t.Run("Options", func(t *testing.T) { copied.Check[rollout.Options](t, ".Order", ".Previous") })
	t.Run("ClosedGate", func(t *testing.T) { copied.Check[rollout.ClosedGate](t) })
	t.Run("ClusterFreeze", func(t *testing.T) { copied.Check[rollout.ClusterFreeze](t) })
}

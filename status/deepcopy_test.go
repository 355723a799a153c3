// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"

	"github.com/cohort-ocm/cohort/internal/copied"
	"github.com/cohort-ocm/cohort/status"
)

// What stands in an API is copied there.
func TestDeepCopies(t *testing.T) {
	t.Run("Summary", func(t *testing.T) { copied.Check[status.Summary](t) })
	t.Run("Record", func(t *testing.T) { copied.Check[status.Record](t) })
}

// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

func TestMain(m *testing.M) { exhaustive.Main(m) }

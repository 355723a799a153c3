// SPDX-License-Identifier: Apache-2.0

package search

import (
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

func TestMain(m *testing.M) { exhaustive.Main(m) }

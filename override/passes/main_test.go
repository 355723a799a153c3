// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	_ "github.com/cohort-ocm/cohort/internal/seeded" // the environment may say where random properties begin
)

func TestMain(m *testing.M) { exhaustive.Main(m) }

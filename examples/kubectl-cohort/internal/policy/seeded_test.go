// SPDX-License-Identifier: Apache-2.0

package policy_test

import _ "github.com/cohort-ocm/cohort/internal/seeded" // the environment may say where random properties begin

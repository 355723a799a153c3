// SPDX-License-Identifier: Apache-2.0

package output

import _ "github.com/cohort-ocm/cohort/internal/seeded" // the environment may say where random properties begin

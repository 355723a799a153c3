// SPDX-License-Identifier: Apache-2.0

package main

import _ "github.com/cohort-ocm/cohort/internal/seeded" // the environment may say where random properties begin

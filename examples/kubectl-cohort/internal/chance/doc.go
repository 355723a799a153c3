// SPDX-License-Identifier: Apache-2.0

// Package chance has what a cluster's luck is drawn from: how long something may take, and how likely it is.
package chance

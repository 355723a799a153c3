// SPDX-License-Identifier: Apache-2.0

package decisionupdate

// DiffUpTo is Diff with a limit on the clusters of an object, so that small worlds are full.
var DiffUpTo = diff

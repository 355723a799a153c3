// SPDX-License-Identifier: Apache-2.0

// Package compare plays several strategies over one fleet, with chances instead of fixed lives.
//
// In each run every cluster draws what becomes of it: how long it takes, whether it fails, whether it never
// answers. The draw depends on the seed, the run and the cluster alone, so that in the same run all strategies
// meet the same luck, and the same seed gives the same numbers. Every run is played once more with a bad
// version, which fails on most clusters, up to the moment when the strategy stops it.
package compare

// SPDX-License-Identifier: Apache-2.0

// Package exhaustive says how much of the small worlds and long properties the tests run:
//
//   - without a build tag a few, so that `go test ./...` stays short;
//   - with the tag "exhaustive", as each change has to pass, so many that each break of the code which is known is found;
//   - with the tag "whole", as each week, all of them.
package exhaustive

// Of gives the number of cases to run: short by default, long with the build tag "exhaustive". With the tag "whole" it is also long,
// or the number behind, where there is one.
func Of(short, long int, whole ...int) int {
	switch {
	case Whole && len(whole) > 0:
		return whole[0]
	case On:
		return long
	}
	return short
}

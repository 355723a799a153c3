// Package exhaustive says whether the tests run whole, with all small worlds and long properties. Without the build tag
// "exhaustive" they run a part, so that `go test ./...` stays short. `go test -tags exhaustive ./...` runs all.
package exhaustive

// Of gives the number of cases to run: short by default, long with the build tag.
func Of(short, long int) int {
	if On {
		return long
	}
	return short
}

//go:build !exhaustive

package exhaustive

// On says that the tests run whole.
const On = false

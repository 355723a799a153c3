//go:build !race

package grouping_test

const raced = false

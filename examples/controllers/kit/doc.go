// Package kit has what the controllers beside it share. Its package manager has what needs controller-runtime.
package kit

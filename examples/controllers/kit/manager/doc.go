// Package manager has what the controllers share that are made with controller-runtime.
package manager

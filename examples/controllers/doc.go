// SPDX-License-Identifier: Apache-2.0

// Package controllers has whole controllers that use the library, each in its own directory, and a test that runs them with
// a real API server. README.md describes each part.
package controllers

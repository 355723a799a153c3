// Package controllers has whole controllers that use the library, each in a directory of its own, and a test that runs
// them against a real API server. README.md says what each part is for.
package controllers

// SPDX-License-Identifier: Apache-2.0

// Package sentences keeps SENTENCES.md, a table of every sentence that the library can print, with a scene that prints
// it. Its test fails where a sentence has no scene, or where an exported kind of hold, warning, remedy or reason has no
// sentence. After a change, write the table anew:
//
//	go test ./internal/sentences -update
//
// A new kind of sentence gets a row in table_test.go, and a scene in its package.
package sentences

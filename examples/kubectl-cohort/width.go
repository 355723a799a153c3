// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// widthOf is how many characters a line of the terminal has; 0 where w is none.
func widthOf(w io.Writer) int {
	width, _ := sizeOf(w)
	return width
}

// sizeOf is how many characters a line of the terminal has, and how many lines there are; 0 where w is none.
func sizeOf(w io.Writer) (width, height int) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

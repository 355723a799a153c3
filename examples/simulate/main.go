package main

import (
	"os"
	"runtime/debug"
)

func main() {
	// A hundred thousand clusters fit in less than a gigabyte, which is worth collecting garbage more often only once it
	// is near. Whoever has more clusters waits longer.
	debug.SetGCPercent(200)
	debug.SetMemoryLimit(850 << 20)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

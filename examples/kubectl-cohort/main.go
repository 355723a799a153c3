// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

func main() {
	// A hundred thousand clusters fit in less than a gigabyte, which is worth collecting garbage more often only once it
	// is near. With more clusters it waits longer.
	debug.SetGCPercent(200)
	debug.SetMemoryLimit(850 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

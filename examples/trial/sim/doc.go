// SPDX-License-Identifier: Apache-2.0

// Package sim tests Kubernetes controllers in virtual time. A world is a bubble of Go's testing/synctest: its clock leaps
// when all its goroutines wait, so hours take milliseconds, and its history follows from a seed. A world has API servers
// (Kubernetes' own code on an etcd that is a map), unmodified controllers and their clients, and a network between them
// with latencies and faults.
//
//	defs, err := sim.ReadDefinitions("widgets.yaml")
//	record := sim.Play(t, sim.Options{Seed: 7}, func(w *sim.World) {
//		server := w.NewServer("hub", defs.And(sim.Core()))
//		w.Go("controller", func(ctx context.Context) { run(ctx, server.Config("controller")) })
//		…
//		w.Settle(time.Minute, time.Hour)
//	})
//
// README.md has the requirements on a controller, what the seed decides, and what is not simulated.
package sim

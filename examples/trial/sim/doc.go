// Package sim tests Kubernetes controllers in virtual time. A world is a bubble of Go's testing/synctest: its clock leaps when all its goroutines
// wait, so hours take milliseconds, and what happens follows from a seed. In it run API servers, which are Kubernetes' own code over an etcd that
// is a map, unmodified controllers and their clients, and a network between them with latencies and faults.
//
//	defs, err := sim.ReadDefinitions("widgets.yaml")
//	record := sim.Play(t, sim.Options{Seed: 7}, func(w *sim.World) {
//		server := w.NewServer("hub", defs.And(sim.Core()))
//		w.Go("controller", func(ctx context.Context) { run(ctx, server.Config("controller")) })
//		…
//		w.Settle(time.Minute, time.Hour)
//	})
//
// README.md says what a controller has to keep to, what decides what, and what is not simulated.
package sim

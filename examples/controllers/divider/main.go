// SPDX-License-Identifier: Apache-2.0

// Command divider divides the limits of ManifestWorkReplicaSets between many hubs. It runs on the coordinator hub, and the
// hubs run works with the flags -hub and -coordinator-hub:
//
//	go run ./divider -kubeconfig coordinator.kubeconfig
//	go run ./works -kubeconfig hub-eu.kubeconfig -hub hub-eu -coordinator-hub coordinator.kubeconfig
//
// The documentation of package hubshares says what it writes, and what an operator does.
package main

import (
	"context"
	"flag"
	"time"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/hubshares"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
)

// The lease has the name rights: replicas of before the command was renamed ask for that one, and one process acts at a time.
func main() {
	workers := flag.Int("workers", 4, "how many sets are looked at at a time")
	timing := hubshares.TimingFlags()
	manager.Main("rights", scheme, func(_ context.Context, m ctrl.Manager) error {
		live, err := client.New(m.GetConfig(), client.Options{Scheme: m.GetScheme(), Mapper: m.GetRESTMapper(), HTTPClient: m.GetHTTPClient()})
		if err != nil {
			return err
		}
		return hubshares.Watch(m, *workers, &hubshares.Divider{Client: live, Timing: *timing, Now: time.Now})
	})
}

var scheme = manager.Scheme(workv1alpha1.Install, hubshares.Install)

// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
)

// undecided is a rollout plugin that leaves the verdict to an operator.
func undecided(t *testing.T) (endpoint string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Work json.RawMessage `json:"manifestWork"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		switch path.Base(r.URL.Path) {
		case "MutateManifestWork":
			_ = json.NewEncoder(w).Encode(asked)
		case "ValidateRolloutCompletion":
			_ = json.NewEncoder(w).Encode(plugins.Validation{Result: status.ValidationInProgress, Message: "a person says so"})
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// verdict is the verdict in the work of a cluster.
func (o *operator) verdict(cluster string) status.Verdict {
	o.t.Helper()
	at := slices.IndexFunc(clustersOf(o), func(name string) bool { return name == cluster })
	if at < 0 {
		return status.Verdict{}
	}
	for i := range o.works {
		if o.works[i].Namespace == cluster {
			v, err := status.VerdictOf(&o.works[i], cluster, time.Time{})
			o.must(err)
			return v
		}
	}
	return status.Verdict{}
}

// An operator freezes a cluster, allows another, approves, unfreezes and validates. The program works does that, and the
// explanation is right before and after.
func TestAUserFreezesAllowsAndValidates(t *testing.T) {
	t.Parallel()
	o := operate(t, "-plugin", "mesh="+undecided(t))
	o.says(o.asks("freeze", set.Name, "prod-01", "--reason", "maintenance of store 1", "-y"), `freeze prod-01 by "maintenance of store 1"; no cluster waits`, "no cluster starts at once", "web annotated")
	o.says(o.asks("freeze", set.Name, "prod-01", "--reason", "maintenance of store 1", "-y"), "prod-01 is frozen so already, nothing is written")
	o.says(o.asks("explain", "prod-01"), `prod-01 is frozen with no end: "maintenance of store 1"`, "the gate before group 0 is closed", "unfreeze prod-01")
	o.says(o.asks("status", set.Name), "gate 0: opening it starts 3 clusters now: prod-00 prod-02 prod-03")

	o.says(o.asks("start-first", set.Name, "prod-05", "-y"), "start prod-05 first, .*; the gate before group 0 opens; all others", "1 cluster starts at once: prod-05")
	o.eventually("prod-05 alone is done", func() bool { return o.have("one") == 1 && len(o.works) == 1 && answered(&o.works[0]) })
	o.stays("one", 1)
	o.says(o.asks("explain", "prod-00"), "prod-00.* not in the allowlist")

	o.says(o.asks("allow", set.Name, "-y"), "allow 7 clusters for version", "3 clusters start at once: prod-00 prod-02 prod-03")
	o.eventually("all have it but the one that is held", func() bool { return o.have("one") == 7 })
	o.stays("one", 7)
	o.says(o.asks("status", set.Name), `1 cluster: prod-01 is frozen with no end: "maintenance of store 1"`, "to do:  kubectl cohort unfreeze apps/web prod-01\n")
	o.says(o.asks("unfreeze", set.Name, "prod-01", "-y"), "1 cluster starts at once: prod-01")
	o.eventually("all have it", o.doneWith("one"))

	o.must(o.patch(`{"metadata":{"annotations":{"cohort.open-cluster-management.io/plugin":"mesh"}}}`))
	o.change(`{"text":"two"}`)
	o.eventually("no cluster is allowed for the next version", func() bool { return strings.Contains(o.asks("explain"), "are not in the allowlist") })
	o.says(o.asks("open-gate", set.Name, "-y"), "the gate is not all that blocks: .* not in the allowlist")
	o.stays("two", 0)
	o.says(o.asks("allow", set.Name, "prod-00", "prod-01", "-y"), "2 clusters start at once: prod-00 prod-01")
	o.eventually("two wait for validation", func() bool { return strings.Contains(o.asks("status", set.Name), "2 waiting for validation") })
	o.says(o.asks("explain", "prod-00"), "succeeds, and waits for validation", "to do: validate the version on prod-00")

	if _, said, err := o.tries(nil, "validate", set.Name, "prod-00", "yes", "-y"); err == nil || !strings.Contains(said, "nothing is written: ") || !strings.Contains(said, "is forbidden") {
		t.Errorf("without the right to patch works: %v: %s", err, said)
	}
	o.guard.allow(readRole(t, pluginPage, "kubectl-cohort"), readRole(t, pluginPage, "kubectl-cohort-decide"), readRole(t, pluginPage, "kubectl-cohort-validate"))
	o.says(o.asks("validate", set.Name, "prod-00", "yes", "-y"), "prod-00 is good with version", `(?m)^manifestwork.work.open-cluster-management.io/\S+ annotated$`)
	o.says(o.asks("validate", set.Name, "prod-01", "no", "--reason", "no route to store 1", "-y"), "prod-01 is not good", "stopped: prod-01 failed")
	o.eventually("works has noted both", func() bool { return !o.verdict("prod-00").Time.IsZero() && !o.verdict("prod-01").Time.IsZero() })
	o.says(o.asks("allow", set.Name, "-y"), "no cluster starts at once", `prod-01: "no route to store 1"`)
	o.stays("two", 2)
	o.says(o.asks("explain", "prod-01"), "fails")
	o.says(o.asks("validate", set.Name, "prod-01", "yes", "-y"), "3 clusters start at once: prod-02 prod-03 prod-04")
	o.eventually("the next three have it, and wait for validation", func() bool {
		return o.have("two") == 5 && strings.Contains(o.asks("status", set.Name), "3 waiting for validation")
	})
	o.says(o.asks("abort", set.Name, "-y"), "to the template of 3 clusters that wait; gates and the allowlist do not block that", `the concurrency limit is reached \(3 of 3 in flight\): prod-05, prod-06, prod-07 wait for validation`)
	o.says(o.asks("validate", set.Name, "prod-05", "yes", "-y"), "1 cluster starts at once: prod-00") // a cluster with the version before is now validated, too
	o.eventually("it goes back", func() bool { return o.have("two") == 4 })
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"fmt"
	"sync"

	workv1 "open-cluster-management.io/api/work/v1"
)

// versionIn is the version that a work carries, wantedBy that of a set's template, and wantedFor that of a cluster. Another payload
// than the harness's has none that is ever wanted.
func versionIn(work *manifestWork) string {
	version, _ := versionOfPayload(work.Spec.Workload)
	return version
}

func wantedBy(set *replicaSet) string {
	version, _ := versionOfPayload(set.Spec.ManifestWorkTemplate.Workload)
	return version
}

func wantedFor(set *replicaSet, cluster string) string {
	return withReplicas(wantedBy(set), replicasIn(set)[cluster])
}

// versionOfPayload reads the version from the first manifest, with the cluster's own number of replicas where there is one, or says
// why there is none.
func versionOfPayload(payload workv1.ManifestsTemplate) (version, lacks string) {
	if len(payload.Manifests) == 0 {
		return "none", "has no manifest"
	}
	raw := string(payload.Manifests[0].Raw)
	if known, is := payloads.Load(raw); is {
		return known.([2]string)[0], known.([2]string)[1]
	}
	version, lacks = readPayload(payload.Manifests[0].Raw)
	payloads.Store(raw, [2]string{version, lacks})
	return version, lacks
}

// payloads are what was read already, since the judge reads each many times.
var payloads sync.Map

func readPayload(raw []byte) (version, lacks string) {
	var configMap struct {
		Data struct{ Version, Replicas string }
	}
	switch err := json.Unmarshal(raw, &configMap); {
	case err != nil:
		return "none", fmt.Sprintf("has a first manifest that cannot be read: %v", err)
	case configMap.Data.Version == "":
		return "none", "has a first manifest without data.version"
	}
	return withReplicas(configMap.Data.Version, configMap.Data.Replicas), ""
}

// checkPayloads finds works that carry something else than the template of the set ever had, and sets with a template that the
// controller changed, which is the user's.
func (h *history) checkPayloads() (broken []violation) {
	for _, e := range h.events {
		w := h.written[e.rv]
		if w == nil || e.gone {
			continue
		}
		switch o := e.object.(type) {
		case *manifestWork:
			if _, lacks := versionOfPayload(o.Spec.Workload); lacks != "" {
				broken = append(broken, violation{invariant: invPayload, rv: e.rv, text: fmt.Sprintf("%s of reconcile %d %s, and must have the manifests of the set's template", e.id, w.reconcile, lacks)})
			}
		case *replicaSet:
			if before, _ := h.at(e.id, e.rv-1).(*replicaSet); before != nil && o.DeletionTimestamp == nil && before.Generation != o.Generation {
				broken = append(broken, violation{invariant: invPayload, rv: e.rv, text: fmt.Sprintf("reconcile %d changed the spec of %s, which is the user's", w.reconcile, e.id)})
			}
		}
	}
	return broken
}

// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// openGatesAnnotation is where package approvals reads which gates operators opened.
const openGatesAnnotation = ownPrefix + "open-gates"

// opening says how an operator opens the first closed gate that blocks clusters, with the command. It is empty if there is
// none. Only the first one is named: the annotation has one value, so that commands for several would undo each other.
func (r *reconciler) opening(owner client.Object, planned *situation) string {
	for i, placed := range planned.progress.Placements {
		for _, blocked := range placed.BlockCounts() {
			if blocked.Reason.Type != rollout.BlockGateClosed {
				continue
			}
			asked := planned.wanted.approvals
			if asked.OpenGates.Version != planned.wanted.version {
				asked.OpenGates.Groups = nil
			}
			asked.OpenGates.Version = planned.wanted.version
			asked.OpenGates.Groups = join(asked.OpenGates.Groups, planned.wanted.gatesBefore(planned.wanted.Placements[i], blocked.Reason.Group))
			opened := &metav1.ObjectMeta{}
			if _, err := asked.Note(opened); err != nil {
				continue // a name that no annotation can have
			}
			return fmt.Sprintf("to open the gate, run kubectl annotate --overwrite -n %s %s/%s %s=%s",
				owner.GetNamespace(), strings.TrimSuffix(strings.ToLower(r.groupKind().String()), "."), owner.GetName(), openGatesAnnotation, shellQuoted(opened.Annotations[openGatesAnnotation]))
		}
	}
	return ""
}

// gatesBefore are the keys of the gates before a group of a Placement, as open-gates has to name them.
func (w wantedRollout) gatesBefore(placement Placement, group grouping.Key) []grouping.Key {
	var keys []grouping.Key
	for _, gate := range join(w.approvals.Gates, keyed(placement.Options.Gates)) {
		key := gate.Group
		here := key.Placement == "" || key.Placement == placement.Name
		if same := key.Name == group.Name && key.Name != "" || key.Name == "" && key.Index == group.Index; here && same && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// shellQuoted is a text for a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

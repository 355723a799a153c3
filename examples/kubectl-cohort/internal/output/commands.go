// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// commands are those of this program with which a user can end a wait, each once. Where a controller has written that is not of this
// library, they are those alone that every controller obeys, and so they are where nothing is written and no annotation asks for anything.
func commands(s *scenario.Scenario, waiting []Reason, validating []string) (all []string) {
	kind, name, _ := strings.Cut(s.Owner, " ") // with the namespace, as the context may be at another
	if s.Aborted || s.Ends {
		return nil
	}
	for _, reason := range waiting {
		for _, link := range reason.Explanation {
			for _, remedy := range link.Remedies {
				if command := command(s, kind, name, remedy); command != "" && !slices.Contains(all, command) {
					all = append(all, command)
				}
			}
		}
	}
	if len(validating) > 0 && !slices.ContainsFunc(all, func(command string) bool { return strings.Contains(command, " validate ") }) {
		all = append(all, fmt.Sprintf("kubectl cohort validate %s %s yes", name, validating[0]))
	}
	return all
}

// command is the one for a remedy; empty where there is none.
func command(s *scenario.Scenario, kind, name string, r rollout.Remedy) string {
	replicaSet := kind == "ManifestWorkReplicaSet"
	switch {
	case r.Type == rollout.RemedyRevert && replicaSet:
		return "kubectl cohort abort " + name
	case !s.Stamped && (s.Live || !s.Decided || kind == "ClusterManagementAddOn"):
		return ""
	case r.Type == rollout.RemedyResume:
		return "kubectl cohort resume " + name
	case r.Type == rollout.RemedyOpenGate:
		return "kubectl cohort open-gate " + name + " " + gateOf(s, r.Group)
	case r.Type == rollout.RemedyTryAgain && replicaSet:
		return "kubectl cohort retry " + name
	case r.Type == rollout.RemedyIgnore:
		return "kubectl cohort ignore " + name + " " + named(r)
	case r.Type == rollout.RemedyUnfreeze:
		return "kubectl cohort unfreeze " + name + " " + named(r)
	case r.Type == rollout.RemedyAllow && strings.HasSuffix(r.Clusters, " more"):
		return "kubectl cohort allow " + name
	case r.Type == rollout.RemedyAllow:
		return "kubectl cohort allow " + name + " " + named(r)
	case r.Type == rollout.RemedyValidate && replicaSet:
		cluster, _, _ := strings.Cut(named(r), " ")
		return "kubectl cohort validate " + name + " " + cluster + " yes"
	}
	return ""
}

// named are the clusters that a remedy names, as words of a command.
func named(r rollout.Remedy) string {
	clusters, _, _ := strings.Cut(strings.ReplaceAll(r.Clusters, ",", ""), " and ")
	return strings.NewReplacer(" (left)", "", " (deselected)", "").Replace(clusters)
}

// word is what a command calls a group.
func word(key grouping.Key) string {
	if key.Name != "" {
		return key.Name
	}
	return fmt.Sprint(key.Index)
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"strings"
	"time"
)

const (
	validateAnnotation = "cohort.open-cluster-management.io/validate"
	verdictAnnotation  = "cohort.open-cluster-management.io/verdict"
	versionAnnotation  = "cohort.open-cluster-management.io/version"
)

// isValidated says whether the clusters of a trial are validated.
func isValidated(t *trial) bool {
	return t.ignored == DutyVerdict || t.ignored == "" && drawn(t.seed, "validated").IntN(5) == 0
}

// policyVerdict is what the annotation of a replica has.
type policyVerdict struct {
	Result  string     `json:"result"`
	Version string     `json:"version"`
	Time    *time.Time `json:"time,omitempty"`
}

// verdictOnPolicy says whether and when a replica's cluster was found good, with the version that it has by its stamp.
func verdictOnPolicy(o object) (good bool, at time.Time) {
	var v policyVerdict
	if err := json.Unmarshal([]byte(o.GetAnnotations()[verdictAnnotation]), &v); err != nil || v.Time == nil {
		return false, at
	}
	return v.Result == "SUCCEEDED" && v.Version == stampedVersion(o), *v.Time
}

// approvePolicy is what a person writes, without a time.
func approvePolicy(o object) map[string]any {
	version := stampedVersion(o)
	if version == "" {
		return nil
	}
	text, err := json.Marshal(policyVerdict{Result: "SUCCEEDED", Version: version})
	if err != nil {
		panic(err)
	}
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{verdictAnnotation: string(text)}}}
}

// stampedVersion is the version of a replica as its controller names it.
func stampedVersion(o object) string {
	version, _, _ := strings.Cut(o.GetAnnotations()[versionAnnotation], " ")
	return version
}

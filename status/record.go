// SPDX-License-Identifier: Apache-2.0

package status

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/clauses"
)

// annotationRecords holds the Records of an owner.
const annotationRecords = "cohort.open-cluster-management.io/left"

// mostAnnotations is how many bytes the annotations of an object may take, as apimachinery validates them.
const mostAnnotations = 256 << 10

// Records are the records of an owner, one for each of its rollouts: by the names of its placements, or by the empty name where
// one rollout goes for all of them.
type Records map[string]Record

// Record is what the owner of a rollout keeps about deselected clusters with its version, so that their failures and starts
// count when their objects are gone. Package rollout says what has to be in it. The controller only stores it, with
// [Records.Note], and reads it back, with [RecordsOf].
//
// It has at most 256 entries. What all parts of a selection ([grouping.Apart]) have takes at most 200 KiB of JSON together,
// an entry about 200 bytes. It fits the 256 KiB that the annotations of an object may have, but not the message of a condition.
type Record struct {
	// Version is the version of the workload that the record is about.
	Version string `json:"version,omitempty"`
	// Attempt is the attempt at that version which was wanted when the record was made.
	Attempt int `json:"attempt,omitempty"`
	// Deselected are the clusters, in the order of their names.
	Deselected []DeselectedCluster `json:"left,omitempty"`
	// Exposed is the most clusters that the groups exposed at a time since the first of these was deselected or moved (package
	// rollout/exposure). As many may be exposed as long as one of them counts.
	Exposed int `json:"exposed,omitempty"`
	// Breached are budgets that too many failures exceed. Nothing starts until these clusters recover, however the groups are changed.
	Breached []Breached `json:"breached,omitempty"`
	// More is how many clusters the record has no room for. Where it is not 0, nothing starts until another version or attempt
	// is wanted, a user removes the record, or Until comes.
	More int `json:"more,omitempty"`
	// Until is when More counts no longer, as those clusters only started or succeeded lately. It is zero where one of them
	// failed or was in flight.
	Until time.Time `json:"until,omitzero"`
}

// DeselectedCluster is the last report about a deselected cluster.
type DeselectedCluster struct {
	// Report is TimeOut or Failed for a cluster that failed, Progressing, Validating or ToApply for one in flight, Succeeded for one that
	// soaks or succeeded, and Skip for one that only started.
	Report
	// Group is the group in which the cluster counts.
	Group grouping.Key `json:"group"`
}

// Breached is a budget that too many failures exceed.
type Breached struct {
	// Group is the group whose budget it is, unless AllGroups says that it is the one over all clusters.
	Group     grouping.Key `json:"group,omitzero"`
	AllGroups bool         `json:"allGroups,omitempty"`
	// Of is how many clusters had the budget: a percentage is of them.
	Of int `json:"of"`
	// Clusters are those that failed, in the order of their names.
	Clusters []string `json:"clusters"`
}

// RecordsOf reads the records from an object's annotation cohort.open-cluster-management.io/left. There are none where it is
// missing. It is an error (a *field.Error) if the annotation has no records. A controller must not continue then: it would forget failures.
func RecordsOf(object metav1.Object) (Records, error) {
	text, noted := object.GetAnnotations()[annotationRecords]
	if !noted {
		return nil, nil
	}
	var records Records
	path := field.NewPath("metadata", "annotations").Key(annotationRecords)
	if err := json.Unmarshal([]byte(text), &records); err != nil {
		return nil, field.Invalid(path, shortened(text), "must be the JSON of records by placement: "+err.Error())
	}
	for _, placement := range slices.Sorted(maps.Keys(records)) {
		record, path := records[placement], path.Key(placement)
		if record.More < 0 || record.Attempt < 0 || record.Exposed < 0 {
			return nil, field.Invalid(path, shortened(text), "must not have an attempt or a number of clusters below 0")
		}
		for i := range record.Breached {
			if record.Breached[i].Of < 0 {
				return nil, field.Invalid(path.Child("breached").Index(i).Child("of"), record.Breached[i].Of, "must not be below 0")
			}
		}
		for i := range record.Deselected {
			if record.Deselected[i].Cluster == "" {
				return nil, field.Required(path.Child("left").Index(i).Child("cluster"), "must be the name of a ManagedCluster")
			}
		}
	}
	return records, nil
}

// Note writes the records into the object's annotation, and says whether that changed anything. Records without clusters or breaches are
// left out. It is an error if a time cannot be written, as it is after the year 9999, or a *field.Error if the annotations become
// larger than Kubernetes allows. Then other annotations have to go first.
func (records Records) Note(object metav1.Object) (changed bool, err error) {
	kept := make(Records, len(records))
	for placement, record := range records {
		if len(record.Deselected) > 0 || len(record.Breached) > 0 || record.More > 0 {
			kept[placement] = record
		}
	}
	text := ""
	if len(kept) > 0 {
		bytes, err := json.Marshal(kept)
		if err != nil {
			return false, err
		}
		text = string(bytes)
	}
	if object.GetAnnotations()[annotationRecords] == text {
		return false, nil
	}
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = make(map[string]string, 1)
	}
	if annotations[annotationRecords] = text; text == "" {
		delete(annotations, annotationRecords)
	}
	size := 0
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	if path := field.NewPath("metadata", "annotations"); size > mostAnnotations {
		return false, field.Invalid(path, size, fmt.Sprintf("must take at most %d bytes; the records take %d of them", mostAnnotations, len(text)))
	}
	object.SetAnnotations(annotations)
	return true, nil
}

// shortened gives the beginning of a long text, for an error.
func shortened(text string) string { return clauses.Shorten(text, 64) }

// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// annotationPlugin names the rollout plugin that validates the clusters of a ManifestWorkReplicaSet. Where there is none, no plugin is asked for
// verdicts, and none counts.
const annotationPlugin = annotationPrefix + "plugin"

// annotationValidate of a Policy says whether its clusters are validated.
const annotationValidate = annotationPrefix + "validate"

// judge lets count what was said of clusters that succeeded, as the controller works does. The reports are those of the works, in
// their order. A verdict without a time is of now, and where the time is unknown that is, of the success.
func (s *Scenario) judge(r applier, works []source[workv1.ManifestWork], reports []status.Report, now time.Time) []status.Report {
	if s.Validator = r.GetAnnotations()[annotationPlugin]; s.Validator == "" {
		return reports
	}
	s.note("validated by the plugin %s: a cluster that succeeded counts once it is found good", s.Validator)
	s.noteUnloaded(r)
	var verdicts []status.Verdict
	for i, work := range works {
		v, err := status.VerdictOf(work.typed, work.GetNamespace(), now)
		if err != nil {
			s.note("%v: no cluster starts as long as that stands there", work.Fault(err))
			s.Asked.Pause = true
			continue
		}
		if v.Cluster == "" {
			continue
		}
		if v.Time.IsZero() {
			v.Time = Since(&reports[i])
		}
		verdicts = append(verdicts, v)
	}
	s.Unjudged = merged(reports)
	return status.Judge(reports, s.Version, verdicts)
}

// noteUnloaded notes that the controller has no use of the plugin.
func (s *Scenario) noteUnloaded(r applier) {
	conditions, _, _ := unstructured.NestedSlice(r.Object.Object, "status", "conditions")
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		if fields["type"] == "PluginLoaded" && fields["status"] == "False" {
			s.note("its controller says in the condition PluginLoaded: %v", fields["message"])
		}
	}
}

// succeeded gives the time of the success of a cluster that has to be validated as well; zero where that is unknown.
func (s *Scenario) succeeded(cluster string) time.Time {
	for i := range s.Unjudged {
		if r := &s.Unjudged[i]; r.Cluster == cluster && r.Status == status.Succeeded {
			return Since(r)
		}
	}
	return time.Time{}
}

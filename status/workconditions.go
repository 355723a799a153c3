// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/internal/clauses"
)

// What the messages of a work say that nothing calls progressing.
const (
	noRule       = "its template has no conditionRules that set the condition Progressing, so it is unknown when the workload is done"
	ruleGaveNone = "the conditionRules in its template gave no condition Progressing"
)

// stands gives what the conditions of the work say: status, the time from which it counts, reason and message.
func (w WorkState) stands() Report {
	applied, progressing, degraded := w.find(workv1.WorkApplied), w.find(workv1.WorkProgressing), w.find(workv1.WorkDegraded)
	switch {
	case applied.is(metav1.ConditionFalse):
		return Report{Status: ToApply, Reason: ReportRefused, Message: w.message(applied)}
	case !applied.is(metav1.ConditionTrue), progressing.isLate(), degraded.isLate():
		return Report{Status: ToApply}
	case progressing.condition == nil:
		return w.standsByAvailable(applied, degraded)
	case progressing.is(metav1.ConditionFalse) && w.ruleError() == "":
		return Report{Status: Succeeded, LastTransitionTime: progressing.since()}
	case progressing.is(metav1.ConditionFalse):
		return Report{Status: Progressing, LastTransitionTime: progressing.since(), Message: w.ruleError()}
	case progressing.is(metav1.ConditionTrue) && degraded.is(metav1.ConditionTrue):
		return Report{Status: Failed, LastTransitionTime: later(progressing.since(), degraded.since()), Message: w.message(degraded)}
	default:
		return Report{Status: Progressing, LastTransitionTime: progressing.since(), Message: w.message(progressing)}
	}
}

// standsByAvailable does what stands does for a work that was applied and has no condition Progressing. The agent sets Available
// together with the conditions that rules give. From then on it is known that no rule gives Progressing, but for rules about
// manifests that are not there yet.
func (w WorkState) standsByAvailable(applied, degraded workCondition) Report {
	available := w.find(workv1.WorkAvailable)
	if !available.current || !w.hasAvailability() {
		return Report{Status: ToApply}
	}
	isAvailable, isDegraded := available.is(metav1.ConditionTrue), degraded.is(metav1.ConditionTrue)
	report := Report{Status: Progressing, LastTransitionTime: later(applied.since(), available.since()), Message: w.message(available)}
	if isDegraded {
		report.Message = w.message(degraded)
	}
	ruled := w.hasRule()
	switch {
	case w.AvailableSucceeds && !ruled && isAvailable && isDegraded:
		report.Status, report.LastTransitionTime = Failed, later(report.LastTransitionTime, degraded.since())
	case w.AvailableSucceeds && !ruled && isAvailable:
		report.Status, report.Message = Succeeded, ""
	case w.AvailableSucceeds && !ruled, ruled && !isAvailable:
	case !isAvailable, isDegraded:
		report.Reason = ReportUntracked
	case ruled:
		report.Reason, report.Message = ReportUntracked, ruleGaveNone
	default:
		report.Reason, report.Message = ReportUntracked, noRule
	}
	return report
}

// workCondition is a condition of a work; nil where there is none. It is current if it has observed the work's generation.
type workCondition struct {
	condition *metav1.Condition
	current   bool
}

func (w WorkState) find(conditionType string) workCondition {
	condition := meta.FindStatusCondition(w.Work.Status.Conditions, conditionType)
	return workCondition{condition, condition != nil && (condition.ObservedGeneration == w.Work.Generation || condition.ObservedGeneration == specGeneration(w.Work))}
}

func (condition workCondition) is(value metav1.ConditionStatus) bool {
	return condition.current && condition.condition.Status == value
}
func (condition workCondition) isLate() bool     { return condition.condition != nil && !condition.current }
func (condition workCondition) since() time.Time { return condition.condition.LastTransitionTime.Time }

// hasAvailability says whether the agent has looked at each manifest. The status of a new manifest lacks Available at first.
func (w WorkState) hasAvailability() bool {
	for _, condition := range w.Work.Status.ResourceStatus.Manifests {
		if meta.FindStatusCondition(condition.Conditions, workv1.ManifestAvailable) == nil {
			return false
		}
	}
	return true
}

// hasRule says whether the template has a rule for the condition Progressing.
func (w WorkState) hasRule() bool {
	for _, config := range w.Work.Spec.ManifestConfigs {
		for _, rule := range config.ConditionRules {
			if rule.Condition == workv1.WorkProgressing {
				return true
			}
		}
	}
	return false
}

// ruleError gives the message of the first rule for Progressing that could not be evaluated; empty if there is none. By convention
// the agent says False then.
func (w WorkState) ruleError() string {
	for _, condition := range w.Work.Status.ResourceStatus.Manifests {
		c := meta.FindStatusCondition(condition.Conditions, workv1.WorkProgressing)
		if c == nil || c.ObservedGeneration != w.Work.Generation && c.ObservedGeneration != specGeneration(w.Work) {
			continue
		}
		switch c.Reason {
		case workv1.ConditionRuleInvalid, workv1.ConditionRuleExpressionError, workv1.ConditionRuleInternalError:
			return manifestMessage(&condition.ResourceMeta, c.Reason+" "+c.Message)
		}
	}
	return ""
}

// message gives what the first manifest says whose condition has the type and the status of the given one. The message of a work's
// condition often only counts manifests.
func (w WorkState) message(of workCondition) string {
	for _, condition := range w.Work.Status.ResourceStatus.Manifests {
		c := meta.FindStatusCondition(condition.Conditions, of.condition.Type)
		switch {
		case c == nil, c.Status != of.condition.Status, c.Message == "":
		case c.ObservedGeneration != 0 && c.ObservedGeneration != of.condition.ObservedGeneration:
		default:
			return manifestMessage(&condition.ResourceMeta, c.Message)
		}
	}
	return clauses.Line(of.condition.Message)
}

func manifestMessage(of *workv1.ManifestResourceMeta, message string) string {
	return clauses.Line(strings.TrimSpace(fmt.Sprintf("%s %s", of.Kind, of.Name)) + ": " + message)
}

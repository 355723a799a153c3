// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strconv"
	"strings"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/status"
)

// judge prints the report of the scene's work, by verdicts on it: a line each, like "FAILED 12:05 why", perhaps with "version=v1" and
// "attempt=1" before.
func (s *stage) judge(c scene.Command) string {
	w := &s.object
	version := status.StampOf(w).Version
	r, ok := status.FromManifestWork(status.WorkState{Work: w, Version: version})
	if !ok {
		return "nothing to report"
	}
	var verdicts []status.Verdict
	for _, line := range lines(c.Input) {
		v, fields := status.Verdict{Cluster: w.Namespace, Version: version}, strings.Fields(line)
		for ; strings.Contains(fields[0], "="); fields = fields[1:] {
			given := words(fields[:1])
			if named, is := given["version"]; is {
				v.Version = named
			} else {
				v.Attempt, _ = strconv.Atoi(given["attempt"])
			}
		}
		v.Result = status.ValidationResult(fields[0])
		if len(fields) > 1 {
			v.Time = s.clock(fields[1])
			v.Message = strings.Join(fields[2:], " ")
		}
		verdicts = append(verdicts, v)
	}
	judged := status.Judge([]status.Report{r}, version, verdicts)[0]
	if judged.Message != "" {
		return report(judged) + " message=" + strconv.Quote(judged.Message)
	}
	return report(judged)
}

package rollout_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// people is what people and validators said in a scene. The lines:
//
//	validated                       clusters that succeed have to be validated
//	verdict a FAILED 1m why         a verdict of a minute ago; `attempt 1` and `version w` before the result: about those
type people struct {
	validated bool
	verdicts  []status.Verdict
}

// judge gives what the verdicts make of reports.
func (p *people) judge(reports []status.Report) []status.Report {
	if !p.validated {
		return reports
	}
	return status.Judge(reports, "v", p.verdicts)
}

// decide takes in a line about what people say, and says whether there is such a line.
func (s *stage) decide(words []string, rest string) (known bool, err error) {
	switch words[0] {
	case "validated":
		s.people.validated = true
	case "verdict":
		err = s.verdict(words[1:])
	default:
		return false, nil
	}
	return true, err
}

func (s *stage) verdict(words []string) (err error) {
	v := status.Verdict{Cluster: words[0], Version: "v"}
	words = words[1:]
	for ; len(words) > 1; words = words[2:] {
		if words[0] == "version" {
			v.Version = words[1]
			continue
		} else if words[0] != "attempt" {
			break
		}
		if v.Attempt, err = strconv.Atoi(words[1]); err != nil {
			return err
		}
	}
	age, err := time.ParseDuration(words[1])
	v.Result, v.Time, v.Message = status.ValidationResult(words[0]), s.now.Add(-age), strings.Join(words[2:], " ")
	s.people.verdicts = append(s.people.verdicts, v)
	return err
}

package trial

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A world ends at one moment. What an agent says when nobody answers it any more is not held against the status of then.
func TestWhatComesAfterTheEndIsNotJudged(t *testing.T) {
	aborted := dawn.Add(time.Second)
	subject := &Subject{
		Revision:  func(set *replicaSet) string { return wantedBy(set) },
		Revisions: func(*replicaSet) Revisions { return Revisions{Current: "v1", Update: "v2", Aborted: aborted} },
	}
	says := func(*replicaSet) Saying { return Saying{Over: true, Message: ": 1 of 1 clusters went back to v1"} }
	for name, tt := range map[string]struct {
		after bool // it fails when the world has ended
		want  string
	}{
		"the agent fails again when the world has ended":      {true, ""},
		"the agent has failed before, and it does not say so": {false, `should say ": 0 of 1 clusters`},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.set("v2", "p")
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1})
		p := &player{world: &world{}, subject: subject}
		answers := func(done bool) {
			o := &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: setName, Generation: 1}, Spec: payload("v1")}
			o.Status.Conditions = observe(nil, map[bool]phase{true: ok, false: failing}[done], 1, dawn)
			s.add(Works, o)
		}
		answers(true)
		p.events = s.events
		p.end(dawn.Add(time.Minute))
		answers(false)
		p.events = s.events
		if !tt.after {
			p.end(dawn.Add(time.Minute))
		}
		var status []violation
		for _, v := range p.judged().checkBack(p.ended, says) {
			if v.invariant == invStatus {
				status = append(status, v)
			}
		}
		if found := len(status) == 1 && strings.Contains(status[0].text, tt.want); found != (tt.want != "") || tt.want == "" && len(status) > 0 {
			t.Errorf("%s: %v", name, status)
		}
	}
}

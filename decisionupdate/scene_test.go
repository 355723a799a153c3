// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/internal/scene"
)

// The scenes. Their commands are in testdata/scenes/README.md.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{t: t}
		return func(c scene.Command) string {
			switch c.Name {
			case "diff":
				return s.diff(c)
			case "apply":
				return s.apply(c.Args)
			}
			t.Fatalf("%s:%d: there is no command %s", c.File, c.Line, c.Name)
			return ""
		}
	})
}

// stage is where a scene is played.
type stage struct {
	t      *testing.T
	server *server
	update decisionupdate.Update
}

func (s *stage) diff(c scene.Command) string {
	strategy := rolling
	for _, arg := range c.Args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "all":
			strategy.Type = ""
		case "surge-and-finalize":
			strategy.SurgeAndFinalize = true
		case "max-steps":
			n, err := strconv.Atoi(value)
			if err != nil {
				s.t.Fatal(err)
			}
			strategy.MaxSteps = n
		default:
			s.t.Fatalf("%s:%d: diff knows no %s", c.File, c.Line, arg)
		}
	}
	stored, desired, found := strings.Cut("\n"+c.Input, "\ndesired\n")
	if !found || !strings.HasPrefix(stored, "\nstored") {
		s.t.Fatalf("%s:%d: want a line \"stored\" and a line \"desired\"", c.File, c.Line)
	}
	s.server = newServer(objects(strings.TrimPrefix(stored, "\nstored"))...)
	update, err := decisionupdate.Diff(s.server.list(), objects(desired), strategy)
	s.update = update
	if err != nil {
		return err.Error()
	}
	out := update.String()
	if out == "" {
		out = "nothing to do\n"
	}
	for _, m := range update.Misplaced {
		out += m.String() + "\n"
	}
	return out
}

func (s *stage) apply(args []string) string {
	var client decisionupdate.Client = s.server
	if len(args) == 3 {
		switch args[0] {
		case "silent":
			client = silent{s.server, args[1], args[2]}
		default:
			s.server.before = func(verb, name string) error {
				switch {
				case verb != args[1] || name != args[2]:
					return nil
				case args[0] == "lost":
					return errors.New("connection reset by peer")
				}
				return apierrors.NewForbidden(decisions, name, errors.New("no"))
			}
		}
	}
	outcome, err := decisionupdate.Applier{Client: client}.Apply(s.t.Context(), s.update)
	out := outcome.String() + "\n" + strings.ReplaceAll(brief(outcome), ", ", "\n") + "\n"
	if err != nil {
		out += "error: " + err.Error() + "\n"
	}
	return out
}

// objects reads the objects of a scene.
func objects(text string) []*pd {
	var all []*pd
	for line := range strings.Lines(text) {
		head, clusters, _ := strings.Cut(strings.TrimSpace(line), ":")
		var names []string
		for _, name := range strings.Fields(clusters) {
			names = append(names, spread(name)...)
		}
		if size, found := strings.CutPrefix(head, "each "); found {
			n, err := strconv.Atoi(size)
			if err != nil {
				panic(err)
			}
			for part := range slices.Chunk(names, n) {
				all = append(all, decision(fmt.Sprintf("web-decision-%d", len(all)+1), part...))
			}
		} else if head != "" {
			all = append(all, state(head+": "+strings.Join(names, " "))...)
		}
	}
	return all
}

// spread turns "c08..c10" into c08, c09 and c10.
func spread(name string) []string {
	from, to, found := strings.Cut(name, "..")
	if !found {
		return []string{name}
	}
	digits := strings.TrimLeft(from, "abcdefghijklmnopqrstuvwxyz")
	prefix := from[:len(from)-len(digits)]
	first, err := strconv.Atoi(digits)
	last, err2 := strconv.Atoi(strings.TrimPrefix(to, prefix))
	if err != nil || err2 != nil {
		panic(name)
	}
	var names []string
	for n := first; n <= last; n++ {
		names = append(names, fmt.Sprintf("%s%0*d", prefix, len(digits), n))
	}
	return names
}

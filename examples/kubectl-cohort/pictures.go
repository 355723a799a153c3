// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/timeline"
)

// pictures are the flags that ask for a picture of the rollout besides the report.
type pictures struct {
	svg, png string
	chart    bool

	// timelines are for the rollouts that were played, and made when they are drawn.
	timelines []func() picture.Timeline
}

func (pics *pictures) declare(s *pflag.FlagSet) {
	s.StringVar(&pics.svg, "svg", pics.svg, "write a picture of the rollout to this `file`: clusters by state and groups against time")
	s.StringVar(&pics.png, "png", pics.png, "the same picture as PNG, to this `file`")
	s.BoolVar(&pics.chart, "chart", pics.chart, "draw a chart of the rollout in the terminal, below the report")
}

// check finds what is wrong before there is anything to draw.
func (pics *pictures) check(f format) error {
	if pics.chart && f != "" && f != "text" {
		return fmt.Errorf("--chart: must be given without -o %s, which writes to the same output", f)
	}
	if pics.svg == "-" || pics.png == "-" {
		return errors.New("--svg and --png: must be the name of a file, as standard output has the report: ./- is one of that name")
	}
	if pics.svg != "" && filepath.Clean(pics.svg) == filepath.Clean(pics.png) {
		return errors.New("--svg and --png: must not be the same file")
	}
	return nil
}

// write draws what is asked for. A picture that can't be finished leaves no file behind.
func (pics *pictures) write(t picture.Timeline, stdout io.Writer) error {
	err := errors.Join(drawFile(pics.svg, t.SVG), drawFile(pics.png, t.PNG))
	if err == nil && pics.chart {
		if _, err = io.WriteString(stdout, "\n"); err == nil {
			err = t.Chart(stdout, picture.Colour(stdout, os.Getenv))
		}
	}
	return err
}

// keep remembers a rollout for its picture.
func (pics *pictures) keep(r output.Report, s *scenario.Scenario, how scenario.Play, trace, back *simulation.Trace) error {
	if pics.svg == "" && pics.png == "" && !pics.chart {
		return nil
	}
	plan, err := s.Now(how.Options, how.Start)
	if err != nil {
		return err
	}
	states := timeline.States(s.Groups, plan, s.Ignored)
	pics.timelines = append(pics.timelines, func() picture.Timeline { return drawn(r, s, trace, back, states) })
	return nil
}

// of refuses files for several rollouts.
func (pics *pictures) of(rollouts int) error {
	if rollouts > 1 && (pics.svg != "" || pics.png != "") {
		return fmt.Errorf("--svg and --png: a picture has one of the %d rollouts: must be given with --rollout", rollouts)
	}
	return nil
}

// draw writes the pictures of what was played: a chart of each rollout, and files of a single one.
func (f *flags) draw(stdout io.Writer) error {
	defer f.progress.begin("drawing")()
	for _, timeline := range f.pictures.timelines {
		if err := f.pictures.write(timeline(), stdout); err != nil {
			return err
		}
	}
	return nil
}

func drawn(r output.Report, s *scenario.Scenario, trace, back *simulation.Trace, states []picture.State) picture.Timeline {
	t := timeline.Of(s.Groups, trace, back, states)
	t.Title = fmt.Sprintf("%s: %d clusters, %s", r.Placement.Name, r.Placement.Clusters, r.Rollout.Object)
	t.Sentence = fmt.Sprintf("%s: %s", r.End.Outcome, r.Clock.Read(r.End.Message))
	return t
}

// drawFile writes a file, if it has a name.
func drawFile(name string, draw func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := errors.Join(draw(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// rows is a number of rows, or all; the zero value is the number that a text has by default.
type rows int

func (table *rows) String() string {
	switch {
	case *table == 0:
		return strconv.Itoa(output.DefaultRows)
	case *table < 0:
		return "all"
	}
	return strconv.Itoa(int(*table))
}

func (table *rows) Set(s string) error {
	if s == "all" {
		*table = output.AllRows
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 2 {
		return errors.New("must be a whole number of at least 2, or all")
	}
	*table = rows(n)
	return nil
}

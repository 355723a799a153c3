package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/picture"
)

// pictures are the flags that ask for a picture of the rollout besides the report.
type pictures struct {
	svg, png string
	chart    bool
}

func (p *pictures) declare(s *flag.FlagSet) {
	s.StringVar(&p.svg, "svg", p.svg, "write a picture of the rollout to this `file`: clusters by state and groups against time")
	s.StringVar(&p.png, "png", p.png, "the same picture as PNG, to this `file`")
	s.BoolVar(&p.chart, "chart", p.chart, "draw a chart of the rollout in the terminal, below the report")
}

// check finds what is wrong before there is anything to draw.
func (p *pictures) check() error {
	if p.svg != "" && filepath.Clean(p.svg) == filepath.Clean(p.png) {
		return errors.New("-svg and -png name the same file, want one for each")
	}
	return nil
}

// wanted says whether any picture is asked for.
func (p *pictures) wanted() bool { return p.svg != "" || p.png != "" || p.chart }

// write draws what is asked for. A picture that can't be finished leaves no file behind.
func (p *pictures) write(t picture.Timeline, stdout io.Writer) error {
	err := errors.Join(drawFile(p.svg, t.SVG), drawFile(p.png, t.PNG))
	if err == nil && p.chart {
		if _, err = io.WriteString(stdout, "\n"); err == nil {
			err = t.Chart(stdout, picture.Colour(stdout, os.Getenv))
		}
	}
	return err
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

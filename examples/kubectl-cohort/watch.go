// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
)

// watch writes how the rollouts stand until it is interrupted: in a terminal in place, elsewhere a line for each thing that
// changed. An error of a later reading is said, and the next one may be without.
func (f *flags) watch(cmd *cobra.Command, form statusFormat) error {
	w := cmd.OutOrStdout()
	var before []output.Standing
	for {
		width, height := sizeOf(w)
		all, draw, err := f.look(cmd, form, width, before == nil)
		switch {
		case cmd.Context().Err() != nil:
			return nil
		case err != nil && before == nil:
			return err
		case err != nil:
			err = print(w, fmt.Sprintf("%s %v\n", time.Now().UTC().Format(time.TimeOnly), err))
		case width > 0:
			err = redraw(w, draw, width, height)
		case before == nil:
			err = write(w, all, form)
		default:
			err = print(w, news(before, all))
		}
		if err != nil {
			return err
		}
		if len(all) > 0 {
			before = all
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(f.interval):
		}
	}
}

// look reads the rollouts, and says how they are drawn in a terminal of this width: as trees, or as a table where it was asked for or where
// there are many. Elsewhere a forecast is there where it is wanted.
func (f *flags) look(cmd *cobra.Command, form statusFormat, width int, forecast bool) ([]output.Standing, func(io.Writer) error, error) {
	const mostTrees = 3
	if width == 0 || form != "" {
		all, err := f.standings(cmd, forecast || width > 0)
		return all, func(w io.Writer) error { return write(w, all, form) }, err
	}
	views, err := f.views(cmd)
	all := standingsOf(views)
	if len(views) > mostTrees {
		return all, func(w io.Writer) error { return write(w, all, form) }, err
	}
	return all, treesOf(views, width), err
}

// news has a line for each rollout of which something changed.
func news(before, now []output.Standing) string {
	var b strings.Builder
	was := make(map[string]output.Standing)
	for _, one := range before {
		was[one.Rollout] = one
	}
	for _, one := range now {
		text := one.Rollout + ": is new"
		if old, found := was[one.Rollout]; found {
			changes := one.Plan.Changes(old.Plan).String()
			if changes == "" {
				continue
			}
			text = fmt.Sprintf("%s: %s; %v", one.Rollout, changes, one.Summary.Counts)
		}
		fmt.Fprintf(&b, "%s %s\n", one.Now.Format(time.TimeOnly), one.Clock.Read(text))
	}
	for _, one := range before {
		if len(now) > 0 && !slices.ContainsFunc(now, func(other output.Standing) bool { return other.Rollout == one.Rollout }) {
			fmt.Fprintf(&b, "%s %s: is gone\n", now[0].Now.Format(time.TimeOnly), one.Rollout)
		}
	}
	return b.String()
}

// redraw has the screen show the text, cut to its size, without a flicker.
func redraw(w io.Writer, draw func(io.Writer) error, width, height int) error {
	var text bytes.Buffer
	if err := draw(&text); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("\x1b[H") // to the first line
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for i, line := range lines {
		if i == height-1 && height > 0 {
			break
		}
		if runes := []rune(line); len(runes) > width {
			line = string(runes[:width-1]) + "…"
		}
		b.WriteString(line + "\x1b[K\r\n") // and nothing behind it
	}
	b.WriteString("\x1b[J") // nor below
	return print(w, b.String())
}

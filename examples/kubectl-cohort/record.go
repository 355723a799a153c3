// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/recording"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// past is a moment of a recording.
type past struct {
	file string
	at   moment
}

func (event *past) declare(s *pflag.FlagSet) {
	s.StringVar(&event.file, "recording", "", "`file` of a recording to read in place of a hub: see record -h")
	commandline.Var(s, &event.at, "at", "", "`time` of the recording to ask about, such as 10:15 (UTC, of its last day) or in RFC 3339; its end unless given")
}

// moment is a time in RFC 3339, or one of a day that is not said.
type moment struct {
	time.Time
	ofDay bool
}

func (m *moment) String() string { return "" }

func (m *moment) Set(s string) error {
	for _, layout := range []string{time.RFC3339, "15:04:05", "15:04"} {
		if at, err := time.Parse(layout, s); err == nil {
			*m = moment{at.UTC(), layout != time.RFC3339}
			return nil
		}
	}
	return errors.New("must be a time of the day such as 10:15, or a time such as 2025-01-31T22:00:00Z")
}

// open reads the recording, and says which time is asked about.
func (event *past) open() (*recording.Recording, time.Time, error) {
	file, err := os.Open(event.file)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer file.Close()
	r, err := recording.Read(event.file, file)
	if err != nil {
		return nil, time.Time{}, err
	}
	times := r.Times()
	at := times[len(times)-1]
	switch {
	case event.at.ofDay:
		year, month, day := at.Date()
		at = time.Date(year, month, day, event.at.Hour(), event.at.Minute(), event.at.Second(), 0, time.UTC)
	case !event.at.IsZero():
		at = event.at.Time
	}
	return r, at, nil
}

// objects are those of the moment.
func (event *past) objects() ([]manifest.Object, time.Time, error) {
	r, at, err := event.open()
	if err != nil {
		return nil, at, err
	}
	objects, err := r.At(at, scenario.Reader())
	return objects, at, err
}

func recordCommand(flags *genericclioptions.ConfigFlags) *cobra.Command {
	in, interval := input{hub: flags}, time.Duration(0)
	cmd := &cobra.Command{
		Use:   "record FILE",
		Short: "Write down what becomes of the rollouts of a hub until interrupted, for replay and for --recording",
		Long: `Write down what becomes of the rollouts of a hub until interrupted.

Every command that takes --recording and --at then answers for any moment that was recorded, and replay says what happened when.
The file is gzip of lines of JSON, and has all that the objects say: keep it as you keep them.`,
		Example: `  kubectl cohort record monday.rec
  kubectl cohort explain edge-8 --recording monday.rec --at 10:15`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, files []string) error {
			if interval < time.Second {
				return fmt.Errorf("--interval %v: must be at least 1s", interval)
			}
			return in.record(cmd, files[0], interval)
		},
	}
	cmd.Flags().StringVar(&in.rollout, "rollout", "", "`name` of the one object that rolls out, where there are several")
	cmd.Flags().DurationVar(&interval, "interval", 10*time.Second, "`time` between two readings of the hub")
	return cmd
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s: must be followed by one file", cmd.Name())
	}
	return nil
}

// record reads the hub until it is interrupted. What cannot be read at a time is said, and not recorded.
func (in *input) record(cmd *cobra.Command, name string, interval time.Duration) (err error) {
	client, err := in.clientOf(manifest.Reader{})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := recording.NewWriter(file)
	defer func() { err = errors.Join(err, w.Close(), file.Close()) }()
	for {
		objects, _, err := client.Rollouts(cmd.Context(), scenario.Wanted{Rollout: in.rollout, Namespace: in.namespace()})
		now := time.Now().UTC().Truncate(time.Second)
		switch {
		case cmd.Context().Err() != nil:
			return nil
		case err != nil:
			fmt.Fprintf(cmd.ErrOrStderr(), "%s not recorded: %v\n", now.Format(time.TimeOnly), err)
		default:
			changed, err := w.Add(now, objects)
			if err != nil {
				return unwritten{err}
			}
			if changed > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s %d of %d objects changed\n", now.Format(time.TimeOnly), changed, len(objects))
			}
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(interval):
		}
	}
}

func (in *input) clientOf(reader manifest.Reader) (*hub.Client, error) {
	config, err := in.config()
	if err != nil {
		return nil, err
	}
	return hub.New(config, reader)
}

// replayCommand tells a recording.
func replayCommand(flags *genericclioptions.ConfigFlags) *cobra.Command {
	f := newFlags(flags)
	var until moment
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Say what happened when in a recording, or how the rollouts stood at a time",
		Example: `  kubectl cohort replay monday.rec
  kubectl cohort replay monday.rec --at 10:15`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, files []string) error {
			if f.past.file, f.past.at = files[0], until; cmd.Flags().Changed("at") {
				return f.status(cmd, "")
			}
			return f.replay(cmd)
		},
	}
	cmd.Flags().StringVar(&f.rollout, "rollout", "", "`name` of the one object that rolls out, where there are several")
	commandline.Var(cmd.Flags(), &until, "at", "", "`time` such as 10:15 (UTC, of the recording's last day) or in RFC 3339: how things stood then")
	return cmd
}

// replay has a line for each thing that changed, rollout by rollout.
func (f *flags) replay(cmd *cobra.Command) error {
	r, _, err := f.past.open()
	if err != nil {
		return err
	}
	var before []output.Standing
	for _, at := range r.Times() {
		f.past.at = moment{Time: at}
		all, err := f.standings(cmd, false)
		if err != nil {
			err = print(cmd.OutOrStdout(), fmt.Sprintf("%s %v\n", at.Format(time.TimeOnly), err))
		} else {
			err, before = print(cmd.OutOrStdout(), news(before, all)), all
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// input is what a command reads, from files or from a hub, and which rollouts of it are wanted.
type input struct {
	hub       *genericclioptions.ConfigFlags
	files     manifest.Files
	rollout   string
	placement placement
	others    bool // the rollout's other placements are wanted, too, where one is
	whatIf    whatIf
	past      past
	now       time.Time // of a recording that was read; zero for files and hubs
	progress  progress
}

func (in *input) declare(s *pflag.FlagSet) {
	declareFiles(s, &in.files)
	in.past.declare(s)
	s.StringVar(&in.rollout, "rollout", in.rollout, "`name` of the one object that rolls out, where there are several: name, namespace/name or kind/name")
	commandline.Var(s, &in.placement, "placement", "", "`[namespace/]name` of the placement, where there are several; not for a Policy")
}

// declareFiles declares -f.
func declareFiles(s *pflag.FlagSet, files *manifest.Files) {
	commandline.Var(s, files, "filename", "f", "`file` of objects in YAML or JSON, a directory of such files, or - for standard input; may be repeated. Without it the hub of the kubeconfig is read")
}

// namespace is that of the flag, or empty for all.
func (in *input) namespace() string {
	if in.hub == nil || in.hub.Namespace == nil {
		return ""
	}
	return *in.hub.Namespace
}

// scenarios reads the rollouts that are wanted.
func (in *input) scenarios(cmd *cobra.Command) ([]*scenario.Scenario, error) {
	change, err := in.whatIf.change(cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	wanted := scenario.Wanted{Rollout: in.rollout, Namespace: in.namespace(), Placement: in.placement.Ref, Others: in.others, Change: change}
	var objects []manifest.Object
	switch {
	case in.past.file != "" && len(in.files) > 0:
		return nil, errors.New("--recording: must be given without -f")
	case in.past.file == "" && !in.past.at.IsZero():
		return nil, errors.New("--at: must be given with --recording")
	case in.past.file != "":
		if objects, in.now, err = in.past.objects(); err != nil {
			return nil, err
		}
		wanted.Hub, wanted.Now = true, in.now
		return scenario.Load(objects, wanted)
	}
	if len(in.files) > 0 {
		reading := new(manifest.Progress)
		end := in.progress.beginShare("reading the files", reading.Share)
		objects, notes, err := readFiles(cmd.InOrStdin(), in.files, reading)
		end()
		if err != nil {
			return nil, err
		}
		return noted(notes)(scenario.Load(objects, wanted))
	}
	client, err := in.client()
	if err != nil {
		return nil, err
	}
	end := in.progress.begin("reading the hub")
	objects, notes, err := client.Rollouts(cmd.Context(), wanted)
	end()
	if err != nil {
		return nil, err
	}
	wanted.Hub, wanted.Now = true, time.Now()
	return noted(notes)(scenario.Load(objects, wanted))
}

// readFiles reads the objects of files, with notes on what is not read.
func readFiles(stdin io.Reader, files manifest.Files, progress *manifest.Progress) (objects []manifest.Object, notes []string, err error) {
	for _, file := range files {
		if recorded(file) {
			return nil, nil, fmt.Errorf("%s: is a recording, which must be given by --recording", file)
		}
	}
	var skipped []string
	reader := scenario.Reader()
	reader.Progress, reader.Skipped = progress, &skipped
	objects, err = reader.Read(stdin, files...)
	return objects, packed(skipped), err
}

// packed notes the files of directories that are not read.
func packed(files []string) (notes []string) {
	if len(files) > 0 {
		notes = append(notes, fmt.Sprintf("not read, as they are packed (%d): %s", len(files), strings.Join(files, ", ")))
	}
	return notes
}

// noted has the first rollout tell what was not read.
func noted(notes []string) func(all []*scenario.Scenario, err error) ([]*scenario.Scenario, error) {
	return func(all []*scenario.Scenario, err error) ([]*scenario.Scenario, error) {
		if len(all) > 0 {
			all[0].Notes = append(notes, all[0].Notes...)
		}
		return all, err
	}
}

func (in *input) client() (*hub.Client, error) { return in.clientOf(scenario.Reader()) }

// config is what the kubeconfig and the flags say of the hub.
func (in *input) config() (*rest.Config, error) {
	known, err := in.hub.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(known.Clusters) == 0 && *in.hub.APIServer == "" && os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		err = errors.New("must have -f FILE or a kubeconfig")
	}
	if err != nil {
		return nil, fmt.Errorf("no file given, and no hub: %w", err)
	}
	return in.hub.ToRESTConfig()
}

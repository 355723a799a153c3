// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
)

// whatIf is another strategy than that of the objects, or a part of one.
type whatIf struct {
	maxConcurrency, maxFailures string
	file                        string
}

func (w *whatIf) declare(s *pflag.FlagSet) {
	s.StringVar(&w.maxConcurrency, "max-concurrency", "", "`count or percentage` in place of the strategy's maxConcurrency")
	s.StringVar(&w.maxFailures, "max-failures", "", "`count or percentage` in place of the strategy's maxFailures")
}

// declareStrategy is for commands that take a single other strategy.
func (w *whatIf) declareStrategy(s *pflag.FlagSet) {
	s.StringVar(&w.file, "strategy", "", "`file` with a RolloutStrategy in place of that of the objects")
}

// change is what the flags make of a strategy; nil if they leave it alone.
func (w *whatIf) change(stdin io.Reader) (scenario.Change, error) {
	if *w == (whatIf{}) {
		return nil, nil
	}
	var other *clusterv1alpha1.RolloutStrategy
	if w.file != "" {
		objects, err := manifest.Read(stdin, w.file)
		if err != nil {
			return nil, err
		}
		all, err := scenario.Strategies(objects)
		if err != nil {
			return nil, err
		}
		if len(all) != 1 {
			return nil, fmt.Errorf("--strategy %s: has %d RolloutStrategies: must have one", w.file, len(all))
		}
		other = &all[0].Strategy
	}
	return func(strategy clusterv1alpha1.RolloutStrategy) (clusterv1alpha1.RolloutStrategy, error) {
		if other != nil {
			strategy = *other
		}
		return w.changed(*strategy.DeepCopy())
	}, nil
}

// changed is the strategy with other limits.
func (w *whatIf) changed(strategy clusterv1alpha1.RolloutStrategy) (clusterv1alpha1.RolloutStrategy, error) {
	var config *clusterv1alpha1.RolloutConfig
	switch strategy.Type {
	case clusterv1alpha1.Progressive:
		if strategy.Progressive == nil {
			strategy.Progressive = &clusterv1alpha1.RolloutProgressive{}
		}
		config = &strategy.Progressive.RolloutConfig
	case clusterv1alpha1.ProgressivePerGroup:
		if strategy.ProgressivePerGroup == nil {
			strategy.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{}
		}
		config = &strategy.ProgressivePerGroup.RolloutConfig
	}
	if w.maxConcurrency != "" {
		switch strategy.Type {
		case clusterv1alpha1.Progressive:
			strategy.Progressive.MaxConcurrency = intstr.Parse(w.maxConcurrency)
		case clusterv1alpha1.ProgressivePerGroup:
			return strategy, errors.New("--max-concurrency: a strategy of type ProgressivePerGroup has none: --max-concurrency-per-group limits each group")
		default:
			return strategy, errors.New("--max-concurrency: a strategy of type All has none: --strategy takes another one")
		}
	}
	if w.maxFailures != "" {
		if config == nil {
			return strategy, errors.New("--max-failures: under a strategy of type All any number may fail: --strategy takes another one")
		}
		config.MaxFailures = intstr.Parse(w.maxFailures)
	}
	faults := rollout.Validate(strategy, nil)
	switch {
	case len(faults) == 0:
		return strategy, nil
	case strings.HasSuffix(faults[0].Field, ".maxConcurrency"):
		return strategy, fmt.Errorf("--max-concurrency %s: %s", w.maxConcurrency, faults[0].Detail)
	case strings.HasSuffix(faults[0].Field, ".maxFailures"):
		return strategy, fmt.Errorf("--max-failures %s: %s", w.maxFailures, faults[0].Detail)
	}
	return strategy, faults[0]
}

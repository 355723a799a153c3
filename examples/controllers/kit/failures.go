// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Failures are the errors of writes to clusters. A failed write does not stop the writes of other clusters.
type Failures struct{ all []error }

// Add records the outcome of a write.
func (f *Failures) Add(cluster string, err error) {
	if err != nil {
		f.all = append(f.all, fmt.Errorf("cluster %s: %w", cluster, err))
	}
}

// ErrRefused marks a refusal that does not come from the API server, such as a plugin's.
var ErrRefused = errors.New("refused")

// Tell emits an event for the first refused write, and returns all errors.
func (f *Failures) Tell(t *Teller, owner runtime.Object) error {
	refused := func(err error) bool { return writes.Refused(err) || errors.Is(err, ErrRefused) }
	if i := slices.IndexFunc(f.all, refused); i >= 0 {
		t.Event(owner, Warning, "Refused", f.all[i].Error())
	}
	return errors.Join(f.all...)
}

package kit

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Failures are the errors of writes to some clusters. A cluster that refuses does not keep the others from theirs.
type Failures struct{ all []error }

// Add notes the outcome of a write.
func (f *Failures) Add(cluster string, err error) {
	if err != nil {
		f.all = append(f.all, fmt.Errorf("cluster %s: %w", cluster, err))
	}
}

// ErrRefused is in the errors of others than the API server who keep a cluster from its object, such as a plugin.
var ErrRefused = errors.New("refused")

// Tell makes an event of the first write that was refused, and returns all errors.
func (f *Failures) Tell(t *Teller, owner runtime.Object) error {
	refused := func(err error) bool { return writes.Refused(err) || errors.Is(err, ErrRefused) }
	if i := slices.IndexFunc(f.all, refused); i >= 0 {
		t.Event(owner, Warning, "Refused", f.all[i].Error())
	}
	return errors.Join(f.all...)
}

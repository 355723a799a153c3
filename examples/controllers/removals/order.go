// SPDX-License-Identifier: Apache-2.0

package removals

import (
	"flag"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// Annotation of a set overrides the flag: how many works may be in deletion at a time. It counts even if it is set or
// changed after the set was deleted.
const Annotation = "cohort.open-cluster-management.io/remove-at-most"

// Order has the bound for sets without the annotation: how many works of a placement may be in deletion at a time; 0 is
// all. A nil Order deletes all works of all sets at once.
type Order struct{ AtMost int }

// Flags adds the flag -remove-at-most.
func Flags() *Order {
	order := &Order{}
	flag.Func("remove-at-most", "how many works of a placement may be in deletion at a time when a set is deleted: works are deleted in the "+
		"reverse order of the rollout; 0 for all at once (default 0). The annotation of a set overrides it: "+Annotation, order.set)
	return order
}

func (o *Order) set(text string) (err error) {
	o.AtMost, err = parse(text)
	return err
}

func parse(text string) (int, error) {
	most, err := strconv.Atoi(text)
	if err != nil || most < 0 {
		return 0, fmt.Errorf("must be how many works may be in deletion at a time, or 0 for all at once")
	}
	return most, nil
}

func (o *Order) of(set *workv1alpha1.ManifestWorkReplicaSet) (int, error) {
	text, says := set.Annotations[Annotation]
	switch {
	case o == nil:
		return 0, nil
	case !says:
		return o.AtMost, nil
	}
	most, err := parse(text)
	if err != nil {
		return 0, field.Invalid(field.NewPath("metadata", "annotations").Key(Annotation), text, err.Error())
	}
	return most, nil
}

// InOrder says whether the works of a set are deleted in order. If so, wait until the caches show all writes before you
// call Next. It is also true if the bound is unreadable.
func (o *Order) InOrder(set *workv1alpha1.ManifestWorkReplicaSet) bool {
	most, err := o.of(set)
	return most > 0 || err != nil
}

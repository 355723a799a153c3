// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// Mistyped is an error for an object whose kind or group differs by a letter or so from a known one, given as group/kind.
// It is nil for known ones and for those that resemble none.
func (o Object) Mistyped(known ...string) error {
	gvk := o.GroupVersionKind()
	var names, groups []string
	for _, full := range known {
		group, kind, _ := strings.Cut(full, "/")
		names = append(names, kind)
		if kind == gvk.Kind {
			groups = append(groups, group)
		}
		if group == gvk.Group && kind == gvk.Kind {
			return nil
		}
	}
	if hint := spelling.Hint(gvk.Kind, names); len(groups) == 0 && hint != "" && strings.Contains(gvk.Group, ".") {
		return o.Fault(fmt.Errorf("kind: %q is none that is known%s", gvk.Kind, hint))
	}
	if hint := spelling.Hint(gvk.Group, groups); hint != "" {
		return o.Fault(fmt.Errorf("apiVersion: no group of %s is %q%s", gvk.Kind, gvk.Group, hint))
	}
	return nil
}

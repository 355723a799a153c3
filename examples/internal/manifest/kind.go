package manifest

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// Mistyped is an error for an object whose kind or group is a letter or so from one of those that are known, each as
// group/kind. One that is known, or like none of them, is fine.
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

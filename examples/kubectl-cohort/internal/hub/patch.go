package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// Patch has an object that rolls out become another, and names it as kubectl does. It writes what differs, and only where the object
// is still the one that was read.
func (c *Client) Patch(ctx context.Context, was, becomes *manifest.Object) (name string, err error) {
	patch, err := patchOf(was, becomes)
	if err != nil {
		return "", err
	}
	kind := was.GroupVersionKind()
	resource := strings.ToLower(kind.Kind) + "s"
	if kind.Kind == "Policy" {
		resource = "policies"
	}
	request := c.rest.Patch(types.MergePatchType).AbsPath("apis", kind.Group, kind.Version)
	if was.GetNamespace() != "" {
		request = request.Namespace(was.GetNamespace())
	}
	err = request.Resource(resource).Name(was.GetName()).Param("fieldManager", "kubectl-cohort").Body(patch).Do(ctx).Error()
	switch {
	case apierrors.IsConflict(err):
		return "", fmt.Errorf("%v: it changed after it was read, nothing is written: ask again, what follows may be something else by now", was)
	case err != nil:
		return "", fmt.Errorf("%v: nothing is written: %w", was, err)
	}
	return fmt.Sprintf("%s.%s/%s", strings.ToLower(kind.Kind), kind.Group, was.GetName()), nil
}

// patchOf is what differs, and the version of the object that was read.
func patchOf(was, becomes *manifest.Object) ([]byte, error) {
	if was.GetResourceVersion() == "" {
		return nil, fmt.Errorf("%v: has no metadata.resourceVersion: must be an object that a hub sent", was)
	}
	var texts [2][]byte
	for i, o := range []*manifest.Object{was, becomes} {
		text, err := json.Marshal(o.Object)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	patch, err := jsonpatch.CreateMergePatch(texts[0], texts[1])
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, err
	}
	metadata, _ := fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = make(map[string]any)
	}
	metadata["resourceVersion"], fields["metadata"] = was.GetResourceVersion(), metadata
	return json.Marshal(fields)
}

// Made says whether an object was written for one that rolls out.
func Made(o *manifest.Object, owner metav1.Object) bool {
	of := owner.GetNamespace() + "." + owner.GetName()
	switch o.GetKind() {
	case "ManifestWork":
		return o.GetLabels()[replicaSetLabel] == of
	case "Policy":
		return o.GetLabels()[rootLabel] == of
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/status"
)

// patches is how often a patch is tried while the status of its object changes.
const patches = 10

// Patch has an object that rolls out, or a work of it, become another, and names it as kubectl does. It writes what differs, and only where
// the spec of the object, and what people decided in its annotations, are still those that were read.
func (c *Client) Patch(ctx context.Context, was, becomes *manifest.Object) (name string, err error) {
	version := was.GetResourceVersion()
	for range patches {
		if err = c.patch(ctx, was, becomes, version); !apierrors.IsConflict(err) {
			break
		}
		if version, err = c.same(ctx, was); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", fmt.Errorf("%v: nothing is written: %w", was, err)
	}
	return fmt.Sprintf("%s.%s/%s", strings.ToLower(was.GetKind()), was.GroupVersionKind().Group, was.GetName()), nil
}

// patch writes once.
func (c *Client) patch(ctx context.Context, was, becomes *manifest.Object, version string) error {
	patch, err := patchOf(was, becomes, version)
	if err != nil {
		return err
	}
	r := resourceOf(was)
	request := c.rest.Patch(types.MergePatchType).AbsPath("apis", r.Group, r.Versions[0])
	if r.Namespace != "" {
		request = request.Namespace(r.Namespace)
	}
	return request.Resource(r.Name).Name(was.GetName()).Param("fieldManager", "kubectl-cohort").Body(patch).Do(ctx).Error()
}

// resourceOf is where an object that rolls out is.
func resourceOf(o *manifest.Object) Resource {
	kind := o.GroupVersionKind()
	r := Resource{Group: kind.Group, Versions: []string{kind.Version}, Name: strings.ToLower(kind.Kind) + "s", Namespace: o.GetNamespace()}
	if kind.Kind == "Policy" {
		r.Name = "policies"
	}
	return r
}

// same gives the present version of an object of which no more has changed than its status and its record. It takes the right to list alone.
func (c *Client) same(ctx context.Context, was *manifest.Object) (version string, err error) {
	objects, err := c.list(ctx, resourceOf(was))
	if err != nil {
		return "", err
	}
	for i := range objects {
		now := &objects[i]
		if now.GetName() == was.GetName() && now.GetUID() == was.GetUID() && now.GetGeneration() == was.GetGeneration() && approvals.Same(now, was) && sameVerdict(now, was) {
			return now.GetResourceVersion(), nil
		}
	}
	return "", fmt.Errorf("%v: it changed after it was read, nothing is written: ask again, what follows may be something else by now", was)
}

// sameVerdict says whether two states of an object have the same version, and the same verdict on it.
func sameVerdict(a, b *manifest.Object) bool {
	x, y := status.StampOf(a), status.StampOf(b)
	v, err := status.VerdictOf(a, "", time.Time{})
	w, fault := status.VerdictOf(b, "", time.Time{})
	return x.Version == y.Version && x.Attempt == y.Attempt && v == w && (err == nil) == (fault == nil)
}

// patchOf is what differs, for this version of the object.
func patchOf(was, becomes *manifest.Object, version string) ([]byte, error) {
	if version == "" {
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
	metadata["resourceVersion"], fields["metadata"] = version, metadata
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

// SPDX-License-Identifier: Apache-2.0

// Package hub reads the objects of rollouts from a hub. It gets lists, and nothing else.
package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// Resource is what is listed: of one of several versions of a resource, the first that the hub serves.
type Resource struct {
	Group    string
	Versions []string
	Name     string
	// Namespace and Labels limit the list where they are not empty.
	Namespace, Labels string
	// Optional says that a person who may not list it gets an answer all the same.
	Optional bool
}

// String is like "placements.cluster.open-cluster-management.io".
func (r Resource) String() string { return r.Name + "." + r.Group }

// Client reads from one hub.
type Client struct {
	rest   *rest.RESTClient
	reader manifest.Reader
}

// New makes a client. The reader knows the kinds of which there may be many objects.
func New(config *rest.Config, reader manifest.Reader) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // a list of many clusters is many requests, one after the other: the server says if they are too many
	config.NegotiatedSerializer = codecs()
	config.AcceptContentTypes, config.ContentType = "application/json", "application/json"
	client, err := rest.UnversionedRESTClientFor(config)
	return &Client{client, reader}, err
}

// codecs read the errors of an API server, and nothing else.
func codecs() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}

// List gives the objects of the resources, in their order. A resource that the hub does not have has none. Notes say which
// optional ones may not be listed.
func (c *Client) List(ctx context.Context, resources ...Resource) (all []manifest.Object, notes []string, err error) {
	for _, r := range resources {
		objects, err := c.list(ctx, r)
		switch {
		case r.Optional && apierrors.IsForbidden(err):
			notes = append(notes, fmt.Sprintf("%v: may not be listed, so what they say is not known", r))
		case err != nil:
			return nil, nil, fmt.Errorf("%v: %w", r, err)
		}
		all = append(all, objects...)
	}
	return all, notes, nil
}

// list takes the first version that the hub serves.
func (c *Client) list(ctx context.Context, r Resource) (objects []manifest.Object, err error) {
	for _, version := range r.Versions {
		objects, err = c.pages(ctx, r, version)
		if !apierrors.IsNotFound(err) {
			return objects, err
		}
	}
	return nil, nil
}

// page is how many objects are asked for at a time.
const page = 500

// pages lists all objects, page by page. Where the hub forgets in the midst what it began with, it begins anew, in one page.
func (c *Client) pages(ctx context.Context, r Resource, version string) (all []manifest.Object, err error) {
	for limit, next := page, ""; ; {
		var list struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []json.RawMessage `json:"items"`
		}
		data, err := c.get(ctx, r, version, limit, next)
		if apierrors.IsResourceExpired(err) && limit > 0 {
			all, limit, next = nil, 0, ""
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			object, err := c.reader.Served(r.String(), item)
			if err != nil {
				return nil, err
			}
			all = append(all, object)
		}
		if next = list.Metadata.Continue; next == "" {
			return all, nil
		}
	}
}

// get asks for one page.
func (c *Client) get(ctx context.Context, r Resource, version string, limit int, next string) ([]byte, error) {
	request := c.rest.Verb(http.MethodGet).AbsPath("apis", r.Group, version)
	if r.Namespace != "" {
		request = request.Namespace(r.Namespace)
	}
	request = request.Resource(r.Name)
	for name, value := range map[string]string{"labelSelector": r.Labels, "continue": next} {
		if value != "" {
			request = request.Param(name, value)
		}
	}
	if limit > 0 {
		request = request.Param("limit", fmt.Sprint(limit))
	}
	result := request.Do(ctx)
	data, _ := result.Raw()
	err := result.Error() // in the server's words
	if err != nil && strings.Contains(err.Error(), "connection refused") {
		return nil, fmt.Errorf("no hub answers: %w: --kubeconfig and --context choose another, -f reads files", err)
	}
	return data, err
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	extensioninformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	extensionlisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Defaults of Kubernetes' servers.
const (
	requestTimeout    = time.Minute
	minRequestTimeout = 30 * time.Minute // a watch ends after this time, or up to twice of it
	maxRequestBytes   = 3 << 20
	compactInterval   = 5 * time.Minute
)

// frontend is an API server for custom resources, made of Kubernetes' own code: its handler, its registry, managed fields,
// validation, and its storage, on an etcd that is a map. It lives and ends in one bubble.
type frontend struct {
	handler http.Handler
	mu      sync.Mutex
	destroy []factory.DestroyFunc // guarded by mu: a storage is made at its first use
	etcd    etcd
	cached  bool // has watch caches
}

func newFrontend(definitions Definitions, store *Store, behind *atomic.Int64, cached bool) (*frontend, error) {
	front := &frontend{etcd: etcd{store, behind}, cached: cached}
	informer := newLister(definitions)
	models, err := objectModels()
	if err != nil {
		return nil, err
	}
	resources, err := extensions.NewCustomResourceDefinitionHandler(nil, nil, informer, http.HandlerFunc(notFound), front, admit{}, nil, nil, nil, 1,
		authorizerfactory.NewAlwaysAllowAuthorizer(), requestTimeout, minRequestTimeout, models, maxRequestBytes)
	if err != nil {
		return nil, fmt.Errorf("make the handler of custom resources: %w", err)
	}
	front.handler = &chain{resources: resources, discovery: discover(definitions)}
	return front, nil
}

// stop ends the goroutines of the storage.
func (f *frontend) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, destroy := range f.destroy {
		destroy()
	}
}

func notFound(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// chain does to a request what Kubernetes' handler chain does before the handler of custom resources: it adds the request
// info and the user.
type chain struct {
	resources http.Handler
	discovery map[string][]byte
}

var resolver = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func (c *chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isCore(r) {
		inner, err := toCore(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r = inner
	}
	info, err := resolver.NewRequestInfo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !info.IsResourceRequest {
		answerDiscovery(w, r, c.discovery)
		return
	}
	ctx := request.WithRequestInfo(r.Context(), info)
	ctx = audit.WithAuditContext(ctx)
	ctx = request.WithUser(ctx, &user.DefaultInfo{Name: r.UserAgent(), Groups: []string{user.SystemPrivilegedGroup}})
	ctx = request.WithReceivedTimestamp(ctx, time.Now())
	defer func() {
		if reason := recover(); reason != nil && reason != http.ErrAbortHandler {
			panic(reason)
		}
	}()
	if info.Verb == "watch" {
		c.resources.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	c.resources.ServeHTTP(w, r.WithContext(ctx))
}

// ofResource says whether a request is for objects, rather than for the server itself.
func ofResource(r *http.Request) bool {
	info, err := resolver.NewRequestInfo(r)
	return err != nil || info.IsResourceRequest
}

// admit admits everything.
type admit struct{}

func (admit) Handles(admission.Operation) bool { return false }

// GetRESTOptions configures the storage of a resource.
func (f *frontend) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig: &storagebackend.ConfigForResource{GroupResource: resource, Config: storagebackend.Config{
			Prefix: keyPrefix, Codec: unstructured.UnstructuredJSONScheme, EventsHistoryWindow: storagebackend.DefaultEventsHistoryWindow,
			LeaseManagerConfig: etcd3.NewDefaultLeaseManagerConfig(),
		}},
		Decorator: f.store, ResourcePrefix: resource.Group + "/" + resource.Resource, EnableGarbageCollection: true, DeleteCollectionWorkers: 1,
	}, nil
}

func (f *frontend) store(c *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
	newObject, newList func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	versioner := storage.APIObjectVersioner{}
	raw, err := etcd3.New(f.etcd.client(), nil, c.Codec, newObject, newList, c.Prefix, prefix, c.GroupResource, identity.NewEncryptCheckTransformer(),
		c.LeaseManagerConfig, newDecoder(etcd3.NewDefaultDecoder(c.Codec, versioner)), versioner)
	if err != nil || !f.cached {
		return raw, func() {}, err
	}
	caches, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage: raw, Versioner: versioner, GroupResource: c.GroupResource, EventsHistoryWindow: c.EventsHistoryWindow, ResourcePrefix: prefix,
		KeyFunc: key, NewFunc: newObject, NewListFunc: newList, GetAttrsFunc: attributes, IndexerFuncs: triggers, Indexers: indexers, Codec: c.Codec,
	})
	if err != nil {
		return nil, nil, err
	}
	both := cacher.NewCacheDelegator(caches, raw)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.destroy = append(f.destroy, both.Stop, caches.Stop, raw.Close)
	return both, func() {}, nil
}

// definitionInformer provides the definitions to the handler. They do not change while a server runs.
type definitionInformer struct {
	cache.SharedIndexInformer
	lister extensionlisters.CustomResourceDefinitionLister
}

func newLister(definitions Definitions) definitionInformer {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, crd := range definitions.crds {
		_ = indexer.Add(crd)
	}
	never := cache.NewSharedIndexInformer(&cache.ListWatch{}, &apiextensionsv1.CustomResourceDefinition{}, 0, cache.Indexers{})
	return definitionInformer{never, extensionlisters.NewCustomResourceDefinitionLister(indexer)}
}

var _ extensioninformers.CustomResourceDefinitionInformer = definitionInformer{}

func (i definitionInformer) Informer() cache.SharedIndexInformer { return i.SharedIndexInformer }

func (i definitionInformer) Lister() extensionlisters.CustomResourceDefinitionLister { return i.lister }

// objectModels are the schemas of metadata, which managed fields need.
func objectModels() (map[string]*spec.Schema, error) {
	config := genericserver.DefaultOpenAPIV3Config(generatedopenapi.GetOpenAPIDefinitions, openapi.NewDefinitionNamer(extensions.Scheme))
	models, err := builder3.BuildOpenAPIDefinitionsForResources(config, metav1.ObjectMeta{}.OpenAPIModelName())
	if err != nil {
		return nil, fmt.Errorf("make the schema of an object's metadata: %w", err)
	}
	return models, nil
}

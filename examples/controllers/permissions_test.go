// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// right is a verb on a resource, such as "list placements.cluster.open-cluster-management.io".
func permission(verb, resource, group string) string { return verb + " " + resource + "." + group }

// readRole reads the permissions of a ClusterRole in a page.
func readRole(t *testing.T, page, name string) (permissions []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range strings.Split(string(text), "```") {
		var role rbacv1.ClusterRole
		if i%2 == 0 || yaml.Unmarshal([]byte(strings.TrimPrefix(block, "yaml\n")), &role) != nil || role.Kind != "ClusterRole" || role.Name != name {
			continue
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						permissions = append(permissions, permission(verb, resource, group))
					}
				}
			}
		}
	}
	if len(permissions) == 0 {
		t.Fatalf("%s has no ClusterRole %s", page, name)
	}
	return permissions
}

// gatekeeper is a proxy before an API server that allows everything. It passes what a role allows, and records the
// requests.
type gatekeeper struct {
	kubeconfig string // for clients of the proxy

	mu      sync.Mutex
	allowed []string
	asked   sets.Set[string]
}

func (g *gatekeeper) allow(permissions ...[]string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allowed = slices.Concat(permissions...)
}

// guard starts a gatekeeper before the API server of a kubeconfig.
func guard(t *testing.T, kubeconfig string) *gatekeeper {
	t.Helper()
	waitFor(t, kubeconfig)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	behind := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport}
	g := &gatekeeper{asked: sets.New[string](), kubeconfig: filepath.Join(t.TempDir(), "guarded.kubeconfig")}
	requests := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, err := requests.NewRequestInfo(r)
		if err != nil || !info.IsResourceRequest {
			http.Error(w, "no resource: "+r.URL.Path, http.StatusForbidden)
			return
		}
		resource := info.Resource
		if info.Subresource != "" {
			resource += "/" + info.Subresource
		}
		is := permission(info.Verb, resource, info.APIGroup)
		g.mu.Lock()
		allowed := slices.Contains(g.allowed, is)
		if allowed {
			g.asked.Insert(is)
		}
		g.mu.Unlock()
		if allowed {
			behind.ServeHTTP(w, r)
			return
		}
		refused := apierrors.NewForbidden(schema.GroupResource{Group: info.APIGroup, Resource: resource}, info.Name, nil)
		refused.ErrStatus.Kind, refused.ErrStatus.APIVersion = "Status", "v1"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		text, _ := yaml.Marshal(refused.ErrStatus)
		text, _ = yaml.YAMLToJSON(text)
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	guarded := api.NewConfig()
	guarded.Clusters["hub"] = &api.Cluster{Server: server.URL}
	guarded.Contexts["hub"] = &api.Context{Cluster: "hub"}
	guarded.CurrentContext = "hub"
	if err := clientcmd.WriteToFile(*guarded, g.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return g
}

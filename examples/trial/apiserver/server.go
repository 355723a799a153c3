// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	discovery "k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	genericserver "k8s.io/apiserver/pkg/server"
	utilcompatibility "k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/compatibility"
)

// Server is a running API server.
type Server struct {
	// Config is for clients of all kinds, with all rights and without a limit of requests. It must not be
	// changed; copy it first.
	Config *rest.Config

	etcd *embed.Etcd
	stop context.CancelFunc
	done chan error
}

// Start starts an API server that keeps its files below dir, and installs the custom resource definitions in
// the YAML files. It returns when objects of all of them can be created. Logs go to klog, as everywhere in
// Kubernetes.
func Start(dir string, crdFiles ...string) (*Server, error) {
	return Audit{}.Start(dir, crdFiles...)
}

// Audit is an audit policy, and the file that the log is written to.
type Audit struct{ Policy, Log string }

// Start is like the function, with an audit log.
func (a Audit) Start(dir string, crdFiles ...string) (*Server, error) {
	etcd, address, err := startEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return nil, err
	}
	s := &Server{etcd: etcd, done: make(chan error, 1)}
	if err := s.serve(dir, address, a); err != nil {
		s.Stop()
		return nil, fmt.Errorf("start API server: %w", err)
	}
	if err := install(s.Config, crdFiles); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Stop ends the server and its etcd, and waits for them. Two goroutines of Kubernetes' libraries stay behind.
func (s *Server) Stop() error {
	var err error
	if s.stop != nil {
		s.stop()
		err = <-s.done
	}
	s.etcd.Close()
	return err
}

// serve starts to serve and waits until the server is ready.
func (s *Server) serve(dir, etcd string, a Audit) error {
	opts, err := serverOptions(dir, etcd, a)
	if err != nil {
		return err
	}
	config, err := opts.Config()
	if err != nil {
		return err
	}
	config.GenericConfig.SharedInformerFactory = nil // it would wait for a core API for ever
	config.GenericConfig.BuildHandlerChainFunc = func(handler http.Handler, c *genericserver.Config) http.Handler {
		return standIn(genericserver.DefaultBuildHandlerChain(handler, c))
	}
	server, err := config.Complete().New(genericserver.NewEmptyDelegate())
	if err != nil {
		return err
	}
	s.Config = server.GenericAPIServer.LoopbackClientConfig
	serveGroups(server.GenericAPIServer)

	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() { s.done <- server.GenericAPIServer.PrepareRun().RunWithContext(ctx) }()
	return s.waitUntilReady(ctx)
}

// serveGroups has the server tell at /apis which groups there are, as clients ask that find resources out by
// themselves. A server of custom resources leaves that to the kube-apiserver in front of it, and there is none.
func serveGroups(server *genericserver.GenericAPIServer) {
	groups := discovery.WrapAggregatedDiscoveryToHandler(server.DiscoveryGroupManager, server.AggregatedDiscoveryGroupManager, nil)
	server.Handler.GoRestfulContainer.Add(groups.GenerateWebService("/apis", metav1.APIGroupList{}))
}

// serverOptions gives the options of an API server for custom resources, without all that asks another API server.
func serverOptions(dir, etcd string, a Audit) (*options.CustomResourceDefinitionsServerOptions, error) {
	opts := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)

	// Feature gates and versions are global unless each server has a registry of its own.
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	registry := compatibility.NewComponentGlobalsRegistry()
	version := utilcompatibility.DefaultKubeEffectiveVersionForTest() // a build without a git tag has no version
	if err := registry.Register(compatibility.DefaultKubeComponent, version, gates); err != nil {
		return nil, err
	}
	opts.ServerRunOptions.ComponentGlobalsRegistry = registry

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	recommended := opts.RecommendedOptions
	recommended.SecureServing.Listener = listener
	recommended.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	recommended.SecureServing.ExternalAddress = listener.Addr().(*net.TCPAddr).IP
	recommended.SecureServing.ServerCert.CertDirectory = filepath.Join(dir, "certificates")
	recommended.Etcd.StorageConfig.Transport.ServerList = []string{etcd}
	recommended.Etcd.EnableWatchCache = false // with it, a list after a write waits up to 100 ms for the cache to catch up
	recommended.Authentication, recommended.Authorization, recommended.Admission = nil, nil, nil
	recommended.Audit.PolicyFile, recommended.Audit.LogOptions.Path = a.Policy, a.Log
	recommended.Features.EnablePriorityAndFairness = false
	if recommended.CoreAPI.CoreAPIKubeconfigPath, err = dummyKubeconfig(dir); err != nil {
		return nil, err
	}
	if err := opts.APIEnablement.RuntimeConfig.Set("api/all=true"); err != nil {
		return nil, err
	}
	if err := opts.Complete(); err != nil {
		return nil, err
	}
	return opts, opts.Validate()
}

// dummyKubeconfig writes a kubeconfig for a core API server. One is required, and never dialled.
func dummyKubeconfig(dir string) (string, error) {
	const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none}}]
current-context: none
`
	path := filepath.Join(dir, "kubeconfig")
	return path, os.WriteFile(path, []byte(kubeconfig), 0o600)
}

func (s *Server) waitUntilReady(ctx context.Context) error {
	config := rest.CopyConfig(s.Config)
	config.NegotiatedSerializer = extensions.Codecs
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-s.done:
			s.done <- err // for Stop
			return false, fmt.Errorf("it has ended: %w", err)
		default:
		}
		status := 0
		client.Get().AbsPath("/readyz").Do(ctx).StatusCode(&status)
		return status == 200, nil
	})
}

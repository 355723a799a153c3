// SPDX-License-Identifier: Apache-2.0

// Package apiserver runs a real Kubernetes API server, with an etcd, inside a test process. It serves custom
// resources and nothing else: there are no namespaces (any name works), no leases and no
// events. Clients find out what it serves, kubectl among them.
//
//	server, err := apiserver.Start(dir, crds...)
//	if err != nil {
//		…
//	}
//	defer server.Stop()
//	client, err := versioned.NewForConfig(server.Config)
//
// Its first build takes some minutes, because an API server and an etcd are a lot of modules. Share one server among the
// tests of a package: the first create after a new definition waits two seconds.
//
// Its tests carry out updates of the package decisionupdate under the eyes of a consumer that keeps an object for
// each cluster:
//
//	go test                                                      2,000 redistributions, one to two minutes
//	go test -short                                               100, some seconds
//	go test -run Children -redistributions 200000 -timeout 0     a long run; -seed for another one
//
// Package trial above it proves the same of a whole rollout controller.
package apiserver

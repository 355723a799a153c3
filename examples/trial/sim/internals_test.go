// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestInternalsAreAsExpected fails with a sentence if an upgrade of Kubernetes or etcd changed something that the compiler
// does not see.
func TestInternalsAreAsExpected(t *testing.T) {
	if !notified(clientv3.OpGet("a", clientv3.WithProgressNotify())) || notified(clientv3.OpGet("a")) {
		t.Error("etcd's client: clientv3.Op has no field progressNotify any more: etcdwatch.go reads it to tell bookmarks")
	}
	if models, err := objectModels(); err != nil || models[metav1.ObjectMeta{}.OpenAPIModelName()] == nil {
		t.Errorf("apiextensions-apiserver: there is no schema of ObjectMeta (%v): server.go builds the types of managed fields from it", err)
	}
	play(t, Options{}, func(w *World, s *Server) {
		c := widgetsOf(s.Config("me"))
		made, err := c.Create(w.Context(), widget("a", "red"), metav1.CreateOptions{})
		switch {
		case err != nil:
			w.T.Fatalf("apiextensions-apiserver: the handler of custom resources creates nothing: %v", err)
		case w.Since() > time.Second:
			w.T.Errorf("apiextensions-apiserver: the first create took %v: definitions.go says when definitions were established", w.Since())
		case len(made.GetManagedFields()) != 1 || made.GetManagedFields()[0].Manager != "me":
			w.T.Errorf("apiserver: the managed fields are %v, expected one entry of the user agent", made.GetManagedFields())
		}
		if s.Store().Revision() != 2 {
			w.T.Errorf("apiserver: a create made %d writes, expected one", s.Store().Revision()-1)
		}
	})
}

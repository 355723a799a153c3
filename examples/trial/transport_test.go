// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A recorder of Events writes whenever it likes. So an Event does not bring the caches up to date while a reconcile reads them, it is not the
// write at which a process dies, nor the creation that the script waits for, and it is none of the controller's writes.
func TestAnEventIsNoWriteOfAReconcile(t *testing.T) {
	for path, isWrite := range map[string]bool{
		"/apis/work.open-cluster-management.io/v1/namespaces/a/manifestworks":        true,
		"/apis/apps/v1/namespaces/w/controllerrevisions":                             true,
		"/apis/work.open-cluster-management.io/v1/namespaces/a/manifestworks/events": true,
		"/api/v1/namespaces/events/configmaps":                                       true,
		"/apis/events.k8s.io/v1/namespaces/w/events":                                 false,
		"/apis/events.k8s.io/v1/namespaces/w/events/web.1":                           false,
		"/api/v1/namespaces/w/events":                                                false,
	} {
		caches := newLag(1, 0, 0, 0)
		caches.restart(false)
		caches.feed(event{rv: 7, id: id{Works, "a/web"}, at: dawn, object: &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web", ResourceVersion: "7"}}})
		noted, killed := 0, false
		net := &transport{lag: caches, seed: 1, drawn: map[string]int{}, note: func(write) { noted++ }, life: 1, crash: 2, atCreate: loses, hold: time.Millisecond, kill: func() { killed = true }}
		server := roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(strings.NewReader(`{"metadata": {"resourceVersion": "8"}}`))}, nil
		})
		post := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path}}
		_, err := net.roundTrip(server, 1, post.WithContext(t.Context()))
		shown := len(caches.view()) == 1
		for what, is := range map[string]bool{
			"the caches came up to date": shown, "it is the creation": net.atCreate == "", "its answer is lost": err != nil,
			"it was held back": net.hold == 0, "it is one less until the crash": net.crash == 1, "it is noted": noted == 1,
		} {
			if is != isWrite {
				t.Errorf("%s: %s: %v", path, what, is)
			}
		}
		net.crash = 1
		_, _ = net.roundTrip(server, 1, post.WithContext(t.Context()))
		if killed != isWrite {
			t.Errorf("%s: killed %v", path, killed)
		}
		net.crashed = true
		if _, err := net.roundTrip(server, 1, post.WithContext(t.Context())); err != errCrashed {
			t.Errorf("%s: the process is dead, and the answer is %v", path, err)
		}
	}
}

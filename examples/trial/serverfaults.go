// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serverFaults is what the API server does to all that the controller asks of it.
type serverFaults struct {
	mu      sync.Mutex
	gone    bool     // none answers
	denying bool     // the first write of a work is forbidden, in that namespace
	where   string   // the namespace in which works are forbidden
	but     []string // not in these
}

func (w *serverFaults) away() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

// leave has no agent answer, or all again.
func (w *serverFaults) leave(gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = gone
}

// deny forbids to write works in one namespace, but for some, from the next write on, or no more.
func (w *serverFaults) deny(denying bool, but ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.denying, w.where, w.but = denying, "", but
}

func (w *serverFaults) denied() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.where
}

func (w *serverFaults) denies(key string) bool {
	if w == nil {
		return false
	}
	namespace, _, _ := strings.Cut(key, "/")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.denying && w.where == "" && !slices.Contains(w.but, namespace) {
		w.where = namespace
	}
	return w.denying && w.where == namespace
}

// denial is the answer of an admission that forbids a request.
func denial(r *http.Request) *http.Response {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "injected: an admission webhook forbids it",
	})
	if err != nil {
		panic(err)
	}
	return &http.Response{
		Status: "403 Forbidden", StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

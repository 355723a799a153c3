// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// standInGroup is the API group of custom resources that stand in for those of the group apps. A custom resource cannot be in that one, since
// its name has no dot.
const standInGroup = "apps.stand-in.test"

// standIn has clients find these custom resources in the group apps: it changes the group in paths and in JSON, both ways. It does not
// know watches.
func standIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, of := strings.CutPrefix(r.URL.Path, "/apis/apps")
		if !of || rest != "" && rest[0] != '/' {
			next.ServeHTTP(w, r)
			return
		}
		if r.URL.Query().Has("watch") {
			http.Error(w, "objects of the group apps cannot be watched here", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = bytes.ReplaceAll(body, []byte(`"apps/v1"`), []byte(`"`+standInGroup+`/v1"`))
		asked := r.Clone(r.Context())
		asked.URL.Path, asked.ContentLength, asked.Body = "/apis/"+standInGroup+rest, int64(len(body)), io.NopCloser(bytes.NewReader(body))
		asked.Header.Del("Accept-Encoding")
		answer := answer{header: http.Header{}, code: http.StatusOK}
		next.ServeHTTP(&answer, asked)
		for key, values := range answer.header {
			w.Header()[key] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.code)
		_, _ = w.Write(bytes.ReplaceAll(answer.body.Bytes(), []byte(standInGroup), []byte("apps")))
	})
}

// answer keeps what a handler answers.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header                { return a.header }
func (a *answer) WriteHeader(code int)               { a.code = code }
func (a *answer) Write(part []byte) (n int, _ error) { return a.body.Write(part) }

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// The core group has no name, but the group of a custom resource must have one. Therefore the server stores core kinds as
// custom resources of an internal group. Requests and answers are translated.
const coreGroup = "core.sim"

var coreVersion = regexp.MustCompile(`"apiVersion"\s*:\s*"v1"`)

// isCore says whether a request is for a core kind.
func isCore(request *http.Request) bool { return strings.HasPrefix(request.URL.Path, "/api/v1/") }

// toCore translates a request for a core kind to the internal group.
func toCore(request *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	body = coreVersion.ReplaceAllLiteral(body, []byte(`"apiVersion":"`+coreGroup+`/v1"`))
	inner := request.Clone(request.Context())
	inner.URL.Path = "/apis/" + coreGroup + strings.TrimPrefix(request.URL.Path, "/api")
	inner.RequestURI = inner.URL.RequestURI()
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return inner, nil
}

var fromCoreWords = strings.NewReplacer(
	`"apiVersion":"`+coreGroup+`/v1"`, `"apiVersion":"v1"`,
	`"group":"`+coreGroup+`"`, `"group":""`,
	"."+coreGroup, "",
	coreGroup+"/v1", "v1",
)

// fromCore translates the answer back to the core group.
func fromCore(text []byte) []byte {
	if !bytes.Contains(text, []byte(coreGroup)) {
		return text
	}
	return []byte(fromCoreWords.Replace(string(text)))
}

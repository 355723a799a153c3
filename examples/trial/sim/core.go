package sim

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// The core group has no name, and a custom resource's group has to have one. So the server serves the core kinds as custom resources of a
// group that only it sees: what comes in and what goes out is translated.
const coreGroup = "core.sim"

var coreVersion = regexp.MustCompile(`"apiVersion"\s*:\s*"v1"`)

// isCore says whether a request is of a core kind.
func isCore(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/v1/") }

// toCore makes of a request of a core kind one of the group of the server.
func toCore(r *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	body = coreVersion.ReplaceAllLiteral(body, []byte(`"apiVersion":"`+coreGroup+`/v1"`))
	inner := r.Clone(r.Context())
	inner.URL.Path = "/apis/" + coreGroup + strings.TrimPrefix(r.URL.Path, "/api")
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

// fromCore makes of what the server says of the group what clients know it by.
func fromCore(text []byte) []byte {
	if !bytes.Contains(text, []byte(coreGroup)) {
		return text
	}
	return []byte(fromCoreWords.Replace(string(text)))
}

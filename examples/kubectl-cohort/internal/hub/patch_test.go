// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// set is a ManifestWorkReplicaSet as a server sends it, in a version, with a generation and annotations.
func set(t *testing.T, version string, generation int, annotations string) *manifest.Object {
	t.Helper()
	object, err := scenario.Reader().Served("test", json.RawMessage(setText(version, generation, annotations)))
	if err != nil {
		t.Fatal(err)
	}
	return &object
}

func setText(version string, generation int, annotations string) string {
	return fmt.Sprintf(`{"apiVersion":"work.open-cluster-management.io/v1alpha1","kind":"ManifestWorkReplicaSet","metadata":{"name":"set","namespace":"ns","uid":"u","resourceVersion":%q,"generation":%d,"annotations":{%s}},"spec":{}}`,
		version, generation, annotations)
}

// A patch has what differs and the version that it is for. It is tried again while only the status or the record of an object changes,
// and not where its spec or an approval did.
func TestAPatchIsForWhatWasRead(t *testing.T) {
	const paused, record = `"cohort.open-cluster-management.io/pause":"true"`, `"cohort.open-cluster-management.io/left":"{}"`
	for _, test := range []struct {
		why     string
		becomes *manifest.Object
		now     string // what the hub has by then; as it was read if it is empty
		patches []string
		fault   string
	}{
		{"an annotation more", set(t, "7", 3, `"a":"b",`+paused), "",
			[]string{`{"metadata":{"annotations":{"cohort.open-cluster-management.io/pause":"true"},"resourceVersion":"7"}}`}, ""},
		{"an annotation less", set(t, "7", 3, ""), "", []string{`{"metadata":{"annotations":{"a":null},"resourceVersion":"7"}}`}, ""},
		{"a record was stored meanwhile", set(t, "7", 3, `"a":"b",`+paused), setText("9", 3, `"a":"b",`+record), []string{
			`{"metadata":{"annotations":{"cohort.open-cluster-management.io/pause":"true"},"resourceVersion":"7"}}`,
			`{"metadata":{"annotations":{"cohort.open-cluster-management.io/pause":"true"},"resourceVersion":"9"}}`}, ""},
		{"its spec changed meanwhile", set(t, "7", 3, paused), setText("9", 4, `"a":"b"`), nil, "it changed after it was read, nothing is written"},
		{"another user decided meanwhile", set(t, "7", 3, paused), setText("9", 3, `"cohort.open-cluster-management.io/gates":"0"`), nil, "it changed after it was read, nothing is written"},
		{"another user gave a verdict meanwhile", set(t, "7", 3, paused), setText("9", 3, `"cohort.open-cluster-management.io/verdict":"{\"result\":\"FAILED\",\"version\":\"v\"}"`), nil, "it changed after it was read, nothing is written"},
		{"it was tried again meanwhile", set(t, "7", 3, paused), setText("9", 3, `"cohort.open-cluster-management.io/version":"v","cohort.open-cluster-management.io/attempt":"1"`), nil, "it changed after it was read, nothing is written"},
		{"it is gone", set(t, "7", 3, paused), `{"metadata":{"name":"other"}}`, nil, "it changed after it was read, nothing is written"},
	} {
		var patches []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch r.Method + " " + r.URL.Path {
			case "PATCH /apis/work.open-cluster-management.io/v1alpha1/namespaces/ns/manifestworkreplicasets/set":
				body, _ := io.ReadAll(r.Body)
				patches = append(patches, string(body))
				if test.now != "" && !strings.Contains(string(body), `"resourceVersion":"9"`) {
					w.WriteHeader(http.StatusConflict)
					fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"modified"}`)
				}
			case "GET /apis/work.open-cluster-management.io/v1alpha1/namespaces/ns/manifestworkreplicasets":
				fmt.Fprintf(w, `{"items":[%s]}`, strings.Replace(test.now, `{"metadata":{"name":"other"}}`, "", 1))
			default:
				http.NotFound(w, r)
			}
		}))
		client, err := hub.New(&rest.Config{Host: server.URL}, scenario.Reader())
		if err != nil {
			t.Fatal(err)
		}
		name, err := client.Patch(t.Context(), set(t, "7", 3, `"a":"b"`), test.becomes)
		server.Close()
		switch {
		case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)):
			t.Errorf("%s: %v, want %s", test.why, err, test.fault)
		case test.fault == "" && (err != nil || name != "manifestworkreplicaset.work.open-cluster-management.io/set"):
			t.Errorf("%s: %v, %s", test.why, err, name)
		case test.patches != nil && strings.Join(patches, "\n") != strings.Join(test.patches, "\n"):
			t.Errorf("%s: patched\n%s\nwant\n%s", test.why, strings.Join(patches, "\n"), strings.Join(test.patches, "\n"))
		}
	}
	client, err := hub.New(&rest.Config{Host: "http://127.0.0.1:1"}, scenario.Reader())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Patch(t.Context(), set(t, "", 3, ""), set(t, "", 3, paused)); err == nil || !strings.Contains(err.Error(), "must be an object that a hub sent") {
		t.Errorf("an object of a file: %v", err)
	}
}

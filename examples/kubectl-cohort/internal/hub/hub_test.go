// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// served is a hub that answers some requests, by their path and query, and has nothing else. It keeps what was asked.
type served struct {
	*hub.Client
	asked []string
}

func serve(t *testing.T, answers map[string]string) *served {
	t.Helper()
	var s served
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Path
		if query := r.URL.Query(); len(query) > 0 {
			asked += "?" + query.Encode()
		}
		s.asked = append(s.asked, r.Method+" "+asked)
		answer, found := answers[asked]
		switch status := 0; {
		case !found:
			http.NotFound(w, r)
		case len(answer) == 3:
			fmt.Sscan(answer, &status)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			reason := map[int]string{403: "Forbidden", 410: "Expired"}[status]
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"refused"}`, reason, status)
		default:
			fmt.Fprint(w, answer)
		}
	}))
	t.Cleanup(server.Close)
	client, err := hub.New(&rest.Config{Host: server.URL}, scenario.Reader())
	if err != nil {
		t.Fatal(err)
	}
	s.Client = client
	return &s
}

// list is a page of things with a token for the next one.
func list(next string, names ...string) string {
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"apiVersion":"g/v1","kind":"Thing","metadata":{"name":%q}}`, name))
	}
	return fmt.Sprintf(`{"apiVersion":"g/v1","kind":"ThingList","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
}

const things = "/apis/g/v1/things"

func TestLists(t *testing.T) {
	for _, test := range []struct {
		why      string
		resource hub.Resource
		answers  map[string]string
		want     []string
		notes    int
		fault    string
	}{
		{"page by page", hub.Resource{}, map[string]string{things + "?limit=500": list("x", "a", "b"), things + "?continue=x&limit=500": list("", "c")}, []string{"a", "b", "c"}, 0, ""},
		{"what the hub does not have", hub.Resource{}, nil, nil, 0, ""},
		{"the first version that it has", hub.Resource{Versions: []string{"v2", "v1"}}, map[string]string{things + "?limit=500": list("", "a")}, []string{"a"}, 0, ""},
		{"a namespace and labels", hub.Resource{Namespace: "ns", Labels: "a=b"}, map[string]string{"/apis/g/v1/namespaces/ns/things?labelSelector=a%3Db&limit=500": list("", "a")}, []string{"a"}, 0, ""},
		{"a page that came too late", hub.Resource{}, map[string]string{things + "?limit=500": list("x", "a"), things + "?continue=x&limit=500": "410", things: list("", "b", "c")}, []string{"b", "c"}, 0, ""},
		{"what one may not list", hub.Resource{}, map[string]string{things + "?limit=500": "403"}, nil, 0, "things.g: refused"},
		{"what one may not list and need not", hub.Resource{Optional: true}, map[string]string{things + "?limit=500": "403"}, nil, 1, ""},
		{"what is no object", hub.Resource{}, map[string]string{things + "?limit=500": `{"items":[{}]}`}, nil, 0, "things.g: must be an object"},
	} {
		t.Run(test.why, func(t *testing.T) {
			s := serve(t, test.answers)
			r := test.resource
			r.Group, r.Name = "g", "things"
			if r.Versions == nil {
				r.Versions = []string{"v1"}
			}
			objects, notes, err := s.List(t.Context(), r)
			var names []string
			for _, o := range objects {
				names = append(names, o.GetName())
			}
			if diff := cmp.Diff(test.want, names); diff != "" || len(notes) != test.notes {
				t.Errorf("%d notes, want %d; objects (-want +got):\n%s", len(notes), test.notes, diff)
			}
			if test.fault == "" && err != nil || test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)) {
				t.Errorf("%v, want %q", err, test.fault)
			}
		})
	}
}

// Of a hub only that is read which the rollouts need that are wanted, and nothing is written.
func TestRolloutsAsksForWhatTheyNeed(t *testing.T) {
	set := func(name string) string {
		return `{"apiVersion":"work.open-cluster-management.io/v1alpha1","kind":"ManifestWorkReplicaSet","metadata":{"name":"` + name + `","namespace":"ns"}}`
	}
	const sets = "/apis/work.open-cluster-management.io/v1alpha1/manifestworkreplicasets?limit=500"
	s := serve(t, map[string]string{sets: `{"items":[` + set("web") + `,` + set("db") + `]}`})
	if _, _, err := s.Rollouts(t.Context(), scenario.Wanted{Rollout: "web"}); err != nil {
		t.Fatal(err)
	}
	asked := strings.Join(s.asked, "\n")
	for _, want := range []string{sets, "/placements?", "/placementdecisions?", "/managedclusters?",
		"/manifestworks?labelSelector=work.open-cluster-management.io%2Fmanifestworkreplicaset%3Dns.web&limit=500"} {
		if !strings.Contains(asked, want) {
			t.Errorf("not asked for %s:\n%s", want, asked)
		}
	}
	for _, never := range []string{"managedclusteraddons", "placementbindings", "POST", "PUT", "PATCH", "DELETE", "watch"} {
		if strings.Contains(asked, never) {
			t.Errorf("asked for %s:\n%s", never, asked)
		}
	}
	if n := strings.Count(asked, "GET "); n != len(s.asked) {
		t.Errorf("%d of %d requests get", n, len(s.asked))
	}
}

// A kind that may not be listed hides no other kind, unless it is asked for.
func TestAForbiddenKindIsLeftOut(t *testing.T) {
	const addOn = `{"apiVersion":"addon.open-cluster-management.io/v1beta1","kind":"ClusterManagementAddOn","metadata":{"name":"proxy"}}`
	answers := map[string]string{
		"/apis/work.open-cluster-management.io/v1alpha1/manifestworkreplicasets?limit=500":                                               `{"items":[` + setText("1", 1, "") + `]}`,
		"/apis/policy.open-cluster-management.io/v1/policies?labelSelector=%21policy.open-cluster-management.io%2Froot-policy&limit=500": "403",
		"/apis/addon.open-cluster-management.io/v1beta1/clustermanagementaddons?limit=500":                                               `{"items":[` + addOn + `]}`,
		"/apis/addon.open-cluster-management.io/v1beta1/managedclusteraddons?limit=500":                                                  "403",
	}
	all, notes, err := serve(t, answers).Rollouts(t.Context(), scenario.Wanted{})
	if err != nil || len(all) != 1 || all[0].GetKind() != "ManifestWorkReplicaSet" || len(notes) != 2 ||
		!strings.Contains(notes[0], "policies.policy.open-cluster-management.io: may not be listed") || !strings.HasPrefix(notes[1], "left out: each ClusterManagementAddOn") {
		t.Errorf("%v, %q, %v", all, notes, err)
	}
	if _, _, err := serve(t, answers).Rollouts(t.Context(), scenario.Wanted{Rollout: "proxy"}); err == nil || !strings.Contains(err.Error(), "managedclusteraddons") {
		t.Errorf("one whose objects may not be listed is asked for: %v", err)
	}
	if _, _, err := serve(t, answers).Rollouts(t.Context(), scenario.Wanted{Rollout: "pol"}); err == nil || !strings.Contains(err.Error(), "policies.policy.open-cluster-management.io: may not be listed") {
		t.Errorf("one that may be of a kind that may not be listed is asked for: %v", err)
	}
}

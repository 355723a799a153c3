// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

var differ = flag.Duration("differ", 3*time.Second, "how long random requests are compared; a minute in CI, 30 minutes before a release")

// kind is one with compared requests. An object has some fields beside its metadata.
type kind struct {
	apiVersion, kind, plural string
	fields                   func(r request) map[string]any
}

var compared = []kind{
	{"work.open-cluster-management.io/v1", "ManifestWork", "manifestworks", func(r request) map[string]any {
		manifest := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": map[string]any{"x": fmt.Sprint(r.y)}}
		spec := map[string]any{"workload": map[string]any{"manifests": []any{manifest}}, "unknown": 1}
		if r.x == 2 && r.y == 1 {
			spec["deleteOption"] = map[string]any{"propagationPolicy": "Nonsense"}
		}
		condition := map[string]any{"type": "Applied", "status": "True", "reason": "R", "message": fmt.Sprint(r.x),
			"lastTransitionTime": "2030-01-01T00:00:00Z", "observedGeneration": r.y}
		return map[string]any{"spec": spec, "status": map[string]any{"conditions": []any{condition}}}
	}},
	{"shop.example.com/v1", "Widget", "widgets", func(r request) map[string]any {
		spec := map[string]any{"color": []string{"red", "green", "blue", "purple"}[r.x], "parts": []any{
			map[string]any{"name": fmt.Sprint("p", r.y), "size": r.x}, map[string]any{"name": "q"}}}
		if r.y == 1 {
			spec["replicas"] = r.x - 1
		}
		return map[string]any{"spec": spec, "status": map[string]any{"phase": fmt.Sprint(r.x), "replicas": r.y}}
	}},
	{"coordination.k8s.io/v1", "Lease", "leases", func(r request) map[string]any {
		spec := map[string]any{"holderIdentity": fmt.Sprint("process-", r.x), "leaseDurationSeconds": 15, "leaseTransitions": r.y,
			"acquireTime": "2030-01-01T00:00:00.000000Z", "renewTime": fmt.Sprintf("2030-01-01T00:00:%02d.000000Z", r.x)}
		if r.y == 1 { // it was released
			spec["holderIdentity"] = ""
		}
		return map[string]any{"spec": spec}
	}},
	{"events.k8s.io/v1", "Event", "events", func(r request) map[string]any {
		fields := map[string]any{
			"eventTime": "2030-01-01T00:00:00.000000Z", "reportingController": "works", "reportingInstance": "works-0", "action": "Apply",
			"type": []string{"Normal", "Warning"}[r.x%2], "reason": fmt.Sprint("Reason", r.y), "note": fmt.Sprint("cluster ", r.x),
			"regarding": map[string]any{"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork", "namespace": r.namespace, "name": r.name},
		}
		if r.y == 2 { // it is told again
			fields["series"] = map[string]any{"count": r.x + 2, "lastObservedTime": "2030-01-01T00:06:00.000000Z"}
		}
		return fields
	}},
}

// request is one that was drawn: what it is, and how it varies. Both servers get the same.
type request struct {
	kind, op, x, y int
	namespace      string
	name           string
}

const operations = 24

func drawRequests(seed uint64) (all []request) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		all = append(all, request{rng.IntN(len(compared)), rng.IntN(operations), rng.IntN(4), rng.IntN(3),
			fmt.Sprintf("s%d-%d", seed, rng.IntN(2)), fmt.Sprint("w", rng.IntN(3))})
	}
	return all
}

// side is one of the two servers, and what is known of its objects.
type side struct {
	config *rest.Config
	client *http.Client
	base   int64             // the revision when it began
	seen   map[string]string // UIDs, in the order in which they came
	uidOf  map[string]string // by object, as it was answered last
	rvOf   map[string]int64
	deep   map[string]string // tokens to continue lists with
	events [][]string        // by kind
	done   []chan struct{}
}

func newSide(c *rest.Config) (*side, error) {
	client, err := rest.HTTPClientFor(c)
	return &side{
		config: c, client: client, seen: map[string]string{}, uidOf: map[string]string{}, rvOf: map[string]int64{}, deep: map[string]string{},
		events: make([][]string, len(compared)), done: make([]chan struct{}, len(compared)),
	}, err
}

// play sends the requests, and returns the answers and the events, without what may differ.
func (s *side) play(ctx context.Context, requests []request) (answers, events []string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, text := s.do(ctx, "GET", s.all(0, ""), "", "")
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	_ = json.Unmarshal(text, &list)
	s.base, _ = strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
	for k := range compared {
		s.watch(ctx, k)
	}
	for _, r := range requests {
		code, text := s.send(ctx, r)
		answers = append(answers, fmt.Sprint(code, " ", s.plain(text)))
		s.note(r, code, text)
	}
	time.Sleep(200 * time.Millisecond) // real events are on their way
	cancel()
	for k := range compared {
		<-s.done[k]
		for _, e := range s.events[k] {
			events = append(events, s.plain([]byte(e)))
		}
	}
	return answers, events
}

func (s *side) do(ctx context.Context, method, path, contentType, body string) (int, []byte) {
	r, err := http.NewRequestWithContext(ctx, method, s.config.Host+path, strings.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error())
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "differ")
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, text
}

// stream watches a list as an informer does: all objects that there are, and a bookmark behind the last.
func (s *side) stream(ctx context.Context, path string) (int, []byte) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", s.config.Host+path, nil)
	if err != nil {
		return 0, []byte(err.Error())
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer answer.Body.Close()
	var events []json.RawMessage
	for decoder := json.NewDecoder(answer.Body); ; {
		var event json.RawMessage
		if err := decoder.Decode(&event); err != nil {
			break
		}
		events = append(events, event)
		if bytes.Contains(event, []byte(metav1.InitialEventsAnnotationKey)) {
			break
		}
	}
	return answer.StatusCode, []byte(encode(events))
}

func (s *side) all(k int, namespace string) string {
	if namespace != "" {
		namespace = "/namespaces/" + namespace
	}
	return "/apis/" + compared[k].apiVersion + namespace + "/" + compared[k].plural
}

func (r request) key() string { return fmt.Sprint(r.kind, r.namespace, "/", r.name) }

// object is what a write has.
func (s *side) object(r request) map[string]any {
	meta := map[string]any{"name": r.name, "labels": map[string]any{"l": fmt.Sprint(r.x)}}
	if rv := s.rvOf[r.key()]; r.x > 0 && rv > 0 && r.op != 0 {
		if r.x == 3 {
			rv--
		}
		meta["resourceVersion"] = fmt.Sprint(rv)
	}
	if r.y == 2 {
		meta["finalizers"] = []string{"a/b"}
	}
	k := compared[r.kind]
	object := k.fields(r)
	object["apiVersion"], object["kind"], object["metadata"] = k.apiVersion, k.kind, meta
	return object
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	return string(text)
}

func (s *side) send(ctx context.Context, r request) (int, []byte) {
	all := s.all(r.kind, r.namespace)
	one, object := all+"/"+r.name, s.object(r)
	const asJSON, merge = "application/json", "application/merge-patch+json"
	switch r.op {
	case 0, 1, 2:
		return s.do(ctx, "POST", all+[]string{"", "?dryRun=All", "?fieldValidation=Strict"}[r.op%3], asJSON, encode(object))
	case 3, 4:
		return s.do(ctx, "PUT", one+dry(r.op == 4 && r.y == 1), asJSON, encode(object))
	case 5, 6:
		return s.do(ctx, "PUT", one+"/status", asJSON, encode(object))
	case 7:
		finalizers := []any{nil, []string{"a/b"}, []string{}}[r.y]
		return s.do(ctx, "PATCH", one+dry(r.x == 3), merge, encode(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": fmt.Sprint(r.x)}, "finalizers": finalizers}}))
	case 8:
		return s.do(ctx, "PATCH", one+"/status", merge, encode(map[string]any{"status": object["status"], "spec": map[string]any{"x": 1}}))
	case 9:
		return s.do(ctx, "PATCH", one, "application/json-patch+json", fmt.Sprintf(
			`[{"op":"test","path":"/metadata/labels/l","value":"%d"},{"op":"replace","path":"/metadata/labels/l","value":"9"}]`, r.x))
	case 10, 11:
		return s.apply(ctx, r, one, object)
	case 12, 13:
		return s.do(ctx, "DELETE", one+dry(r.op == 13 && r.y == 2), asJSON, encode(s.deletion(r)))
	case 14:
		return s.do(ctx, "GET", one+[]string{"", "/status", "/scale"}[r.y], "", "")
	case 15:
		return s.do(ctx, "GET", all+"?"+url.Values{"labelSelector": {fmt.Sprint("l=", r.x)}}.Encode(), "", "")
	case 16:
		return s.do(ctx, "GET", all+"?"+url.Values{"limit": {fmt.Sprint(r.y)}, "continue": {s.deep[all]}}.Encode(), "", "")
	case 17:
		match := []string{"Exact", "NotOlderThan", "NotOlderThan"}[r.y]
		return s.do(ctx, "GET", all+"?"+url.Values{"resourceVersion": {fmt.Sprint(s.base + int64(20*r.x))}, "resourceVersionMatch": {match}}.Encode(), "", "")
	case 18:
		return s.do(ctx, "GET", all+"?"+url.Values{"fieldSelector": {[]string{"metadata.name=", "metadata.namespace=", "spec.no="}[r.y] + r.name}}.Encode(), "", "")
	case 19:
		return s.do(ctx, "DELETE", all+"?"+url.Values{"labelSelector": {fmt.Sprint("l=", r.x)}}.Encode(), asJSON, "{}")
	case 20:
		return s.do(ctx, "PATCH", one+"/scale", merge, encode(map[string]any{"spec": map[string]any{"replicas": r.x}}))
	case 21:
		options := url.Values{"watch": {"1"}, "sendInitialEvents": {"true"}, "allowWatchBookmarks": {"true"}, "timeoutSeconds": {"20"},
			"resourceVersion": {[]string{"", "0", fmt.Sprint(s.base)}[r.y]}}
		if r.x > 0 { // it is refused without
			options.Set("resourceVersionMatch", "NotOlderThan")
		}
		return s.stream(ctx, all+"?"+options.Encode())
	case 22: // a lease is taken or renewed, and an event is told again, whatever came between
		return s.do(ctx, "PATCH", one, []string{merge, "application/strategic-merge-patch+json"}[r.y%2], encode(map[string]any{"metadata": map[string]any{"resourceVersion": fmt.Sprint(s.rvOf[r.key()])},
			"spec": object["spec"], "series": object["series"]}))
	default:
		delete(object["metadata"].(map[string]any), "name")
		return s.do(ctx, "POST", all, asJSON, encode(object))
	}
}

// dry has a request carried out without storing anything.
func dry(run bool) string {
	if run {
		return "?dryRun=All"
	}
	return ""
}

// apply applies on the server's side.
func (s *side) apply(ctx context.Context, r request, one string, object map[string]any) (int, []byte) {
	delete(object["metadata"].(map[string]any), "resourceVersion")
	if r.op == 10 {
		delete(object, "status")
		if spec, has := object["spec"].(map[string]any); has {
			delete(spec, "unknown")
		}
	} else {
		one += "/status"
		delete(object, "spec")
	}
	return s.do(ctx, "PATCH", fmt.Sprintf("%s?fieldManager=m%d&force=%t", one, r.x, r.y == 0), "application/apply-patch+yaml", encode(object))
}

func (s *side) deletion(r request) map[string]any {
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}
	uid, rv := s.uidOf[r.key()], s.rvOf[r.key()]
	switch {
	case r.x == 1 && uid != "":
		options["preconditions"] = map[string]any{"uid": uid}
	case r.x == 2:
		options["preconditions"] = map[string]any{"uid": "00000000-0000-0000-0000-000000000000"}
	case r.x == 3 && rv > 0:
		options["preconditions"] = map[string]any{"resourceVersion": fmt.Sprint(rv)}
	case r.y == 1:
		options["propagationPolicy"] = "Foreground"
	}
	return options
}

// note remembers what an answer says of an object.
func (s *side) note(r request, code int, text []byte) {
	var o struct {
		Kind     string
		Metadata struct{ UID, ResourceVersion, Continue string }
	}
	if json.Unmarshal(text, &o) != nil {
		return
	}
	if r.op == 16 {
		s.deep[s.all(r.kind, r.namespace)] = o.Metadata.Continue
	}
	if o.Kind == compared[r.kind].kind && r.op < 15 {
		s.uidOf[r.key()] = o.Metadata.UID
		s.rvOf[r.key()], _ = strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
	}
}

func (s *side) watch(ctx context.Context, k int) {
	s.done[k] = make(chan struct{})
	r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s%s?watch=1&resourceVersion=%d", s.config.Host, s.all(k, ""), s.base), nil)
	if err != nil {
		panic(err)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		panic(err)
	}
	go func() {
		defer close(s.done[k])
		defer answer.Body.Close()
		for lines := bufio.NewReader(answer.Body); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			s.events[k] = append(s.events[k], string(line))
		}
	}()
}

var (
	uidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	versions   = regexp.MustCompile(`Too large resource version: (\d+), current: (\d+)|precondition \((\d+)\).* record \((\d+)\)`)
	number     = regexp.MustCompile(`\d+`)
)

// plain takes out of an answer what may differ: times, UIDs, the beginning of the resourceVersions, and orders that are those of maps or of times.
func (s *side) plain(text []byte) string {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	return encode(s.plainValue("", v))
}

func (s *side) plainValue(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = s.plainValue(k, x)
		}
	case []any:
		for i, x := range v {
			v[i] = s.plainValue(key, x)
		}
		if key == "causes" || key == "managedFields" {
			slices.SortFunc(v, func(a, b any) int { return cmp.Compare(encode(a), encode(b)) })
		}
	case string:
		return s.plainText(key, v)
	}
	return v
}

func (s *side) plainText(key, v string) string {
	switch key {
	case "resourceVersion":
		if rv, err := strconv.ParseInt(v, 10, 64); err == nil && rv >= s.base {
			return fmt.Sprint("+", rv-s.base)
		}
	case "creationTimestamp", "deletionTimestamp", "time":
		return "T"
	case "continue":
		return fmt.Sprint(v != "")
	}
	v = versions.ReplaceAllStringFunc(v, func(text string) string {
		return number.ReplaceAllStringFunc(text, func(n string) string {
			rv, _ := strconv.ParseInt(n, 10, 64)
			return fmt.Sprint("+", rv-s.base)
		})
	})
	return uidPattern.ReplaceAllStringFunc(v, func(uid string) string {
		if s.seen[uid] == "" {
			s.seen[uid] = fmt.Sprint("uid", len(s.seen))
		}
		return s.seen[uid]
	})
}

// TestDifferential sends the same random requests to Kubernetes' server with a real etcd and to the simulated one, and compares all answers
// and all events, bookmarks among them. Leases and events are built into a Kubernetes server; the server of this package has custom resources
// of their names.
func TestDifferential(t *testing.T) {
	files, err := apiserver.OCMDefinitions("work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../sim/testdata/widgets.yaml")
	real, err := apiserver.Start(t.TempDir(), append(files, "testdata/leases.yaml", "testdata/events.yaml")...)
	if err != nil {
		t.Fatal(err)
	}
	defer real.Stop()
	time.Sleep(2 * time.Second) // a server holds back what is created within two seconds of a definition
	definitions, err := sim.ReadDefinitions(files...)
	if err != nil {
		t.Fatal(err)
	}
	definitions = definitions.And(sim.Core()) // with leases and events as the simulator has them
	requests, events, codes := 0, 0, map[string]int{}
	began := time.Now()
	for seed := uint64(began.Unix()); time.Since(began) < *differ && !t.Failed(); seed++ {
		drawn := drawRequests(seed)
		expected, expectedEvents := playOn(t, real.Config, drawn)
		var found, foundEvents []string
		sim.Play(t, sim.Options{Seed: seed, Network: sim.Network{Least: time.Microsecond, Spread: time.Microsecond}}, func(w *sim.World) {
			found, foundEvents = playOn(w.T, w.NewServer("sim", definitions).Config("differ"), drawn)
		})
		for i, answer := range expected {
			requests++
			codes[answer[:3]]++
			if found[i] != answer {
				t.Errorf("seed %d, request %d: %+v\nreal %s\nsim  %s", seed, i, drawn[i], answer, found[i])
			}
		}
		if events += len(expectedEvents); !slices.Equal(expectedEvents, foundEvents) {
			t.Errorf("seed %d, events\nreal %s\nsim  %s", seed, strings.Join(expectedEvents, ""), strings.Join(foundEvents, ""))
		}
	}
	t.Logf("%d requests and %d events are the same; answers %v", requests, events, codes)
	if codes["200"] == 0 || codes["201"] == 0 || codes["404"] == 0 || codes["409"] == 0 || codes["422"] == 0 {
		t.Errorf("the answers were %v, expected some of each kind", codes)
	}
}

func playOn(t *testing.T, config *rest.Config, requests []request) (answers, events []string) {
	s, err := newSide(config)
	if err != nil {
		t.Fatal(err)
	}
	return s.play(t.Context(), requests)
}

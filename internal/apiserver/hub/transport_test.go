package hub_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// A write is a request of the controller that changes something, noted by the transport below its client.
type write struct {
	verb      string // the method
	key       string // namespace/name
	kind      kind
	status    bool  // of the subresource
	rv        int64 // of the answer; 0 if it has none
	done      bool  // the server has carried it out
	lost      bool  // but the controller was told nothing
	sent      time.Time
	reconcile int
	setShown  int64 // resourceVersion of the ManifestWorkReplicaSet in the caches when it was sent
}

var (
	errCrashed = errors.New("the controller has crashed")
	errLost    = errors.New("injected: the connection broke")
)

// transport is the network between a controller and the API server. It is slow, it breaks before a request or
// before its answer, and the controller may crash at any write. All its requests come from one goroutine.
type transport struct {
	base http.RoundTripper
	rng  *rand.Rand
	lag  *lag
	set  id

	breaks  float64       // how many writes meet a broken connection
	slow    time.Duration // every write takes as long at most
	crash   int           // writes until it crashes; 0 is never
	crashed bool

	reconcile int
	writes    []write
	newest    map[kind]int64 // resourceVersion of the last answer, by kind
}

func (t *transport) wrap(config *rest.Config) {
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		t.base = base
		return t
	})
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.crashed {
		return nil, errCrashed
	}
	if r.Method == http.MethodGet {
		return t.base.RoundTrip(r)
	}
	w := write{verb: r.Method, reconcile: t.reconcile, setShown: t.lag.shown[t.set], sent: time.Now()}
	w.kind, w.key, w.status = target(r.URL.Path)
	dies := false
	if t.crash > 0 {
		t.crash--
		dies = t.crash == 0
	}
	t.crashed = dies
	if t.rng.Float64() < t.breaks || dies && t.rng.IntN(2) == 0 {
		return nil, errLost
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	w.done = response.StatusCode < 300
	var answer struct {
		Metadata struct {
			Name            string `json:"name"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if w.done && json.Unmarshal(body, &answer) == nil {
		w.rv, _ = strconv.ParseInt(answer.Metadata.ResourceVersion, 10, 64)
		t.newest[w.kind] = max(t.newest[w.kind], w.rv)
		if r.Method == http.MethodPost {
			w.key += "/" + answer.Metadata.Name
		}
	}
	w.lost = t.rng.Float64() < t.breaks || dies
	t.writes = append(t.writes, w)
	if t.slow > 0 {
		time.Sleep(time.Duration(t.rng.Int64N(int64(t.slow))))
	}
	t.lag.deliver(time.Now())
	if w.lost {
		return nil, errLost
	}
	return response, nil
}

// target reads the kind and the key from the path /apis/<group>/<version>/namespaces/<namespace>/<plural>/<name>/status.
func target(path string) (kind, string, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	k := works
	if parts[5] == "manifestworkreplicasets" {
		k = replicaSets
	}
	key := parts[4]
	if len(parts) > 6 {
		key += "/" + parts[6]
	}
	return k, key, len(parts) > 7
}

// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A write is a request of the controller that changes something, noted by the transport below its client.
type write struct {
	verb      string // the method
	key       string // namespace/name
	kind      Kind
	status    bool  // of the subresource
	rv        int64 // of the answer; 0 if it has none
	done      bool  // the server has carried it out
	lost      bool  // but the controller was told nothing
	refused   bool  // the server was too busy, and may have done it all the same
	unknown   bool  // the connection broke on its way, and no answer said whether the server has carried it out
	delayed   bool  // it came to the server when the process had given up
	denied    bool  // the server forbade it
	generated bool  // it left the name to the server
	unasked   bool  // its process had not asked for the lease
	sent      time.Time
	answered  time.Time
	reconcile int
	life      int
	setShown  int64 // resourceVersion of the ManifestWorkReplicaSet in the caches when it was sent
}

// A read is an answer of the API server to the controller. After it the process knows an object, or all objects of a kind, as they
// were then.
type read struct {
	kind Kind
	key  string // namespace/name, or the namespace, or nothing, of a list
	list bool
	rv   int64 // of what was read; of one object that is when it changed last, which may be long before
	life int
	at   time.Time // when it was answered
}

// has says whether a read shows how an object stands.
func (r *read) has(i id) bool {
	return r.kind == i.kind && (r.key == i.key || r.list && (r.key == "" || strings.HasPrefix(i.key, r.key+"/")))
}

var (
	errCrashed = errors.New("the controller has crashed")
	errLost    = errors.New("injected: the connection broke")
)

// transport is the network between a controller and the API server. It is slow, it breaks before a request or
// before its answer, it holds requests back, and the controller may crash at any write.
type transport struct {
	lag          *lag
	set          id
	breaks       float64       // how many writes meet a broken connection
	unheard      int           // of so many processes what they write to the owner never comes to the server, but for the status, and patches without an annotation
	slow         time.Duration // every write takes as long at most
	note         func(write)
	read         func(read)
	reread       func(reconcile int)
	serverFaults *serverFaults       // that of the world; nil for a fair one
	fails        func(reconcile int) // notes that a request of it failed; may be nil

	sending sync.WaitGroup
	seed    uint64
	replica int

	mu        sync.Mutex
	drawn     map[string]int // how often each thing was drawn
	life      int
	crash     int    // writes until it crashes; 0 is never
	atCreate  string // what happens when it has created a work: replaces or loses
	crashed   bool
	kill      func()        // ends the process
	hold      time.Duration // the next write is held back for as long
	reconcile int
}

// start has the requests of a process go through the network.
func (t *transport) start(p *Process, kill func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.life, t.crashed, t.crash, t.kill, t.hold = p.life, false, 0, kill, 0
	p.Config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return t.roundTrip(base, p.life, r) })
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// dieSoon has the process crash at one of its next writes.
func (t *transport) dieSoon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.crashed && t.crash == 0 {
		t.crash = 1 + t.draws("crash").IntN(4)
	}
}

// die has the process crash now.
func (t *transport) die() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crashed = true
	if t.kill != nil {
		t.kill()
	}
}

// dieAt has the process crash at its n-th write from now on.
func (t *transport) dieAt(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crash = n
}

// mend has no connection break any more.
func (t *transport) mend() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.breaks = 0
}

// holdNext has the next write come to the server late.
func (t *transport) holdNext(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hold = d
}

// drawTime draws a time up to a longest one.
func (t *transport) drawTime(longest time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Duration(t.draws("time").Int64N(int64(longest)))
}

// draws is what the next thing with a name is drawn from. So it does not matter in which order things with other names come.
func (t *transport) draws(name string) *rand.Rand {
	t.drawn[name]++
	return drawn(t.seed, "network", t.replica, name, t.drawn[name])
}

// fate is what becomes of a request.
type fate struct {
	dead, dies, lostBefore, lostAfter bool
	hold, slow                        time.Duration
	reconcile                         int
}

// await has something happen when the process has created a work: replaces or loses. It returns when it has.
func (t *transport) await(ctx context.Context, what string) {
	t.mu.Lock()
	t.atCreate = what
	t.mu.Unlock()
	for start := time.Now(); time.Since(start) < 5*time.Second && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		t.mu.Lock()
		done := t.atCreate == ""
		t.mu.Unlock()
		if done {
			return
		}
	}
}

func (t *transport) draw(life int, verb, path string) (f fate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rng := t.draws(verb + path)
	f.reconcile = t.reconcile
	if f.dead = t.crashed || t.life != life; f.dead {
		return f
	}
	f.lostBefore = rng.Float64() < t.breaks
	if verb == http.MethodGet {
		return f
	}
	if t.crash > 0 {
		t.crash--
		f.dies = t.crash == 0
	}
	what := ""
	if verb == http.MethodPost {
		what, t.atCreate = t.atCreate, ""
	}
	f.dies = f.dies || what == replaces
	t.crashed = f.dies
	f.hold, t.hold = t.hold, 0
	f.lostBefore = what == "" && (f.lostBefore || f.dies && rng.IntN(2) == 0)
	f.lostAfter = rng.Float64() < t.breaks || f.dies || what == loses
	if t.slow > 0 {
		f.slow = time.Duration(rng.Int64N(int64(t.slow)))
	}
	return f
}

// roundTrip carries a request. An Event meets a network that breaks, and nothing else: a process makes those whenever it likes, beside its
// reconciles; its caches stay as they are.
func (t *transport) roundTrip(base http.RoundTripper, life int, r *http.Request) (*http.Response, error) {
	verb, event := r.Method, isEvent(r.URL.Path)
	if event {
		verb = http.MethodGet
	}
	f := t.draw(life, verb, r.URL.Path)
	if f.dead {
		return nil, errCrashed
	}
	if f.dies {
		defer t.kill()
	}
	if t.fails != nil && !event && (f.lostBefore || f.lostAfter || t.serverFaults.away()) {
		t.fails(f.reconcile)
	}
	if f.lostBefore || t.serverFaults.away() {
		return nil, breaking(r.Context())
	}
	switch {
	case event:
		return base.RoundTrip(r)
	case r.Method == http.MethodGet:
		return t.fetch(base, life, r)
	}
	w := write{verb: r.Method, reconcile: f.reconcile, life: life, setShown: t.lag.shows(t.set), sent: time.Now()}
	w.kind, w.key, w.status = target(r.URL.Path)
	if record := r.Method != http.MethodPatch || mentions(r, `"annotations"`); life <= t.unheard && record && !w.status && t.isOwner(w.key) {
		return nil, breaking(r.Context())
	}
	w.delayed, w.generated = f.hold > 0, r.Method == http.MethodPost && bodyHas(r, `"generateName"`)
	if w.kind == Works && !w.status && t.serverFaults.denies(w.key) {
		w.denied, w.answered = true, time.Now()
		t.note(w)
		t.fails(f.reconcile)
		return denial(r), nil
	}
	finalizer := w.kind == ReplicaSets && mentions(r, `"finalizers"`)
	response, err := t.carry(base, r, w, f)
	time.Sleep(f.slow)
	t.lag.deliver(time.Now())
	if finalizer {
		t.reread(f.reconcile) // it comes before all reading
	}
	return response, err
}

// breaking is how a connection breaks: after a while, as one that tries again at once would otherwise do nothing else.
func breaking(ctx context.Context) error {
	sleep(ctx, 2*time.Millisecond)
	return errLost
}

// isOwner says whether a key is that of the owner: its name, or its namespace, is that of the rollout.
func (t *transport) isOwner(key string) bool {
	before, _, _ := strings.Cut(key, "/")
	rollout, _, _ := strings.Cut(t.set.key, "/")
	return before == rollout
}

// fetch makes a read, and notes what it shows.
func (t *transport) fetch(base http.RoundTripper, life int, r *http.Request) (*http.Response, error) {
	response, err := base.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK || r.URL.Query().Has("watch") || strings.Count(r.URL.Path, "/") < 4 {
		return response, err
	}
	shown := read{life: life}
	if shown.kind, shown.key, _ = target(r.URL.Path); shown.kind == "" {
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	var answer struct {
		Kind     string `json:"kind"`
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(body, &answer) == nil {
		shown.list = strings.HasSuffix(answer.Kind, "List")
		if shown.rv, _ = strconv.ParseInt(answer.Metadata.ResourceVersion, 10, 64); shown.rv > 0 {
			shown.at = time.Now()
			t.read(shown)
		}
	}
	return response, nil
}

// mentions says whether the body of a patch has a text.
func mentions(r *http.Request, text string) bool {
	return r.Method == http.MethodPatch && bodyHas(r, text)
}

// bodyHas says whether the body of a request has a text.
func bodyHas(r *http.Request, text string) bool {
	if r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	all, err := io.ReadAll(body)
	return err == nil && bytes.Contains(all, []byte(text))
}

// send makes a write, and notes it.
func (t *transport) send(base http.RoundTripper, r *http.Request, w write, f fate) (*http.Response, error) {
	response, err := base.RoundTrip(r)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	if err != nil {
		w.unknown, w.answered = true, time.Now()
		t.note(w)
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	w.done, w.refused, w.answered = response.StatusCode < 300, response.StatusCode >= 500, time.Now()
	var answer struct {
		Metadata struct {
			Name            string `json:"name"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if w.done && w.kind != "" && json.Unmarshal(body, &answer) == nil { // no watch shows other kinds
		w.rv, _ = strconv.ParseInt(answer.Metadata.ResourceVersion, 10, 64)
		if r.Method == http.MethodPost {
			w.key += "/" + answer.Metadata.Name
		}
	}
	w.lost = f.lostAfter
	t.note(w)
	if w.lost {
		return nil, errLost
	}
	return response, nil
}

// carry carries a write to the server, also where the process has given up meanwhile. If the network holds it back,
// another process may have taken over when it comes there.
func (t *transport) carry(base http.RoundTripper, r *http.Request, w write, f fate) (*http.Response, error) {
	type result struct {
		response *http.Response
		err      error
	}
	done := make(chan result, 1)
	t.sending.Go(func() {
		time.Sleep(f.hold)
		response, err := t.send(base, r.WithContext(context.WithoutCancel(r.Context())), w, f)
		done <- result{response, err}
	})
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case result := <-done:
		return result.response, result.err
	}
}

// target reads the kind and the key from the path /apis/<group>/<version>/namespaces/<namespace>/<plural>/<name>/status, or
// from one without a namespace.
func target(path string) (Kind, string, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[3] != "namespaces" {
		return resources[parts[3]], strings.Join(parts[4:min(5, len(parts))], ""), len(parts) > 5
	}
	key := parts[4]
	if len(parts) > 6 {
		key += "/" + parts[6]
	}
	return resources[parts[5]], key, len(parts) > 7
}

func isEvent(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return parts[0] == "api" && len(parts) > 4 && parts[4] == "events" || len(parts) > 1 && parts[1] == "events.k8s.io"
}

package sim

import (
	"encoding/binary"
	"flag"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/google/uuid"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"
)

// prepare makes what the process does from now on depend on the seed alone, as far as that is possible, and returns what undoes it.
func prepare(seed uint64) (undo func()) {
	processors := runtime.GOMAXPROCS(1)
	settings, set := os.LookupEnv("GODEBUG")
	_ = os.Setenv("GODEBUG", strings.TrimPrefix(settings+",randseednop=0", ",")) // or else nothing decides what math/rand draws
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil // one of them sleeps by a clock that all bubbles would share
	gates := features.FeatureGates()
	features.ReplaceFeatureGates(listed{gates})
	sampling := runtime.MemProfileRate
	if f := flag.Lookup("test.memprofile"); f == nil || f.Value.String() == "" {
		runtime.MemProfileRate = 0 // it draws when to sample from what selects draw from
	}
	release, wake := holdGarbage(), holdWatchdog()
	seedAll(seed)
	return func() {
		wake()
		release()
		runtime.MemProfileRate = sampling
		uuid.SetRand(nil)
		features.ReplaceFeatureGates(gates)
		utilruntime.ErrorHandlers = handlers
		if set {
			_ = os.Setenv("GODEBUG", settings)
		} else {
			_ = os.Unsetenv("GODEBUG")
		}
		runtime.GOMAXPROCS(processors)
	}
}

// seedAll makes what Kubernetes' libraries draw from global sources follow from the seed: UIDs, generated names, jitter, timeouts.
func seedAll(seed uint64) {
	uids.seed(seed)
	uuid.SetRand(&uids)
	utilrand.Seed(int64(seed))
	//lint:ignore SA1019 the source that Kubernetes' libraries draw from has no other way to be set
	rand.Seed(int64(seed))
}

// seedNames makes the names that the server generates for a request follow from the request.
func seedNames(seed uint64) { utilrand.Seed(int64(seed)) }

// uids is where UIDs come from. It begins anew with each message: or else all UIDs would be others after a controller has drawn one more for itself.
var uids uidSource

type uidSource struct {
	mu   sync.Mutex
	from randv2.ChaCha8
}

func (s *uidSource) seed(seed uint64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from.Seed(key)
}

func (s *uidSource) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from.Read(b)
}

// listed are client-go's features without the one that lists by a watch: what comes of it is shown to a controller in the order of a map, which
// is another one in each run.
type listed struct{ features.Gates }

func (g listed) Enabled(f features.Feature) bool {
	return f != features.WatchListClient && g.Gates.Enabled(f)
}

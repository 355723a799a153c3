// SPDX-License-Identifier: Apache-2.0

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

// prepare makes the process depend on the seed alone from now on, as far as possible, and returns a function that undoes
// it.
func prepare(seed uint64) (undo func()) {
	processors := runtime.GOMAXPROCS(1)
	settings, set := os.LookupEnv("GODEBUG")
	_ = os.Setenv("GODEBUG", strings.TrimPrefix(settings+",randseednop=0", ",")) // without this setting math/rand ignores its seed
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil // one of them sleeps by a clock that all bubbles share
	gates := features.FeatureGates()
	features.ReplaceFeatureGates(listed{gates})
	sampling := runtime.MemProfileRate
	if memory := flag.Lookup("test.memprofile"); memory == nil || memory.Value.String() == "" {
		runtime.MemProfileRate = 0 // its sampling draws from the random source of selects
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

// seedAll seeds the global random sources of Kubernetes' libraries: UIDs, generated names, jitter, timeouts.
func seedAll(seed uint64) {
	uids.seed(seed)
	uuid.SetRand(&uids)
	utilrand.Seed(int64(seed))
	//lint:ignore SA1019 Kubernetes' libraries draw from this source, and no other function seeds it
	rand.Seed(int64(seed))
}

// seedNames makes the names that the server generates for a request depend on the request.
func seedNames(seed uint64) { utilrand.Seed(int64(seed)) }

// uids generates UIDs. It is reseeded at each message: otherwise a controller that generates one more UID for itself would
// change all later ones.
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

// listed are client-go's features without WatchList. A WatchList delivers objects in the order of a map, which differs in
// each run.
type listed struct{ features.Gates }

func (g listed) Enabled(feature features.Feature) bool {
	return feature != features.WatchListClient && g.Gates.Enabled(feature)
}

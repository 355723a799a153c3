package sim

import (
	randv2 "math/rand/v2"
	"runtime"
	"sync"
	"unsafe"
)

// The runtime draws which ready case a select takes, and where the iteration of a map begins, from a source of each thread that no
// setting reaches. Libraries such as client-go leave the order of events to both. So the simulator finds that source and sets it before each
// message from the seed. It finds it by what it has drawn, and checks what it has found; where it finds nothing, those choices stay
// random, and a seed has one history only if the controller does not depend on them.
//
// From the source of selects the runtime also draws for itself: each time that a cache of type assertions lacks a type, which is added by chance and
// stays as long as the process. So what a select takes follows from the seed less surely than all else.
//
// A map of more than eight keys is in another order in each process all the same: its hash has a key that is drawn when the process begins.

// goroutineThread is where a goroutine's record has its thread: the runtime's linker counts on it.
const goroutineThread = 6 * unsafe.Sizeof(uintptr(0))

// source is where in a thread's record its sources are; 0 if that is not known. It is a ChaCha8 source with 32 numbers, a key of four, and how
// many of the numbers are used, there are, and the count of blocks; then the source of selects.
var source = sync.OnceValue(findSource)

const (
	numbers    = 32
	keyAt      = numbers
	usedAt     = keyAt + 4   // two counts of 32 bits: used, and there are
	blockAt    = usedAt + 1  // one of 32 bits
	selectsAt  = blockAt + 1 // a number of 64 bits
	threadSize = 250         // words of a thread's record, which takes 2048 bytes
)

func thread() unsafe.Pointer {
	g := thisGoroutine()
	if g == nil {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Add(g, goroutineThread))
}

func word(of unsafe.Pointer, at int) *uint64 { return (*uint64)(unsafe.Add(of, 8*at)) }

func used(of unsafe.Pointer, at int) (used, there uint32) {
	counts := *word(of, at+usedAt)
	return uint32(counts), uint32(counts >> 32)
}

// findSource finds where the numbers are that are drawn next, and checks that a key that is set decides all that is drawn.
func findSource() int {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := thread()
	if m == nil {
		return 0
	}
	for at := 1; at+selectsAt < threadSize; at++ {
		if holdsNext(m, at) && decides(m, at) {
			return at
		}
	}
	return 0
}

// holdsNext says whether the source of a thread is at a place: it foretells ten numbers.
func holdsNext(m unsafe.Pointer, at int) bool {
	for range 10 {
		i, n := used(m, at)
		if n == 0 || n > numbers || i > n {
			return false
		}
		drawn := randv2.Uint64()
		if i == n {
			i = 0 // it was filled anew
		}
		if now, _ := used(m, at); now != i+1 || *word(m, at+int(i)) != drawn {
			return false
		}
	}
	return true
}

// decides says whether setting the source sets what is drawn, and what selects take.
func decides(m unsafe.Pointer, at int) bool {
	drawAll := func(seed uint64) (all [80]uint64) {
		set(m, at, seed, 0)
		for i := range 40 {
			all[i] = randv2.Uint64()
		}
		for i := range 40 {
			all[40+i] = uint64(either())
		}
		return all
	}
	before := *word(m, at+selectsAt)
	if either(); *word(m, at+selectsAt) == before {
		return false
	}
	for range 5 { // the runtime may draw something for itself
		first, again, other := drawAll(1), drawAll(1), drawAll(2)
		if first == again {
			return first != other
		}
	}
	return false
}

// either is drawn by a select.
func either() int {
	a, b := make(chan int, 1), make(chan int, 1)
	a <- 0
	b <- 1
	select {
	case x := <-a:
		return x
	case x := <-b:
		return x
	}
}

func set(m unsafe.Pointer, at int, seed, choices uint64) {
	for i := range 4 {
		*word(m, at+keyAt+i) = draw(seed, "thread", "", i)
	}
	*word(m, at+blockAt) &^= 1<<32 - 1
	*word(m, at+usedAt) = numbers<<32 | numbers // the next draw fills it anew
	*word(m, at+selectsAt) = draw(seed, "selects", "", int(choices))
}

// choose sets what this thread draws from now on. Other choices have selects take other cases, and nothing else.
func choose(seed, choices uint64) {
	if at := source(); at != 0 {
		set(thread(), at, seed, choices)
	}
}

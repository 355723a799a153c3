// SPDX-License-Identifier: Apache-2.0

package sim

import (
	randv2 "math/rand/v2"
	"runtime"
	"sync"
	"unsafe"
)

// The runtime draws which ready case a select takes, and where the iteration of a map begins, from a source of each thread
// that no setting reaches. Libraries such as client-go leave the order of events to both. Therefore the simulator locates
// that source in memory, and seeds it before each message. It recognizes the source by the numbers that were drawn, and
// checks the result. If it finds none, those choices stay random, and a seed has one history only if the controller does
// not depend on them.
//
// The runtime itself also draws from the source of selects: each time that a type is missing in a cache of type assertions.
// Types enter these caches by chance and stay as long as the process. Therefore a select depends less strictly on the seed
// than all else.
//
// A map of more than eight keys has another order in each process anyway: its hash has a key that is drawn when the process
// begins.

// goroutineThread is the offset of the thread in the record of a goroutine. The Go linker relies on it.
const goroutineThread = 6 * unsafe.Sizeof(uintptr(0))

// source is the offset of the random sources in the record of a thread; 0 if it is unknown. First is a ChaCha8 source: 32
// numbers, a key of four, and the counts of used numbers, of numbers and of blocks. The source of selects follows.
var source = sync.OnceValue(findSource)

const (
	numbers    = 32
	keyAt      = numbers
	usedAt     = keyAt + 4   // two counts of 32 bits: used numbers, and numbers
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

// findSource finds the numbers that are drawn next, and checks that setting the key determines what is drawn.
func findSource() int {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := thread()
	if thread == nil {
		return 0
	}
	for at := 1; at+selectsAt < threadSize; at++ {
		if holdsNext(thread, at) && decides(thread, at) {
			return at
		}
	}
	return 0
}

// holdsNext says whether the source of a thread is at an offset: it predicts ten numbers.
func holdsNext(thread unsafe.Pointer, at int) bool {
	for range 10 {
		i, n := used(thread, at)
		if n == 0 || n > numbers || i > n {
			return false
		}
		drawn := randv2.Uint64()
		if i == n {
			i = 0 // refilled
		}
		if now, _ := used(thread, at); now != i+1 || *word(thread, at+int(i)) != drawn {
			return false
		}
	}
	return true
}

// decides says whether setting the source determines random numbers and selects.
func decides(thread unsafe.Pointer, at int) bool {
	drawAll := func(seed uint64) (all [80]uint64) {
		set(thread, at, seed, 0)
		for i := range 40 {
			all[i] = randv2.Uint64()
		}
		for i := range 40 {
			all[40+i] = uint64(either())
		}
		return all
	}
	before := *word(thread, at+selectsAt)
	if either(); *word(thread, at+selectsAt) == before {
		return false
	}
	for range 5 { // the runtime may also draw a number
		first, again, other := drawAll(1), drawAll(1), drawAll(2)
		if first == again {
			return first != other
		}
	}
	return false
}

// either is a case that a select takes at random.
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

func set(thread unsafe.Pointer, at int, seed, choices uint64) {
	for i := range 4 {
		*word(thread, at+keyAt+i) = draw(seed, "thread", "", i)
	}
	*word(thread, at+blockAt) &^= 1<<32 - 1
	*word(thread, at+usedAt) = numbers<<32 | numbers // the next draw refills it
	*word(thread, at+selectsAt) = draw(seed, "selects", "", int(choices))
}

// choose seeds this thread. Other choices change which cases selects take, and nothing else.
func choose(seed, choices uint64) {
	if at := source(); at != 0 {
		set(thread(), at, seed, choices)
	}
}

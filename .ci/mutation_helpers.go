// SPDX-License-Identifier: Apache-2.0

//go:build ignore

// This file goes into the package that is broken: it is what the rewritten source calls. MUTANT is the number of the break that is
// on, and 0 for none.

package main

import (
	"cmp"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

var mutActive, _ = strconv.Atoi(os.Getenv("MUTANT"))

// mutMeets says that mutMet is to tell which breaks the tests come by: MUTANTS_MET, a file with one byte for each. It is a constant, since
// tests of allocations fail where less is inlined.
const mutMeets = false

var mutMet = mutMap(os.Getenv("MUTANTS_MET"))

func mutMap(path string) *[1 << 16]bool {
	if !mutMeets {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	bytes, err := syscall.Mmap(int(f.Fd()), 0, 1<<16, syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*[1 << 16]bool)(unsafe.Pointer(&bytes[0]))
}

// mutIs says whether a break is on.
func mutIs(id int) bool {
	if mutMeets {
		mutMet[uint16(id)] = true
	}
	return mutActive == id
}

// init ends the process in time: a break may take all memory, or never come to an end. What it computed for is counted rather than
// the time that passed: other processes take none of it.
func init() {
	if mutActive == 0 {
		return
	}
	limit, err := time.ParseDuration(os.Getenv("MUTANT_LIMIT"))
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			var memory runtime.MemStats
			if runtime.ReadMemStats(&memory); memory.Sys > 2<<30 {
				os.Exit(3)
			}
			var used syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
				panic(err)
			}
			if time.Duration(used.Utime.Nano()+used.Stime.Nano()) > limit {
				os.Exit(4)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
}

type mutInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

type mutNumber interface {
	mutInteger | ~float32 | ~float64
}

// The boundary of a comparison is only met where both sides are the same.
func mutLess[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return x == y && mutIs(boundary) || (x < y) != mutIs(negation)
}

func mutGreater[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return mutLess(negation, boundary, y, x)
}

func mutLessOrEqual[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return (x != y || !mutIs(boundary)) && (x <= y) != mutIs(negation)
}

func mutGreaterOrEqual[T cmp.Ordered](negation, boundary int, x, y T) bool {
	return mutLessOrEqual(negation, boundary, y, x)
}

func mutAdd[T mutNumber](id int, x, y T) T {
	if mutIs(id) {
		return x - y
	}
	return x + y
}

func mutSub[T mutNumber](id int, x, y T) T {
	if mutIs(id) {
		return x + y
	}
	return x - y
}

func mutMul[T mutNumber](id int, x, y T) T {
	if mutIs(id) {
		return x / y
	}
	return x * y
}

func mutQuo[T mutNumber](id int, x, y T) T {
	if mutIs(id) {
		return x * y
	}
	return x / y
}

func mutRem[T mutInteger](id int, x, y T) T {
	if mutIs(id) {
		return x * y
	}
	return x % y
}

func mutNegative[T mutNumber](id int, x T) T {
	if mutIs(id) {
		return x
	}
	return -x
}

func mutStep[T mutNumber](id int, x T) T {
	if mutIs(id) {
		return x - x - 1
	}
	return 1
}

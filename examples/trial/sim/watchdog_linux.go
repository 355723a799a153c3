// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package sim

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// The runtime's watchdog is a thread that preempts a goroutine if it sees the same step twice, 10 ms of real time apart. On a
// busy machine that time goes to other processes or to other machines, and then the order of goroutines depends on the load.
// Therefore a timer interrupts the watchdog again and again during a play, and the handler of its signal keeps the thread for
// most of the time. In the moment between two signals the watchdog looks. A goroutine in an endless loop is still preempted,
// by a look after the next signal. Libraries have such loops, so the watchdog is not kept for longer.

const (
	watchdogSignal = 62 // a real-time signal that neither the runtime nor a library uses
	watchdogHeld   = 50 * time.Millisecond
	watchdogFree   = 8 * time.Millisecond // less than the 10 ms that are between two looks at a step
	watchdogLooks  = 200
)

// watchdogRest is for how long the handler sleeps.
var watchdogRest = syscall.NsecToTimespec(int64(watchdogHeld))

// watchdog is the thread's number; 0 if it is unknown.
var watchdog = sync.OnceValue(findWatchdog)

// holdWatchdog keeps the watchdog from looking for most of the time. It returns a function that undoes it. If the system
// does not permit it, nothing changes.
func holdWatchdog() (undo func()) {
	thread := watchdog()
	if thread == 0 {
		return func() {}
	}
	handler, restorer := holder()
	before, err := handle(watchdogSignal, handler, restorer)
	if err != 0 {
		return func() {}
	}
	timer, err := interrupt(thread, watchdogSignal, watchdogHeld+watchdogFree)
	if err != 0 {
		restore(watchdogSignal, &before)
		return func() {}
	}
	return func() {
		syscall.RawSyscall(syscall.SYS_TIMER_DELETE, uintptr(timer), 0, 0)
		// A signal that is pending still has its handler. The runtime's own one ignores the signal.
		restore(watchdogSignal, &before)
	}
}

// signalAction is the kernel's struct sigaction.
type signalAction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

const (
	flagRestorer     = 0x04000000 // SA_RESTORER
	flagOnOtherStack = 0x08000000 // SA_ONSTACK
	flagRestart      = 0x10000000 // SA_RESTART
)

// handle installs a handler of a signal, and returns the one before.
func handle(signal int, handler, restorer uintptr) (before signalAction, err syscall.Errno) {
	after := signalAction{handler: handler, flags: flagRestorer | flagOnOtherStack | flagRestart, restorer: restorer, mask: ^uint64(0)}
	_, _, err = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(&after)), uintptr(unsafe.Pointer(&before)), unsafe.Sizeof(after.mask), 0, 0)
	return before, err
}

func restore(signal int, action *signalAction) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(action)), 0, unsafe.Sizeof(action.mask), 0, 0)
}

// interrupt sends a signal to a thread of this process each time that a period has passed. It returns the number of the timer.
func interrupt(thread, signal int, period time.Duration) (timer int32, err syscall.Errno) {
	const monotonic, toThread = 1, 4 // CLOCK_MONOTONIC, SIGEV_THREAD_ID
	event := struct {                // the kernel's struct sigevent
		value                  uint64
		signal, notify, thread int32
		_                      [44]byte
	}{signal: int32(signal), notify: toThread, thread: int32(thread)}
	if _, _, err = syscall.RawSyscall(syscall.SYS_TIMER_CREATE, monotonic, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&timer))); err != 0 {
		return 0, err
	}
	each := [2]syscall.Timespec{syscall.NsecToTimespec(int64(period)), syscall.NsecToTimespec(1)}
	if _, _, err = syscall.RawSyscall6(syscall.SYS_TIMER_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&each)), 0, 0, 0); err != 0 {
		syscall.RawSyscall(syscall.SYS_TIMER_DELETE, uintptr(timer), 0, 0)
	}
	return timer, err
}

// holder returns the address of a signal handler that sleeps, and that of what returns from it.
func holder() (handler, restorer uintptr)

// findWatchdog returns the only thread that sleeps by the clock while this goroutine runs: all other threads wait for
// something else.
func findWatchdog() int {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	seen := map[int]int{}
	for range watchdogLooks {
		asleep := sleepers()
		if len(asleep) == 1 {
			if thread := asleep[0]; seen[thread] < 2 {
				seen[thread]++
			} else if len(seen) == 1 {
				return thread
			}
		}
		for began := time.Now(); time.Since(began) < 100*time.Microsecond; { // the watchdog sleeps while all goroutines wait
		}
	}
	return 0
}

func sleepers() (all []int) {
	const tasks = "/proc/self/task"
	threads, _ := os.ReadDir(tasks)
	for _, t := range threads {
		call, _ := os.ReadFile(tasks + "/" + t.Name() + "/syscall")
		number, _, _ := strings.Cut(string(call), " ")
		if n, err := strconv.Atoi(number); err == nil && n == syscall.SYS_NANOSLEEP {
			if thread, err := strconv.Atoi(t.Name()); err == nil {
				all = append(all, thread)
			}
		}
	}
	return all
}

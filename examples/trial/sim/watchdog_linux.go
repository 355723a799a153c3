// SPDX-License-Identifier: Apache-2.0

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

// The runtime's watchdog is a thread that preempts a goroutine after 10 ms of real time. On a busy machine most of that
// time may go to other processes, and then the order of goroutines depends on the load. Therefore the watchdog gets the
// lowest priority of the machine: while the machine is busy, the watchdog waits too. A goroutine in an endless loop is
// still preempted in the end.

const (
	policyOther, policyIdle = 0, 5 // policies of Linux' scheduler
	spareThreads            = 6
	watchdogLooks           = 200
)

// watchdog is the thread's number; 0 if it is unknown.
var watchdog = sync.OnceValue(func() int {
	spareSomeThreads()
	return findWatchdog()
})

// holdWatchdog gives the watchdog the lowest priority. It returns a function that undoes it, if the machine permits:
// without privileges the priority stays.
func holdWatchdog() (undo func()) {
	thread := watchdog()
	if thread == 0 || schedule(thread, policyIdle) != 0 {
		return func() {}
	}
	return func() { schedule(thread, policyOther) }
}

func schedule(thread, policy int) syscall.Errno {
	priority := int32(0)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), uintptr(policy), uintptr(unsafe.Pointer(&priority)))
	return errno
}

// spareSomeThreads makes the runtime create threads before the watchdog's priority is lowered, because a thread inherits
// the priority of the thread that creates it.
func spareSomeThreads() {
	var all sync.WaitGroup
	for range spareThreads {
		all.Go(func() {
			pause := syscall.NsecToTimespec(int64(5 * time.Millisecond))
			_ = syscall.Nanosleep(&pause, nil)
		})
	}
	all.Wait()
}

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

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

// The runtime's watchdog is a thread that preempts a goroutine which has run for 10 ms. It measures real time. On a busy machine most of that time
// may belong to other processes, and then the order of goroutines follows from the load. So the watchdog gets the lowest priority that the machine
// has: while the machine is busy, the watchdog waits too. A goroutine that runs in a circle is still preempted in the end.

const (
	policyOther, policyIdle = 0, 5 // of Linux' scheduler
	spareThreads            = 6
	watchdogLooks           = 200
)

// watchdog is the thread's number; 0 if it is not known.
var watchdog = sync.OnceValue(func() int {
	spareSomeThreads()
	return findWatchdog()
})

// holdWatchdog gives the watchdog the lowest priority, and returns what undoes it where the machine permits that: without privileges the
// priority stays as it is.
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

// spareSomeThreads has the runtime make threads while the watchdog still has the priority of all others: a thread that the watchdog makes has its
// priority.
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

// findWatchdog returns the one thread that sleeps by the clock while this goroutine runs: all other threads wait for something.
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
		for began := time.Now(); time.Since(began) < 100*time.Microsecond; { // the watchdog rests while all goroutines wait
		}
	}
	return 0
}

// sleepers are the threads of this process that sleep by the clock.
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

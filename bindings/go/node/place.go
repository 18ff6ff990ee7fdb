package node

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// cpus of "2-5,7", as a mask.
func cpus(text string) ([]uint64, error) {
	mask := make([]uint64, 16)
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last < first || last >= 1024 {
			return nil, fmt.Errorf("`%s` is no list of CPUs", text)
		}
		for cpu := first; cpu <= last; cpu++ {
			mask[cpu/64] |= 1 << (cpu % 64)
		}
	}
	return mask, nil
}

// place moves every thread: Go has several before main, and master looks at all of them. Those that come later inherit it.
func place(of *Placement) error {
	mask, err := cpus(of.CPUs)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for more := true; more; {
		more = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, thread := range threads {
			if done[thread.Name()] {
				continue
			}
			id, _ := strconv.Atoi(thread.Name())
			_, _, errno := syscall.Syscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(id), uintptr(len(mask)*8), uintptr(unsafe.Pointer(&mask[0])))
			if errno != 0 && errno != syscall.ESRCH {
				return fmt.Errorf("running on CPUs %s: %w", of.CPUs, errno)
			}
			if err := schedule(id, of.Policy); err != nil {
				return err
			}
			// A thread that sleeps has not moved yet. This signal is the runtime's own, and does nothing more than wake it.
			_, _, _ = syscall.Syscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(id), uintptr(syscall.SIGURG))
			done[thread.Name()], more = true, true
		}
	}
	return nil
}

func schedule(thread int, policy *string) error {
	if policy == nil {
		return nil
	}
	name, number, _ := strings.Cut(*policy, ":")
	value, _ := strconv.Atoi(number)
	const fifo, idle = 1, 5
	var errno syscall.Errno
	switch parameter := int32(value); name {
	case "fifo":
		_, _, errno = syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), fifo, uintptr(unsafe.Pointer(&parameter)))
	case "idle":
		parameter = 0
		_, _, errno = syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), idle, uintptr(unsafe.Pointer(&parameter)))
	case "nice":
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, thread, value); err != nil {
			return fmt.Errorf("policy `%s`: %w", *policy, err)
		}
	default:
		return fmt.Errorf("policy `%s` is not known", *policy)
	}
	if errno != 0 && errno != syscall.ESRCH {
		return fmt.Errorf("policy `%s`: %w", *policy, errno)
	}
	return nil
}

func currentCPU() uint64 {
	var cpu uint32
	_, _, _ = syscall.RawSyscall(sysGetcpu, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return uint64(cpu)
}

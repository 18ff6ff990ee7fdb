package journal

import (
	"math/bits"
	"syscall"
	"time"
	"unsafe"

	"colo/layout"
)

// Clock of the platform: nanoseconds since the epoch, the same in all processes.
type Clock struct {
	registry words
	base     uint64
	epoch    uint64
	scale    uint64
	// counts is true where the time-stamp counter is read.
	counts bool
	// began is CLOCK_MONOTONIC at start, in the terms of the system and of this program.
	began uint64
	start time.Time
}

// MonotonicClock goes by the system alone: for journals outside of a platform.
func MonotonicClock() *Clock {
	var now syscall.Timespec
	start := time.Now()
	const monotonic = 1
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&now)), 0)
	return &Clock{began: uint64(now.Nano()), start: start, epoch: uint64(start.UnixNano()) - uint64(now.Nano())}
}

// Now is the time.
func (c *Clock) Now() uint64 {
	if c.counts {
		count := counter()
		if count < c.base {
			count = c.base
		}
		high, low := bits.Mul64(count-c.base, c.scale)
		return c.epoch + (high<<32 | low>>32)
	}
	offset := c.epoch
	if c.registry != nil {
		offset = load(c.registry, layout.RegistryClockOffset)
	}
	return c.began + uint64(time.Since(c.start)) + offset
}

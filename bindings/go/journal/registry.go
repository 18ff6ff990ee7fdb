package journal

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"colo/layout"
)

// Registry of an instance: its seats, its clock, and the words that sleepers sleep on.
type Registry struct {
	path  string
	words words
	seats uint32
	mapping
}

const (
	recordBytes = layout.RegistryRecordWords * 8
	awake       = 0
	parked      = 1
)

// OpenRegistry maps one, after it has checked it.
func OpenRegistry(path string) (*Registry, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := sizeOf(file)
	if err != nil {
		return nil, err
	}
	start := make([]byte, 32)
	if _, err := file.ReadAt(start, 0); err != nil {
		return nil, fmt.Errorf("%s %w (it has %d bytes)", path, ErrForeign, size)
	}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(start[at:]) }
	if word(layout.RegistryMagic) != layout.RegistryMagicWord {
		return nil, fmt.Errorf("%s %w", path, ErrForeign)
	}
	if uint32(word(layout.RegistryVersion)) != layout.FormatVersion || word(layout.RegistryLayoutHash) != layout.LayoutHash {
		return nil, fmt.Errorf("%s %w (format %d, layout %#016x)", path, ErrVersion, word(layout.RegistryVersion), word(layout.RegistryLayoutHash))
	}
	seats := uint32(word(layout.RegistrySeats))
	if seats == 0 || seats%64 != 0 || seats > layout.MaxSeats || size < layout.RegistryRecords+uint64(seats)*recordBytes {
		return nil, fmt.Errorf("%s %w (%d seats in %d bytes)", path, ErrDamaged, seats, size)
	}
	mapped, err := mapFile(file, size, 4096, 1, true)
	if err != nil {
		return nil, err
	}
	return &Registry{path, mapped.words, seats, mapped}, nil
}

// Close unmaps it.
func (r *Registry) Close() error {
	r.words = nil
	return r.unmap()
}

// Seats that there are.
func (r *Registry) Seats() uint32 { return r.seats }

// Phase of the platform.
func (r *Registry) Phase() uint64 { return load(r.words, layout.RegistryPhase) }

// Clock of the platform.
func (r *Registry) Clock() *Clock {
	clock := MonotonicClock()
	clock.registry = r.words
	clock.base, clock.scale = load(r.words, layout.RegistryClockBase), load(r.words, layout.RegistryClockScale)
	clock.counts = hasCounter && load(r.words, layout.RegistryClockKind) == 1
	if clock.counts {
		clock.epoch = load(r.words, layout.RegistryClockEpoch)
	}
	return clock
}

func (r *Registry) record(seat uint32) uint64 {
	return layout.RegistryRecords + uint64(seat)*recordBytes
}

// Word of a seat's record, by its offset.
func (r *Registry) Word(seat uint32, at uint64) uint64 { return load(r.words, r.record(seat)+at) }

// SetWord of the program's own seat.
func (r *Registry) SetWord(seat uint32, at, value uint64) { store(r.words, r.record(seat)+at, value) }

// notify the seats of one word of a row, behind a commit. Returns how many were woken.
func (r *Registry) notify(first uint32, wanted uint64, journal uint32) int {
	if first >= r.seats {
		return 0
	}
	pair := layout.RegistryNotify + uint64(first/64)*layout.RegistryNotifyWords*8
	bell, relay := load(r.words, pair+layout.RegistryNotifyBell), load(r.words, pair+layout.RegistryNotifyRelay)
	for seats := wanted & bell; seats != 0; seats &= seats - 1 {
		seat := first + uint32(bits.TrailingZeros64(seats))
		bit := journal % ((layout.RegistryBellWords - 1) * 64)
		setBit(r.words, r.record(seat)+layout.RegistryBell+uint64(bit/64)*8, bit%64)
	}
	woken := 0
	for seats := wanted &^ relay; seats != 0; seats &= seats - 1 {
		at := r.record(first+uint32(bits.TrailingZeros64(seats))) + layout.RegistryWait
		word := load(r.words, at)
		if uint32(word) != parked || word>>32 == uint64(journal)+1 {
			continue
		}
		if atomic.CompareAndSwapUint64(&r.words[at/8], word, awake) {
			r.futexWake(at)
			woken++
		}
	}
	return woken
}

// Wake a seat if it sleeps, whatever it waits for.
func (r *Registry) Wake(seat uint32) bool {
	at := r.record(seat) + layout.RegistryWait
	word := load(r.words, at)
	if uint32(word) != parked || !atomic.CompareAndSwapUint64(&r.words[at/8], word, awake) {
		return false
	}
	r.futexWake(at)
	return true
}

func (r *Registry) futexWake(at uint64) {
	const wake = 1
	_, _, _ = syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&r.words[at/8])), wake, 1, 0, 0, 0)
}

// Sleep says how a sleep ended.
type Sleep int

const (
	// NotAsleep: there was news.
	NotAsleep Sleep = iota
	// Woken by somebody.
	Woken
	// TimedOut by the clock.
	TimedOut
)

// Park sleeps in a seat until a writer wakes it, unless there is news. The collector does not wait for who sleeps here.
func (r *Registry) Park(seat uint32, longest time.Duration, hasNews func() bool) Sleep {
	at := r.record(seat) + layout.RegistryWait
	// Sequentially consistent: the looks at the journals come behind it.
	store(r.words, at, parked)
	if hasNews() {
		store(r.words, at, awake)
		return NotAsleep
	}
	const wait = 0
	until := time.Now().Add(longest)
	for {
		timeout := syscall.NsecToTimespec(max(1, time.Until(until).Nanoseconds()))
		_, _, errno := syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&r.words[at/8])), wait, parked,
			uintptr(unsafe.Pointer(&timeout)), 0, 0)
		// Go's runtime sends signals to its threads: they end the call, not the sleep.
		if errno != syscall.EINTR || uint32(load(r.words, at)) != parked || !time.Now().Before(until) {
			break
		}
	}
	if before := atomic.SwapUint64(&r.words[at/8], awake); uint32(before) == awake {
		return Woken
	}
	return TimedOut
}

const (
	membarrierGlobal          = 1
	membarrierGlobalExpedited = 2
)

// Announce has every writer see the interest that was set before: ahead of the first sleep, and after every addition.
func (r *Registry) Announce() {
	// The expedited one is first: the other waits for a grace period of the kernel.
	for _, command := range []uintptr{membarrierGlobalExpedited, membarrierGlobal} {
		if _, _, errno := syscall.Syscall(sysMembarrier, command, 0, 0); errno == 0 {
			return
		}
	}
	store(r.words, layout.RegistryFences, 1)
	time.Sleep(2 * time.Millisecond)
}

// LeaveBell clears what a predecessor with a doorbell left: this program looks at all of its journals.
func (r *Registry) LeaveBell(seat uint32) {
	pair := layout.RegistryNotify + uint64(seat/64)*layout.RegistryNotifyWords*8
	clearBit(r.words, pair+layout.RegistryNotifyBell, seat%64)
	r.SetWord(seat, layout.RegistryWait, awake)
}

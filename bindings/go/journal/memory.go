package journal

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// words is shared memory. It is never a part of Go's heap, except in tests.
type words []uint64

// load and store take offsets in bytes, as the contract does.
func load(w words, at uint64) uint64 { return atomic.LoadUint64(&w[at/8]) }

func store(w words, at uint64, value uint64) { atomic.StoreUint64(&w[at/8], value) }

func setBit(w words, at uint64, bit uint32) { atomic.OrUint64(&w[at/8], 1<<bit) }

func clearBit(w words, at uint64, bit uint32) { atomic.AndUint64(&w[at/8], ^(uint64(1) << bit)) }

func asWords(bytes []byte) words {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/8)
}

func asBytes(w words) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}

// mapping of a file, once or twice in a row.
type mapping struct {
	words words
	// reserved is what is to be unmapped.
	reserved []byte
}

// mapFile maps size bytes of the file as often as times says, so that the last byte of one is in front of the first of the next.
func mapFile(file *os.File, size uint64, page uint64, times uint64, writable bool) (mapping, error) {
	reserved, err := syscall.Mmap(-1, 0, int(size*times+page), syscall.PROT_NONE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return mapping{}, fmt.Errorf("%d bytes of addresses for %s: %w", size*times+page, file.Name(), err)
	}
	// Huge pages are mapped at multiples of their size alone.
	from := -uint64(uintptr(unsafe.Pointer(&reserved[0]))) & (page - 1)
	bytes := reserved[from : from+size*times]
	prot := syscall.PROT_READ
	if writable {
		prot |= syscall.PROT_WRITE
	}
	for time := range times {
		_, _, errno := syscall.Syscall6(syscall.SYS_MMAP, uintptr(unsafe.Pointer(&bytes[time*size])), uintptr(size),
			uintptr(prot), syscall.MAP_SHARED|syscall.MAP_FIXED, file.Fd(), 0)
		if errno != 0 {
			_ = syscall.Munmap(reserved)
			return mapping{}, fmt.Errorf("mapping %s: %w", file.Name(), errno)
		}
	}
	return mapping{asWords(bytes), reserved}, nil
}

func (m *mapping) unmap() error {
	if m.reserved == nil {
		return nil
	}
	reserved := m.reserved
	m.words, m.reserved = nil, nil
	return syscall.Munmap(reserved)
}

// Locks on one byte of a file that are held by an open file, not by a process.
const (
	fOfdGetlk = 36
	fOfdSetlk = 37
)

// errHeld says that another open file holds the lock.
var errHeld = errors.New("is held")

func lockByte(file *os.File, at uint64) error {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: 0, Start: int64(at), Len: 1}
	err := syscall.FcntlFlock(file.Fd(), fOfdSetlk, &lock)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return errHeld
	}
	return err
}

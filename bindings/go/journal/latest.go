package journal

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"colo/layout"
)

// Latest values that a process keeps for all others: docs/journal-format.md, *The latest values*.
type Latest struct {
	words words
	slots uint64
	size  uint64
	mapping
}

// ErrBusy says that a value changed faster than it could be copied.
var ErrBusy = errors.New("changed during every attempt to copy it: ask again")

const latestMagic = 0x5453414c4f4c4f43 // COLOLAST

// OpenLatest maps them; nil if the instance keeps none.
func OpenLatest(path string) (*Latest, error) {
	file, err := os.Open(path)
	if errors.Is(err, syscall.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	bytes, err := sizeOf(file)
	if err != nil {
		return nil, err
	}
	if bytes < 64 {
		return nil, fmt.Errorf("%s %w (it has %d bytes)", path, ErrForeign, bytes)
	}
	mapped, err := mapFile(file, bytes, 4096, 1, false)
	if err != nil {
		return nil, err
	}
	l := &Latest{mapped.words, load(mapped.words, 24), load(mapped.words, 32), mapped}
	switch {
	case load(l.words, 0) != latestMagic:
		err = fmt.Errorf("%s %w", path, ErrForeign)
	case uint32(load(l.words, 8)) != layout.FormatVersion || load(l.words, 16) != layout.LayoutHash:
		err = fmt.Errorf("%s %w", path, ErrVersion)
	case l.size > 1<<20 || l.slots > 1<<20 || uint64(len(l.words)) < 8+l.slots*l.stride():
		err = fmt.Errorf("%s %w (%d values of %d bytes)", path, ErrDamaged, l.slots, l.size)
	}
	if err != nil {
		_ = l.unmap()
		return nil, err
	}
	return l, nil
}

func (l *Latest) half() uint64 { return (l.size + 63) / 64 * 8 }

func (l *Latest) stride() uint64 { return 8 + 2*l.half() }

// Slots that there are.
func (l *Latest) Slots() uint64 { return l.slots }

// Get copies the value of a slot into to. False: it was never set, or there is no such slot.
func (l *Latest) Get(slot uint64, to []byte) (bool, error) {
	if slot >= l.slots || uint64(len(to)) > l.size {
		return false, nil
	}
	base := 8 + slot*l.stride()
	bytes := [8]byte{}
	for range 1000 {
		number := atomic.LoadUint64(&l.words[base])
		if number == 0 {
			return false, nil
		}
		at := base + 8 + number%2*l.half()
		for from := 0; from < len(to); from += 8 {
			word := atomic.LoadUint64(&l.words[at+uint64(from)/8])
			for index := range bytes {
				bytes[index] = byte(word >> (8 * index))
			}
			copy(to[from:], bytes[:])
		}
		if atomic.LoadUint64(&l.words[base]) == number {
			return true, nil
		}
	}
	return false, ErrBusy
}

// Close unmaps them.
func (l *Latest) Close() error { return l.unmap() }

package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"

	"colo/layout"
)

// Files of a journal.
type Files struct {
	Control string
	Ring    string
	Lock    string
}

// FilesIn a folder, by the journal's name.
func FilesIn(folder, name string) Files {
	at := filepath.Join(folder, name)
	return Files{at + ".ctl", at + ".ring", at + ".lock"}
}

// Access to a journal.
type Access int

const (
	// Observe leaves no trace: nothing is mapped writable, and no lock is taken.
	Observe Access = iota
	// Read has a seat's cursor.
	Read
	// Write is for its one writer.
	Write
)

// Journal that is mapped.
type Journal struct {
	files    Files
	name     string
	access   Access
	control  words
	ring     words
	mask     uint64
	capacity uint64
	payload  uint64
	id       uint32
	seats    uint32
	topics   uint32
	identity uint64
	maps     []mapping
}

const line = layout.LineBytes

// Open maps a journal, after it has checked it.
func Open(files Files, access Access) (*Journal, error) {
	j := &Journal{files: files, name: filepath.Base(files.Control), access: access}
	if err := j.open(); err != nil {
		_ = j.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) open() error {
	flags := os.O_RDONLY
	if j.access != Observe {
		flags = os.O_RDWR
	}
	control, err := os.OpenFile(j.files.Control, flags, 0)
	if err != nil {
		return err
	}
	defer control.Close()
	size, err := sizeOf(control)
	if err != nil {
		return err
	}
	if size < layout.ControlCursors {
		return j.refuse(ErrDamaged, "its control file has %d bytes", size)
	}
	mapped, err := mapFile(control, size, 4096, 1, j.access != Observe)
	if err != nil {
		return err
	}
	j.maps = append(j.maps, mapped)
	j.control = mapped.words
	page, err := j.check(size)
	if err != nil {
		return err
	}
	if j.access != Write {
		flags = os.O_RDONLY
	}
	ring, err := os.OpenFile(j.files.Ring, flags, 0)
	if err != nil {
		return err
	}
	defer ring.Close()
	if size, err = sizeOf(ring); err != nil {
		return err
	}
	if size != j.capacity {
		return j.refuse(ErrDamaged, "its ring has %d bytes and should have %d", size, j.capacity)
	}
	if err := j.checkIdentity(); err != nil {
		return err
	}
	if mapped, err = mapFile(ring, size, page, 2, j.access == Write); err != nil {
		return err
	}
	j.maps = append(j.maps, mapped)
	j.ring = mapped.words
	return nil
}

func sizeOf(file *os.File) (uint64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return uint64(info.Size()), nil
}

// check refuses what no creator makes, and returns the size of the ring's pages.
func (j *Journal) check(size uint64) (uint64, error) {
	at := func(offset uint64) uint64 { return load(j.control, offset) }
	if magic := at(layout.ControlMagic); magic != layout.ControlMagicWord {
		return 0, j.refuse(ErrForeign, "its magic is %#016x", magic)
	}
	version, hash := at(layout.ControlVersion), at(layout.ControlLayoutHash)
	if version != layout.FormatVersion || hash != layout.LayoutHash {
		return 0, j.refuse(ErrVersion, "format %d, layout %#016x; known are format %d, layout %#016x",
			uint32(version), hash, layout.FormatVersion, uint64(layout.LayoutHash))
	}
	j.capacity, j.payload = at(layout.ControlCapacity), at(layout.ControlMaxPayload)
	j.id, j.seats, j.topics = uint32(at(layout.ControlId)), uint32(at(layout.ControlTables)), uint32(at(layout.ControlTables)>>32)
	j.mask, j.identity = j.capacity-1, at(layout.ControlIdentity)
	exponent := at(layout.ControlId) >> 32
	name := make([]byte, 64)
	for word := range uint64(8) {
		binary.LittleEndian.PutUint64(name[word*8:], at(layout.ControlName+word*8))
	}
	switch {
	case bits.OnesCount64(j.capacity) != 1 || j.capacity < layout.MinCapacity || j.capacity > layout.MaxCapacity:
		return 0, j.refuse(ErrDamaged, "its capacity is %d", j.capacity)
	case j.seats == 0 || j.seats%64 != 0 || j.seats > layout.MaxSeats || j.topics == 0 || j.topics > layout.MaxTopics:
		return 0, j.refuse(ErrDamaged, "it has %d seats and %d topics", j.seats, j.topics)
	case j.payload > min(j.capacity/8, layout.MaxPayload)-layout.FramePayload:
		return 0, j.refuse(ErrDamaged, "its largest payload is %d bytes", j.payload)
	case exponent < 12 || exponent > uint64(bits.TrailingZeros64(j.capacity)):
		return 0, j.refuse(ErrDamaged, "its pages have 2^%d bytes", exponent)
	case !isName(name):
		return 0, j.refuse(ErrDamaged, "its name is %q", name)
	}
	j.name = string(bytes.TrimRight(name, "\x00"))
	end := j.interest(j.topics)
	if wanted := (end + 4095) &^ 4095; size != wanted {
		return 0, j.refuse(ErrDamaged, "its control file has %d bytes and should have %d", size, wanted)
	}
	first := j.First()
	if first%line != 0 || first < j.capacity || first >= layout.MaxPosition {
		return 0, j.refuse(ErrDamaged, "its first position is %d", first)
	}
	return 1 << exponent, j.Check()
}

func isName(name []byte) bool {
	length := bytes.IndexByte(name, 0)
	if length < 1 || name[0] == '.' {
		return false
	}
	for index, byte := range name {
		inside := byte >= 'a' && byte <= 'z' || byte >= '0' && byte <= '9' || byte == '.' || byte == '_' || byte == '-'
		if index < length && !inside || index >= length && byte != 0 {
			return false
		}
	}
	return true
}

// Check holds head and intent against each other. The intent is loaded before the head, so that it is never too far ahead,
// and again after it, so that it never lies behind.
func (j *Journal) Check() error {
	intent := load(j.control, layout.ControlIntent)
	head := j.Head()
	if head%line != 0 || head < j.First() || head >= layout.MaxPosition {
		return j.refuse(ErrDamaged, "its head %d is no possible position", head)
	}
	if intent > head && intent-head > j.capacity/4+line {
		return j.refuse(ErrDamaged, "its intent %d is too far ahead of its head %d", intent, head)
	}
	if intent = load(j.control, layout.ControlIntent); intent < head {
		return j.refuse(ErrDamaged, "its intent %d lies before its head %d", intent, head)
	}
	return nil
}

// checkIdentity holds the control file that has the name now against the page that is mapped. The ring is open already.
func (j *Journal) checkIdentity() error {
	file, err := os.Open(j.files.Control)
	if err != nil {
		return err
	}
	defer file.Close()
	word := make([]byte, 8)
	if _, err := file.ReadAt(word, layout.ControlIdentity); err != nil {
		return fmt.Errorf("%s: %w", j.files.Control, err)
	}
	if binary.LittleEndian.Uint64(word) != j.identity {
		return j.refuse(ErrReplaced, "%s", j.files.Ring)
	}
	return nil
}

// lease takes the lock on a byte of the journal's lock file, for as long as the file that it returns is open.
func (j *Journal) lease(at uint64, held error) (io.Closer, error) {
	if j.access == Observe {
		return nil, j.refuse(ErrReadOnly, "open it with the access that is needed")
	}
	file, err := os.OpenFile(j.files.Lock, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	start := make([]byte, 8*layout.LockWords)
	_, err = file.ReadAt(start, 0)
	magic, identity := binary.LittleEndian.Uint64(start), binary.LittleEndian.Uint64(start[layout.LockIdentity:])
	if err != nil || magic != layout.LockMagicWord || identity != j.identity {
		_ = file.Close()
		return nil, j.refuse(ErrReplaced, "%s", j.files.Lock)
	}
	if err := lockByte(file, at); err != nil {
		_ = file.Close()
		if err == errHeld {
			return nil, j.refuse(held, "byte %d of %s is locked", at, j.files.Lock)
		}
		return nil, fmt.Errorf("locking %s: %w", j.files.Lock, err)
	}
	return file, nil
}

// Close unmaps the journal. Readers and writers that were made of it are closed first.
func (j *Journal) Close() error {
	var first error
	for index := range j.maps {
		if err := j.maps[index].unmap(); err != nil && first == nil {
			first = err
		}
	}
	j.maps, j.control, j.ring = nil, nil, nil
	return first
}

// Name of the journal.
func (j *Journal) Name() string { return j.name }

// ID is its number in its instance.
func (j *Journal) ID() uint32 { return j.id }

// Identity is its random number.
func (j *Journal) Identity() uint64 { return j.identity }

// Capacity of the ring in bytes.
func (j *Journal) Capacity() uint64 { return j.capacity }

// MaxPayload is the largest payload.
func (j *Journal) MaxPayload() uint64 { return j.payload }

// Seats that may read it.
func (j *Journal) Seats() uint32 { return j.seats }

// Topics that it has.
func (j *Journal) Topics() uint32 { return j.topics }

// First is the position of the first frame.
func (j *Journal) First() uint64 { return load(j.control, layout.ControlFirst) }

// Head is the end of the committed frames.
func (j *Journal) Head() uint64 { return load(j.control, layout.ControlHead) }

// Epoch says how many writers have attached.
func (j *Journal) Epoch() uint64 { return load(j.control, layout.ControlEpoch) }

// Durable is the end of what is on disk; false if nobody writes it there.
func (j *Journal) Durable() (uint64, bool) {
	least, any := uint64(math.MaxUint64), false
	for word := range uint64(j.seats / 64) {
		for seats := load(j.control, layout.ControlDurable+word*8); seats != 0; seats &= seats - 1 {
			seat := uint32(word)*64 + uint32(bits.TrailingZeros64(seats))
			least, any = min(least, load(j.control, cursor(seat)+layout.CursorKept)), true
		}
	}
	return least, any
}

// Oldest is a position near the oldest frame that is still there.
func (j *Journal) Oldest() uint64 {
	head := j.Head()
	var marks [layout.ControlMarkCount]uint64
	for index := range marks {
		marks[index] = load(j.control, layout.ControlMarks+uint64(index)*8)
	}
	intent := load(j.control, layout.ControlIntent)
	from := j.First()
	if intent > j.capacity {
		from = max(from, intent-j.capacity)
	}
	oldest := head
	for _, mark := range marks {
		if mark%line == 0 && mark >= from && mark < oldest && j.commit(mark) == mark {
			oldest = mark
		}
	}
	return oldest
}

// WriterState of a journal.
type WriterState int

const (
	// NoWriter was ever there.
	NoWriter WriterState = iota
	// Attached is one now.
	Attached
	// Closed says that the last one left in good order.
	Closed
	// Dead says that it is attached, and its process has ended.
	Dead
)

func (s WriterState) String() string { return [...]string{"none", "attached", "closed", "dead"}[s] }

// Writer says how the writer is. It reads /proc: ask when idle.
func (j *Journal) Writer() WriterState {
	state := load(j.control, layout.ControlWriterState)
	process := uint32(load(j.control, layout.ControlWriter))
	start := load(j.control, layout.ControlWriterStart)
	switch {
	case state == 0:
		return NoWriter
	case state != 1:
		return Closed
	case startOf(int(process)) != start:
		return Dead
	}
	return Attached
}

func cursor(seat uint32) uint64 { return layout.ControlCursors + uint64(seat)*line }

// interest is where a topic's row begins.
func (j *Journal) interest(topic uint32) uint64 {
	return layout.ControlCursors + uint64(j.seats)*line + uint64(topic)*uint64(j.seats/64)*8
}

// SetInterest has frames of these topics wake the seat, and no others; nil: all. Announce it to the writers afterwards.
func (j *Journal) SetInterest(seat uint32, topics []uint32) error {
	if err := j.checkSeat(seat); err != nil {
		return err
	}
	wanted := make([]bool, j.topics)
	for index := range wanted {
		wanted[index] = topics == nil
	}
	for _, topic := range topics {
		if topic < j.topics {
			wanted[topic] = true
		}
	}
	for topic, wants := range wanted {
		at := j.interest(uint32(topic)) + uint64(seat/64)*8
		if is := load(j.control, at)>>(seat%64)&1 == 1; is == wants {
			continue
		}
		if wants {
			setBit(j.control, at, seat%64)
		} else {
			clearBit(j.control, at, seat%64)
		}
	}
	return nil
}

// SetDurableInterest has the seat woken when more is on disk.
func (j *Journal) SetDurableInterest(seat uint32, wants bool) error {
	if err := j.checkSeat(seat); err != nil {
		return err
	}
	at := layout.ControlDurableWaiters + uint64(seat/64)*8
	if wants {
		setBit(j.control, at, seat%64)
	} else {
		clearBit(j.control, at, seat%64)
	}
	return nil
}

func (j *Journal) checkSeat(seat uint32) error {
	if j.access == Observe {
		return j.refuse(ErrReadOnly, "open it with the access that is needed")
	}
	if seat >= j.seats {
		return j.refuse(ErrNoSuchSeat, "seat %d of %d", seat, j.seats)
	}
	return nil
}

// commit word at a position.
func (j *Journal) commit(position uint64) uint64 { return load(j.ring, position&j.mask) }

// frameBytes is what a frame takes of the ring.
func frameBytes(length uint64) uint64 { return (layout.FramePayload + length + line - 1) &^ (line - 1) }

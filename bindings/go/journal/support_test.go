package journal

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"colo/layout"
)

const (
	small  = 64 << 10
	seats  = 64
	topics = 16
)

// page is the start of a journal's control file.
func page(capacity uint64, name string) words {
	end := layout.ControlCursors + seats*line + topics*seats/8
	control := make(words, (end+4095)&^4095/8)
	set := func(at, value uint64) { control[at/8] = value }
	set(layout.ControlMagic, layout.ControlMagicWord)
	set(layout.ControlVersion, layout.FormatVersion)
	set(layout.ControlLayoutHash, layout.LayoutHash)
	set(layout.ControlId, 1|12<<32)
	set(layout.ControlCapacity, capacity)
	set(layout.ControlTables, seats|topics<<32)
	set(layout.ControlMaxPayload, min(capacity/8, layout.MaxPayload)-layout.FramePayload)
	set(layout.ControlIncarnation, 1)
	set(layout.ControlIdentity, 0x1234567)
	for _, at := range []uint64{layout.ControlFirst, layout.ControlHead, layout.ControlIntent} {
		set(at, capacity)
	}
	copy(asBytes(control)[layout.ControlName:], name)
	return control
}

// files of a new journal.
func files(t testing.TB, capacity uint64) Files {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "colo-go-")
	if err != nil {
		folder = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	files := FilesIn(folder, "t")
	lock := binary.LittleEndian.AppendUint64(nil, layout.LockMagicWord)
	lock = binary.LittleEndian.AppendUint64(lock, 0x1234567)
	for path, bytes := range map[string][]byte{files.Lock: lock, files.Control: asBytes(page(capacity, "t"))} {
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(files.Ring, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files.Ring, int64(capacity)); err != nil {
		t.Fatal(err)
	}
	return files
}

func open(t testing.TB, files Files, access Access) *Journal {
	t.Helper()
	j, err := Open(files, access)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// inHeap is a journal that the race detector sees, in one piece.
func inHeap(capacity uint64) *Journal {
	j := &Journal{name: "t", access: Write, control: page(capacity, "t"), ring: make(words, capacity/8),
		mask: capacity - 1, capacity: capacity, payload: capacity/8 - layout.FramePayload, id: 1, seats: seats, topics: topics}
	return j
}

type noLease struct{}

func (noLease) Close() error { return nil }

func (j *Journal) writerInHeap(t testing.TB) *Writer {
	t.Helper()
	w := &Writer{journal: j, clock: MonotonicClock(), lease: noLease{}, batchSize: j.capacity / 8, epoch: 1}
	if err := w.takeOver(); err != nil {
		t.Fatal(err)
	}
	return w
}

func writer(t testing.TB, j *Journal) *Writer {
	t.Helper()
	w, err := j.NewWriter(0, MonotonicClock(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// body of a number: every byte follows from it, and its length too.
func body(number uint64) []byte {
	bytes := make([]byte, 8+number*61%900)
	for index := range bytes {
		bytes[index] = byte(number*167 + uint64(index)*31 + uint64(index>>8)*13)
	}
	binary.LittleEndian.PutUint64(bytes, number)
	return bytes
}

func check(t testing.TB, frame *Frame) uint64 {
	t.Helper()
	number := binary.LittleEndian.Uint64(frame.Payload)
	if string(frame.Payload) != string(body(number)) || frame.Topic != uint32(number%topics) || frame.ID != uint16(number) {
		t.Fatalf("frame %d at %d is torn", number, frame.Position)
	}
	return number
}

// watchdog ends a test that hangs.
func watchdog(t testing.TB) {
	t.Helper()
	timer := time.AfterFunc(20*time.Second, func() { panic(t.Name() + " hangs") })
	t.Cleanup(func() { timer.Stop() })
}

func vectors(name string) string { return filepath.Join("../../../journal/tests/vectors", name) }

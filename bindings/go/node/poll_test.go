package node

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colo/journal"
	"colo/layout"
)

const (
	capacity = 64 << 10
	seats    = 64
)

func words(size int, at map[int]uint64) []byte {
	bytes := make([]byte, size)
	for at, value := range at {
		binary.LittleEndian.PutUint64(bytes[at:], value)
	}
	return bytes
}

// stoppedWith: a node in seat 1 with one journal that holds so many frames, and where its log goes.
func stoppedWith(t *testing.T, frames int, drain time.Duration) (*poll, string) {
	t.Helper()
	folder := t.TempDir()
	control := words((layout.ControlCursors+seats*layout.LineBytes+seats/8+4095)&^4095, map[int]uint64{
		layout.ControlMagic: layout.ControlMagicWord, layout.ControlVersion: layout.FormatVersion,
		layout.ControlLayoutHash: layout.LayoutHash, layout.ControlId: 1 | 12<<32, layout.ControlCapacity: capacity,
		layout.ControlTables: seats | 1<<32, layout.ControlMaxPayload: capacity/8 - layout.FramePayload,
		layout.ControlIncarnation: 1, layout.ControlIdentity: 7,
		layout.ControlFirst: capacity, layout.ControlHead: capacity, layout.ControlIntent: capacity,
		layout.ControlName: 't'})
	registry := words(layout.RegistryRecords+seats*layout.RegistryRecordWords*8, map[int]uint64{
		layout.RegistryMagic: layout.RegistryMagicWord, layout.RegistryVersion: layout.FormatVersion,
		layout.RegistryLayoutHash: layout.LayoutHash, layout.RegistrySeats: seats})
	for name, bytes := range map[string][]byte{"t.ctl": control, "t.ring": make([]byte, capacity),
		"t.lock": words(16, map[int]uint64{0: layout.LockMagicWord, 8: 7}), "registry": registry} {
		if err := os.WriteFile(filepath.Join(folder, name), bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &poll{Node: &Node{Assignment: &Assignment{Seat: 1}}}
	p.Assignment.Drain.Nanos = uint32(drain)
	var err error
	if p.registry, err = journal.OpenRegistry(filepath.Join(folder, "registry")); err != nil {
		t.Fatal(err)
	}
	page, err := journal.Open(journal.FilesIn(folder, "t"), journal.Write)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := page.Gated(1)
	if err != nil {
		t.Fatal(err)
	}
	p.Inputs = []*Input{{ReadOf: ReadOf{Journal: "t"}, journal: page, reader: reader, gated: reader, node: p.Node}}
	writer, err := page.NewWriter(0, p.registry.Clock(), p.registry)
	if err != nil {
		t.Fatal(err)
	}
	for range frames {
		if _, err := writer.Write(1, 0, make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	standard := os.Stderr
	os.Stderr = log
	t.Cleanup(func() {
		os.Stderr = standard
		_ = log.Close()
	})
	return p, log.Name()
}

type slow struct {
	takes   time.Duration
	refuses bool
	ordered bool
	seen    int
}

func (s *slow) Turn() error                 { return nil }
func (s *slow) Accepts(int, uint64) bool    { return !s.refuses }
func (s *slow) Gap(int, *journal.Gap) error { return nil }
func (s *slow) InTimeOrder() bool           { return s.ordered }
func (s *slow) Stop() error                 { return nil }
func (s *slow) Frame(int, *journal.Frame) error {
	s.seen++
	time.Sleep(s.takes)
	return nil
}

func logged(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAStopEndsBehindTheFrameInWhichItsTimeIsOverAndSaysWhatIsUnread(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		p, log := stoppedWith(t, 40, 30*time.Millisecond)
		s := &slow{takes: 20 * time.Millisecond, ordered: ordered}
		p.component, p.ordered = s, ordered
		if err := p.drain(); err != nil {
			t.Fatal(err)
		}
		if s.seen > 2 {
			t.Errorf("%d frames were read in the time of two", s.seen)
		}
		if text := logged(t, log); !strings.Contains(text, " WARN  colo/node] stops with ") || !strings.Contains(text, " bytes of `t` unread\n") {
			t.Errorf("%q", text)
		}
	}
}

func TestAStopSaysWhatTheComponentDoesNotTake(t *testing.T) {
	p, log := stoppedWith(t, 2, time.Second)
	s := &slow{refuses: true}
	p.component = s
	if err := p.drain(); err != nil || s.seen != 0 {
		t.Fatal(err, s.seen)
	}
	if text := logged(t, log); !strings.Contains(text, "stops with 128 bytes of `t` unread\n") {
		t.Errorf("%q", text)
	}
}

func TestAStopThatReadsEverythingSaysNothing(t *testing.T) {
	p, log := stoppedWith(t, 100, 10*time.Second)
	s := &slow{}
	p.component = s
	if err := p.drain(); err != nil || s.seen != 100 {
		t.Fatal(err, s.seen)
	}
	if text := logged(t, log); text != "" {
		t.Errorf("%q", text)
	}
}

func TestALineOfTheLogIsWhereReportsLookForAnError(t *testing.T) {
	at := time.Date(2026, 11, 23, 16, 46, 19, 5, time.FixedZone("somewhere", 3600))
	for level, wanted := range map[Level]string{
		LevelError: "[2026-11-23T15:46:19.000000Z ERROR colo/strategy] why\n",
		LevelInfo:  "[2026-11-23T15:46:19.000000Z INFO  colo/strategy] why\n",
	} {
		if line := logLine(at, level, "colo/strategy", "why"); line != wanted {
			t.Errorf("%q", line)
		}
	}
}

package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"colo/layout"
)

func fromHex(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(vectors(name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	size, _ := strconv.Atoi(strings.Fields(lines[0])[1])
	memory := make(words, size/8)
	for _, line := range lines[1:] {
		index, word, _ := strings.Cut(line, ": ")
		at, _ := strconv.Atoi(index)
		memory[at], _ = strconv.ParseUint(word, 16, 64)
	}
	return asBytes(memory)
}

func TestTheGoldenVectorsAreReadAsTheyAreWritten(t *testing.T) {
	folder := t.TempDir()
	files := FilesIn(folder, "golden")
	for path, name := range map[string]string{files.Control: "control.hex", files.Ring: "ring.hex"} {
		if err := os.WriteFile(path, fromHex(t, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := open(t, files, Observe)
	reader, err := j.Loose(j.Oldest())
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	_, err = reader.ReadBatch(1_000, func(frame *Frame) {
		sum := 0
		for _, byte := range frame.Payload {
			sum += int(byte)
		}
		found = append(found, fmt.Sprint(frame.Position, frame.ID, frame.Topic, frame.Time, frame.Epoch, len(frame.Payload), sum))
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(vectors("frames.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan()
	count := 0
	for ; lines.Scan(); count++ {
		if count >= len(found) || found[count] != lines.Text() {
			t.Fatalf("frame %d is %q, not %q", count, found[min(count, len(found)-1)], lines.Text())
		}
	}
	if count != len(found) || count < 50 {
		t.Fatalf("%d frames, not %d", len(found), count)
	}
}

// next number of a reader of either kind; gaps are passed over.
func readAll(t *testing.T, next func(*Frame) (bool, error), each func(*Frame)) {
	t.Helper()
	var frame Frame
	for {
		found, err := next(&frame)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return
		}
		each(&frame)
	}
}

func TestFramesOfAllSizesComeBackRoundTheRing(t *testing.T) {
	f := files(t, small)
	j := open(t, f, Write)
	w := writer(t, j)
	gated, err := open(t, f, Read).Gated(5)
	if err != nil {
		t.Fatal(err)
	}
	loose, err := j.Loose(j.Head())
	if err != nil {
		t.Fatal(err)
	}
	written, read := uint64(0), [2]uint64{}
	for round := 0; round < 400; round++ {
		switch batch := w.Batch(); round % 3 {
		case 0:
			for range 3 {
				if _, err := batch.Push(uint16(written), uint32(written%topics), body(written)); err != nil {
					t.Fatal(err)
				}
				written++
			}
			batch.Commit()
		case 1:
			payload := body(written)
			claim, err := w.Claim(uint16(written), uint32(written%topics), len(payload)+100)
			if err != nil {
				t.Fatal(err)
			}
			copy(claim.Bytes(), payload)
			if _, err := claim.Commit(len(payload)); err != nil {
				t.Fatal(err)
			}
			written++
		default:
			if _, err := w.Write(uint16(written), uint32(written%topics), body(written)); err != nil {
				t.Fatal(err)
			}
			written++
		}
		for kind, next := range []func(*Frame) (bool, error){gated.Next, loose.Next} {
			readAll(t, next, func(frame *Frame) {
				if number := check(t, frame); number != read[kind] {
					t.Fatalf("%d comes behind %d", number, read[kind])
				}
				read[kind]++
			})
		}
	}
	if read != [2]uint64{written, written} || w.Position() < 3*small {
		t.Fatalf("%d of %d frames, up to %d", read, written, w.Position())
	}
}

func TestAGatedReaderHoldsTheWriterUpAndAKeptPlaceToo(t *testing.T) {
	f := files(t, small)
	w := writer(t, open(t, f, Write))
	gated, err := open(t, f, Read).Gated(5)
	if err != nil {
		t.Fatal(err)
	}
	kept := gated.Position()
	gated.Keep(kept)
	fill := func() (count int) {
		for {
			if _, err := w.Write(1, 0, make([]byte, 1000)); err != nil {
				if !errors.Is(err, ErrFull) {
					t.Fatal(err)
				}
				return count
			}
			count++
		}
	}
	count := fill()
	if count < 50 {
		t.Fatalf("full after %d frames", count)
	}
	readAll(t, gated.Next, func(*Frame) {})
	if more := fill(); more != 0 {
		t.Fatalf("%d frames over what is kept", more)
	}
	gated.Keep(gated.Position())
	if more := fill(); more < 50 {
		t.Fatalf("%d frames after all was given free", more)
	}
}

func TestALappedReaderSaysExactlyWhatItLost(t *testing.T) {
	f := files(t, small)
	w := writer(t, open(t, f, Write))
	j := open(t, f, Observe)
	reader, err := j.Loose(j.Head())
	if err != nil {
		t.Fatal(err)
	}
	at := reader.Position()
	for number := range uint64(500) {
		if _, err := w.Write(uint16(number), uint32(number%topics), body(number)); err != nil {
			t.Fatal(err)
		}
	}
	var frame Frame
	_, err = reader.Next(&frame)
	var gap *Gap
	if !errors.As(err, &gap) || gap.From != at || gap.Resumed != w.Position() || reader.Position() != w.Position() {
		t.Fatalf("%v", err)
	}
	if found, err := reader.Next(&frame); found || err != nil {
		t.Fatal(found, err)
	}
}

func TestRecordsOfAFrameHavePositionsOfTheirOwn(t *testing.T) {
	f := files(t, small)
	w := writer(t, open(t, f, Write))
	j := open(t, f, Observe)
	reader, _ := j.Loose(j.Head())
	written, err := w.WriteRecords(7, 3, 5, []byte("firstotherthird"))
	if err != nil {
		t.Fatal(err)
	}
	var frame Frame
	if found, err := reader.Next(&frame); !found || err != nil {
		t.Fatal(found, err)
	}
	var found []string
	for position, record := range frame.Records {
		found = append(found, fmt.Sprintf("%d %s", position-written.Position, record))
	}
	if fmt.Sprint(found) != "[32 first 37 other 42 third]" {
		t.Fatal(found)
	}
}

func TestNothingElseIsWrittenBeforeWhatWasBegunIsCommitted(t *testing.T) {
	f := files(t, small)
	j := open(t, f, Write)
	w := writer(t, j)
	reader, err := open(t, f, Read).Gated(5)
	if err != nil {
		t.Fatal(err)
	}
	next := func(number uint64) {
		read := 0
		readAll(t, reader.Next, func(frame *Frame) {
			if found := check(t, frame); found != number {
				t.Fatalf("%d instead of %d", found, number)
			}
			number++
			read++
		})
		if read == 0 || w.Position() != j.Head() {
			t.Fatalf("%d frames, the writer at %d, its head at %d", read, w.Position(), j.Head())
		}
	}
	refused := func(what string, err error) {
		if !errors.Is(err, ErrOrderOfCalls) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	large := make([]byte, 1_000)
	claim, err := w.Claim(9, 0, len(large))
	if err != nil {
		t.Fatal(err)
	}
	batch := w.Batch()
	if _, err := batch.Push(0, 0, body(0)); err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(1, 0, large)
	refused("write", err)
	_, err = w.WriteRecords(1, 0, 5, large)
	refused("records", err)
	_, err = w.Claim(1, 0, 5)
	refused("claim", err)
	_, err = claim.Commit(len(large))
	refused("an earlier claim", err)
	refused("skip", w.SkipTo(w.Position()+64_000))
	batch.Commit()
	_, err = claim.Commit(len(large))
	refused("a claim of before the batch", err)
	next(0)
	// An empty batch refuses no write, and begins behind the frames that were written meanwhile.
	batch = w.Batch()
	if _, err := w.Write(1, 1, body(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Push(2, 2, body(2)); err != nil {
		t.Fatal(err)
	}
	batch.Commit()
	next(1)
	batch = w.Batch()
	if _, err := batch.Push(9, 0, large); err != nil {
		t.Fatal(err)
	}
	batch.Abandon()
	if _, err := w.Write(3, 3, body(3)); err != nil {
		t.Fatal(err)
	}
	next(3)
}

func TestASuccessorGoesOnBehindWhatAKilledWriterCommitted(t *testing.T) {
	f := files(t, small)
	j := open(t, f, Write)
	first := writer(t, j)
	if _, err := first.Write(1, 0, []byte("counted")); err != nil {
		t.Fatal(err)
	}
	head, frames := j.Head(), load(j.control, layout.ControlFrames)
	if _, err := first.Write(1, 0, []byte("committed")); err != nil {
		t.Fatal(err)
	}
	// As if it had been killed behind the commit, before it counted.
	store(j.control, layout.ControlHead, head)
	store(j.control, layout.ControlFrames, frames)
	end := first.Position()
	batch := first.Batch()
	_, _ = batch.Push(1, 0, []byte("abandoned"))
	_ = first.lease.Close()
	first.lease = nil
	second := writer(t, open(t, f, Write))
	if second.Position() != end || second.Epoch() != first.Epoch()+1 || second.frames != 2 || j.Head() != end {
		t.Fatalf("goes on at %d, frames %d, epoch %d", second.Position(), second.frames, second.Epoch())
	}
}

func TestLocksKeepASecondWriterAndASecondReaderOut(t *testing.T) {
	f := files(t, small)
	_ = writer(t, open(t, f, Write))
	other := open(t, f, Write)
	if _, err := other.NewWriter(1, MonotonicClock(), nil); !errors.Is(err, ErrWriterExists) {
		t.Error(err)
	}
	reader, err := other.Gated(3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, f, Read).Gated(3); !errors.Is(err, ErrSeatTaken) {
		t.Error(err)
	}
	_ = reader.Close()
	if _, err := open(t, f, Read).Gated(3); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(f.Lock, make([]byte, 16), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Gated(4); !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
}

func TestAProgramThatIsStartedKeepsNoLock(t *testing.T) {
	f := files(t, small)
	_ = writer(t, open(t, f, Write))
	reader, err := open(t, f, Read).Gated(3)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	program := exec.Command("sleep", "60")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Process.Kill(); _ = program.Wait() }()
	folder := fmt.Sprintf("/proc/%d/fd", program.Process.Pid)
	descriptors, err := os.ReadDir(folder)
	if err != nil || len(descriptors) == 0 {
		t.Fatal(descriptors, err)
	}
	for _, descriptor := range descriptors {
		if to, _ := os.Readlink(folder + "/" + descriptor.Name()); to == f.Lock {
			t.Error("it has", to)
		}
	}
}

func TestDamagedHeadersAreRefused(t *testing.T) {
	cases := []struct {
		at, value uint64
		why       error
	}{
		{layout.ControlMagic, 7, ErrForeign},
		{layout.ControlVersion, 99, ErrVersion},
		{layout.ControlLayoutHash, 2, ErrVersion},
		{layout.ControlCapacity, 77, ErrDamaged},
		{layout.ControlCapacity, 2 * small, ErrDamaged},
		{layout.ControlTables, 77, ErrDamaged},
		{layout.ControlMaxPayload, small, ErrDamaged},
		{layout.ControlId, 11 << 32, ErrDamaged},
		{layout.ControlName, 0x41, ErrDamaged},
		{layout.ControlFirst, 64, ErrDamaged},
		{layout.ControlHead, 77, ErrDamaged},
		{layout.ControlHead, 1 << 63, ErrDamaged},
		{layout.ControlIntent, 1 << 60, ErrDamaged},
		{layout.ControlIntent, 0, ErrDamaged},
	}
	f := files(t, small)
	whole, err := os.ReadFile(f.Control)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range cases {
		broken := append([]byte(nil), whole...)
		asWords(broken)[damage.at/8] = damage.value
		if err := os.WriteFile(f.Control, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(f, Observe); !errors.Is(err, damage.why) {
			t.Errorf("%d at %d: %v", damage.value, damage.at, err)
		}
	}
	_ = os.WriteFile(f.Control, whole, 0o600)
	if err := os.Truncate(f.Ring, small/2); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f, Observe); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

func TestSkippedSpaceIsPassedOver(t *testing.T) {
	f := files(t, small)
	w := writer(t, open(t, f, Write))
	j := open(t, f, Observe)
	reader, _ := j.Loose(j.Head())
	to := w.Position() + 20_032
	if err := w.SkipTo(to); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(9, 1, []byte("behind")); err != nil {
		t.Fatal(err)
	}
	var frame Frame
	if found, err := reader.Next(&frame); !found || err != nil || frame.Position != to || string(frame.Payload) != "behind" {
		t.Fatal(found, err, frame)
	}
}

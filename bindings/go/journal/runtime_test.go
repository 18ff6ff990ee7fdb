package journal

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"colo/layout"
)

// A loose reader beside its writer, in memory that the race detector sees: run with -race.
func TestLooseCopiesAreNoRace(t *testing.T) {
	watchdog(t)
	j := inHeap(small)
	w := j.writerInHeap(t)
	reader, err := j.Loose(j.Head())
	if err != nil {
		t.Fatal(err)
	}
	const frames = 40_000
	go func() {
		for number := range uint64(frames) {
			if _, err := w.Write(uint16(number), uint32(number%topics), body(number)); err != nil {
				panic(err)
			}
			if number%64 == 0 {
				time.Sleep(20 * time.Microsecond)
			}
		}
		_ = w.Close()
	}()
	var frame Frame
	read, gaps, last := 0, 0, uint64(0)
	for last < frames-1 {
		found, err := reader.Next(&frame)
		var gap *Gap
		switch {
		case errors.As(err, &gap):
			gaps++
			if reader.Position() == j.Head() && load(j.control, layout.ControlWriterState) == 2 {
				last = frames
			}
		case err != nil:
			t.Fatal(err)
		case found:
			last = check(t, &frame)
			read++
		default:
			runtime.Gosched()
			if load(j.control, layout.ControlWriterState) == 2 && !reader.HasNews() {
				last = frames
			}
		}
	}
	t.Logf("%d frames, %d gaps", read, gaps)
	if read == 0 {
		t.Fatal("nothing was read")
	}
}

func TestReadingAndWritingAllocateNothing(t *testing.T) {
	f := files(t, 1<<20)
	w := writer(t, open(t, f, Write))
	j := open(t, f, Read)
	loose, err := j.LooseIn(2, j.Head())
	if err != nil {
		t.Fatal(err)
	}
	gated, err := j.Gated(3)
	if err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, 96)
	var frame Frame
	allocations := testing.AllocsPerRun(20_000, func() {
		if _, err := w.Write(1, 2, payload); err != nil {
			t.Fatal(err)
		}
		for _, next := range [...]func(*Frame) (bool, error){loose.Next, gated.Next} {
			if found, err := next(&frame); !found || err != nil {
				t.Fatal(found, err)
			}
		}
	})
	if allocations != 0 {
		t.Fatalf("%v allocations a message", allocations)
	}
	each := func(*Frame) {}
	allocations = testing.AllocsPerRun(1_000, func() {
		if _, err := w.Write(1, 2, payload); err != nil {
			t.Fatal(err)
		}
		for _, batch := range [...]func(int, func(*Frame)) (int, error){loose.ReadBatch, gated.ReadBatch} {
			if count, err := batch(64, each); count != 1 || err != nil {
				t.Fatal(count, err)
			}
		}
	})
	if allocations != 0 {
		t.Fatalf("%v allocations a batch", allocations)
	}
}

// A reader that polls without a pause must not keep the collector from stopping the world.
func TestASpinningReaderDoesNotStopTheCollector(t *testing.T) {
	watchdog(t)
	f := files(t, small)
	_ = writer(t, open(t, f, Write))
	j := open(t, f, Observe)
	var ends atomic.Bool
	done := make(chan uint64)
	for range max(2, runtime.GOMAXPROCS(0)) {
		go func() {
			reader, _ := j.Loose(j.Head())
			var frame Frame
			rounds := uint64(0)
			for !ends.Load() {
				_, _ = reader.Next(&frame)
				rounds++
			}
			done <- rounds
		}()
	}
	for range 20 {
		runtime.GC()
	}
	ends.Store(true)
	for range max(2, runtime.GOMAXPROCS(0)) {
		if <-done == 0 {
			t.Fatal("a reader did not run")
		}
	}
}

func registry(t *testing.T) *Registry {
	t.Helper()
	path := t.TempDir() + "/registry"
	memory := make([]byte, layout.RegistryRecords+seats*recordBytes)
	for at, value := range map[int]uint64{layout.RegistryMagic: layout.RegistryMagicWord,
		layout.RegistryVersion: layout.FormatVersion, layout.RegistryLayoutHash: layout.LayoutHash, layout.RegistrySeats: seats} {
		binary.LittleEndian.PutUint64(memory[at:], value)
	}
	if err := os.WriteFile(path, memory, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRegistry(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestASleeperIsWokenForItsTopicAndTheCollectorDoesNotWaitForIt(t *testing.T) {
	watchdog(t)
	f := files(t, small)
	j, r := open(t, f, Write), registry(t)
	w, err := j.NewWriter(0, MonotonicClock(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	reader, err := open(t, f, Read).Gated(5)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.SetInterest(5, []uint32{3}); err != nil {
		t.Fatal(err)
	}
	r.Announce()
	slept := make(chan Sleep)
	sleep := func() { slept <- r.Park(5, 30*time.Second, reader.HasNews) }
	isParked := func() {
		for r.Word(5, layout.RegistryWait) != parked {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
	}
	go sleep()
	isParked()
	runtime.GC()
	if _, err := w.Write(1, 2, []byte("for others")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if r.Word(5, layout.RegistryWait) != parked {
		t.Fatal("woken for a topic that it does not want")
	}
	var frame Frame
	if _, err := w.Write(1, 3, []byte("for it")); err != nil {
		t.Fatal(err)
	}
	if how := <-slept; how != Woken {
		t.Fatalf("the sleep ended by %d", how)
	}
	readAll(t, reader.Next, func(*Frame) {})
	go sleep()
	isParked()
	if _, err := w.Write(1, 3, nil); err != nil {
		t.Fatal(err)
	}
	if how := <-slept; how != Woken {
		t.Fatalf("the sleep ended by %d", how)
	}
	if how := r.Park(5, time.Second, reader.HasNews); how != NotAsleep {
		t.Fatalf("it slept over news: %d", how)
	}
	_, _ = reader.Next(&frame)
	if how := r.Park(5, time.Millisecond, reader.HasNews); how != TimedOut {
		t.Fatalf("the sleep ended by %d", how)
	}
}

func benchmark(b *testing.B, length int, batch int) {
	f := files(b, 16<<20)
	j := open(b, f, Write)
	w := writer(b, j)
	payload := make([]byte, length)
	reader, _ := open(b, f, Observe).Loose(j.Head())
	frames := int(j.capacity/frameBytes(uint64(length))) / 2
	b.SetBytes(int64(length))
	var frame Frame
	var sum uint64
	for left := b.N; left > 0; left -= frames {
		b.StopTimer()
		for range frames {
			_, _ = w.Write(1, 2, payload)
		}
		b.StartTimer()
		for range frames {
			if found, err := reader.Next(&frame); !found || err != nil {
				b.Fatal(found, err)
			}
			sum += uint64(frame.Payload[0])
		}
	}
}

func BenchmarkLoose128(b *testing.B) { benchmark(b, 128, 1) }

func BenchmarkLoose32(b *testing.B) { benchmark(b, 32, 1) }

package journal

import (
	"io"
	"math/bits"
	"os"

	"colo/layout"
)

// Writer is the one that writes a journal. What it commits is whole or not there, even if the process is killed.
type Writer struct {
	journal   *Journal
	clock     *Clock
	registry  *Registry
	position  uint64
	limit     uint64
	intent    uint64
	frames    uint64
	lastTime  uint64
	epoch     uint64
	batchSize uint64
	lease     io.Closer
	batch     Batch
}

// Written says where a frame is, and its time.
type Written struct {
	Position uint64
	Time     uint64
}

// mostAhead of the clock is what a predecessor's last time may be and still be believed.
const mostAhead = 1_000_000_000

// Writer attaches as the writer, from a seat. Through the registry, if there is one, it wakes who sleeps.
func (j *Journal) NewWriter(seat uint32, clock *Clock, registry *Registry) (*Writer, error) {
	if j.access != Write {
		return nil, j.refuse(ErrReadOnly, "open it for writing")
	}
	if seat >= j.seats {
		return nil, j.refuse(ErrNoSuchSeat, "seat %d of %d", seat, j.seats)
	}
	lease, err := j.lease(layout.LockWriterByte, ErrWriterExists)
	if err != nil {
		return nil, err
	}
	w := &Writer{journal: j, clock: clock, registry: registry, lease: lease, batchSize: min(j.capacity/8, layout.MaxBatch)}
	if err := w.takeOver(); err != nil {
		_ = lease.Close()
		return nil, err
	}
	control := j.control
	store(control, layout.ControlWriterStart, startOf(os.Getpid()))
	store(control, layout.ControlWriter, uint64(uint32(os.Getpid()))|uint64(seat)<<32)
	store(control, layout.ControlWriterState, 1)
	w.epoch = load(control, layout.ControlEpoch) + 1
	store(control, layout.ControlEpoch, w.epoch)
	return w, nil
}

// takeOver finds the end of what a predecessor committed, and counts what it had no time to count.
func (w *Writer) takeOver() error {
	j, control := w.journal, w.journal.control
	if err := j.Check(); err != nil {
		return err
	}
	head := j.Head()
	w.intent = load(control, layout.ControlIntent)
	w.position, w.lastTime = head, load(control, layout.ControlLastTime)
	counted := load(control, layout.ControlFrames)
	found := uint64(0)
	for j.commit(w.position) == w.position {
		frame := j.header(w.position)
		if frame.length() > j.payload {
			return j.refuse(ErrDamaged, "the frame at its end, position %d, claims %d bytes", w.position, frame.length())
		}
		w.position += frameBytes(frame.length())
		w.lastTime = max(w.lastTime, frame.time)
		found++
		if w.position > head+j.capacity {
			return j.refuse(ErrDamaged, "its frames have no end")
		}
	}
	if j.commit(w.position) != 0 {
		return j.refuse(ErrDamaged, "the line behind its last frame, position %d, is not clear", w.position)
	}
	w.frames = counted >> 16
	if framesWord(w.frames, w.position) != counted {
		w.frames += found
	}
	store(control, layout.ControlFrames, framesWord(w.frames, w.position))
	store(control, layout.ControlLastTime, w.lastTime)
	store(control, layout.ControlHead, w.position)
	w.limit, w.intent = w.position, max(w.intent, w.position)
	if w.lastTime > w.clock.Now()+mostAhead {
		w.lastTime = 0
	}
	return nil
}

func framesWord(frames, end uint64) uint64 { return frames<<16 | end/line&0xffff }

// Write commits one frame.
func (w *Writer) Write(id uint16, topic uint32, payload []byte) (Written, error) {
	length := uint64(len(payload))
	if err := w.idle(); err != nil {
		return Written{}, err
	}
	if err := w.check(length, topic); err != nil {
		return Written{}, err
	}
	position, end := w.position, w.position+frameBytes(length)
	if err := w.makeRoom(end + line); err != nil {
		return Written{}, err
	}
	w.clear(end)
	w.storePayload(position, payload)
	time := w.stamp()
	w.storeHeader(position, id, 0, topic, length, time)
	w.commit(position, end, 1, time)
	w.notify(topic)
	return Written{position, time}, nil
}

// idle refuses what would overwrite the frames of a batch that is not committed.
func (w *Writer) idle() error {
	if w.batch.frames > 0 {
		return w.journal.refuse(ErrOrderOfCalls, "a batch of %d frames", w.batch.frames)
	}
	return nil
}

func (w *Writer) check(length uint64, topic uint32) error {
	if length > w.journal.payload {
		return w.journal.refuse(ErrTooLarge, "%d bytes, at most %d", length, w.journal.payload)
	}
	if topic >= w.journal.topics {
		return w.journal.refuse(ErrNoSuchTopic, "topic %d of %d", topic, w.journal.topics)
	}
	return nil
}

func (w *Writer) makeRoom(needed uint64) error {
	if needed <= w.limit {
		return nil
	}
	return w.extend(needed)
}

// extend looks at the gate, declares what is going to be overwritten, and leaves a mark.
func (w *Writer) extend(needed uint64) error {
	j := w.journal
	gate := w.gate()
	if needed > gate {
		return w.full(needed, gate)
	}
	w.leaveMark()
	wanted := min(max(w.position+j.capacity/8, needed), gate)
	w.intent = max(w.intent, wanted)
	// Sequentially consistent: before the first byte that it covers, and before the second look at the gate.
	store(j.control, layout.ControlIntent, w.intent)
	gate = w.gate()
	w.limit = min(wanted, gate)
	if needed > w.limit {
		return w.full(needed, gate)
	}
	return nil
}

func (w *Writer) gate() uint64 {
	j := w.journal
	least := w.position
	for word := range uint64(j.seats / 64) {
		for seats := load(j.control, layout.ControlGated+word*8); seats != 0; seats &= seats - 1 {
			least = min(least, j.neededBy(uint32(word)*64+uint32(bits.TrailingZeros64(seats))))
		}
	}
	return min(least+j.capacity, layout.MaxPosition)
}

func (j *Journal) neededBy(seat uint32) uint64 {
	at := cursor(seat)
	position, kept := load(j.control, at+layout.CursorPosition), load(j.control, at+layout.CursorKept)
	if kept != 0 && kept < position {
		return kept
	}
	return position
}

func (w *Writer) full(needed, gate uint64) error {
	j := w.journal
	if w.registry != nil {
		for word := range uint64(j.seats / 64) {
			for seats := load(j.control, layout.ControlGated+word*8); seats != 0; seats &= seats - 1 {
				seat := uint32(word)*64 + uint32(bits.TrailingZeros64(seats))
				if j.neededBy(seat)+j.capacity < needed && w.registry.Wake(seat) {
					w.countWake()
				}
			}
		}
	}
	store(j.control, layout.ControlFull, load(j.control, layout.ControlFull)+1)
	return j.refuse(ErrFull, "%d bytes are needed, %d are free", needed-line-w.position, max(gate, w.position+line)-w.position-line)
}

func (w *Writer) leaveMark() {
	j := w.journal
	step := max(j.capacity/layout.ControlMarkCount, line)
	slot := layout.ControlMarks + w.position/step%layout.ControlMarkCount*8
	if mark := load(j.control, slot); mark/step != w.position/step || mark == 0 {
		store(j.control, slot, w.position)
	}
}

// clear the commit word of the frame that will be at a position.
func (w *Writer) clear(position uint64) { storeWord(w.journal.ring, position&w.journal.mask, 0) }

var zeros [16]byte

// storePayload and what fills it up to a multiple of 16.
func (w *Writer) storePayload(position uint64, payload []byte) {
	w.storeAt(position+layout.FramePayload, payload)
	if rest := len(payload) % 16; rest != 0 {
		w.storeAt(position+layout.FramePayload+uint64(len(payload)), zeros[rest:])
	}
}

func (w *Writer) storeAt(position uint64, bytes []byte) {
	ring, at := w.journal.ring, position&w.journal.mask
	if room := uint64(len(ring))*8 - at; room < uint64(len(bytes)) {
		storeBytes(ring, at, bytes[:room])
		storeBytes(ring, 0, bytes[room:])
		return
	}
	storeBytes(ring, at, bytes)
}

func (w *Writer) storeHeader(position uint64, id, flags uint16, topic uint32, length, time uint64) {
	ring, at := w.journal.ring, position&w.journal.mask
	storeWord(ring, at+layout.FrameLength, length|uint64(id)<<32|uint64(flags)<<48)
	storeWord(ring, at+layout.FrameTime, time)
	storeWord(ring, at+layout.FrameTopic, uint64(topic)|w.epoch<<32)
}

func (w *Writer) stamp() uint64 { return max(w.clock.Now(), w.lastTime) }

// commit makes frames visible, and counts them.
func (w *Writer) commit(position, end, frames, time uint64) {
	control := w.journal.control
	store(w.journal.ring, position&w.journal.mask, position)
	w.position, w.frames = end, w.frames+frames
	w.lastTime = max(w.lastTime, time)
	storeWord(control, layout.ControlFrames, framesWord(w.frames, end))
	storeWord(control, layout.ControlLastTime, w.lastTime)
	store(control, layout.ControlHead, end)
}

func (w *Writer) notify(topic uint32) {
	if w.registry == nil {
		return
	}
	j := w.journal
	for word := range uint64(j.seats / 64) {
		if wanted := load(j.control, j.interest(topic)+word*8); wanted != 0 {
			w.notifySeats(uint32(word)*64, wanted)
		}
	}
}

func (w *Writer) notifySeats(first uint32, wanted uint64) {
	for range w.registry.notify(first, wanted, w.journal.id) {
		w.countWake()
	}
}

func (w *Writer) notifyAll() {
	if w.registry == nil {
		return
	}
	j := w.journal
	for word := range uint64(j.seats / 64) {
		wanted := uint64(0)
		for topic := range j.topics {
			wanted |= load(j.control, j.interest(topic)+word*8)
		}
		if wanted != 0 {
			w.notifySeats(uint32(word)*64, wanted)
		}
	}
}

func (w *Writer) countWake() {
	store(w.journal.control, layout.ControlWakes, load(w.journal.control, layout.ControlWakes)+1)
}

// Count a frame in a class of the tally, right behind its commit; of a batch each, in order.
func (w *Writer) Count(class int) {
	if class >= 0 && class < layout.ControlClasses {
		at := layout.ControlTally + uint64(class)*8
		store(w.journal.control, at, load(w.journal.control, at)+1)
	}
}

// Tally is how many frames of each class there ever were.
func (w *Writer) Tally() [layout.ControlClasses]uint64 {
	var tally [layout.ControlClasses]uint64
	for class := range tally {
		tally[class] = load(w.journal.control, layout.ControlTally+uint64(class)*8)
	}
	return tally
}

// CountMissed brings the tally up to date: a predecessor that was killed may have left its last frames uncounted.
func (w *Writer) CountMissed(class func(*Frame) int) error {
	counted := uint64(0)
	for _, of := range w.Tally() {
		counted += of
	}
	if counted >= w.frames {
		return nil
	}
	reader, err := w.journal.Loose(w.journal.Oldest())
	if err != nil {
		return err
	}
	var last []int
	_, err = reader.ReadBatch(1<<62, func(frame *Frame) { last = append(last, class(frame)) })
	if err != nil {
		return err
	}
	missing := min(w.frames-counted, uint64(len(last)))
	for _, class := range last[uint64(len(last))-missing:] {
		w.Count(class)
	}
	return nil
}

// Position of the next frame.
func (w *Writer) Position() uint64 { return w.position }

// Epoch of this writer.
func (w *Writer) Epoch() uint64 { return w.epoch }

// Now is the time that a frame would get.
func (w *Writer) Now() uint64 { return w.stamp() }

// Close leaves in good order, and wakes the readers.
func (w *Writer) Close() error {
	if w.lease == nil {
		return nil
	}
	store(w.journal.control, layout.ControlWriterState, 2)
	w.notifyAll()
	lease := w.lease
	w.lease = nil
	return lease.Close()
}

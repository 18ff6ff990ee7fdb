package journal

import "colo/layout"

// Batch of frames that become visible at once. One that is not committed writes nothing.
type Batch struct {
	writer *Writer
	end    uint64
	frames uint64
	topics []uint32
}

// Batch begins one, and drops what an earlier one has not committed. The writer has one at a time, and takes nothing else once a
// frame was pushed, before it is committed or abandoned: ErrOrderOfCalls.
func (w *Writer) Batch() *Batch {
	w.batch = Batch{writer: w, end: w.position, topics: w.batch.topics[:0]}
	return &w.batch
}

// Push adds a frame, and returns its position.
func (b *Batch) Push(id uint16, topic uint32, payload []byte) (uint64, error) {
	w, length := b.writer, uint64(len(payload))
	if err := w.check(length, topic); err != nil {
		return 0, err
	}
	if b.frames == 0 {
		b.end = w.position
	}
	position, end := b.end, b.end+frameBytes(length)
	if end-w.position > w.batchSize {
		return 0, w.journal.refuse(ErrBatchFull, "%d bytes at most", w.batchSize)
	}
	if err := w.makeRoom(end + line); err != nil {
		return 0, err
	}
	w.storePayload(position, payload)
	w.storeHeader(position, id, 0, topic, length, 0)
	if b.frames > 0 {
		storeWord(w.journal.ring, position&w.journal.mask, position)
	}
	b.end, b.frames = end, b.frames+1
	if len(b.topics) == 0 || b.topics[len(b.topics)-1] != topic {
		b.topics = append(b.topics, topic)
	}
	return position, nil
}

// Commit makes them visible: all of them, or none.
func (b *Batch) Commit() Written {
	w := b.writer
	if b.frames == 0 {
		return Written{w.position, w.lastTime}
	}
	position, time := b.prepare()
	w.commit(position, b.end, b.frames, time)
	b.frames = 0
	w.notifyTopics(b.topics)
	return Written{position, time}
}

// Abandon drops the frames of the batch: no reader ever saw them. The writer takes other frames again.
func (b *Batch) Abandon() { b.frames = 0 }

// Stage does everything but the store that makes them visible: what a writer leaves that is killed there. For tests.
func (b *Batch) Stage() uint64 {
	position, _ := b.prepare()
	return position
}

func (b *Batch) prepare() (uint64, uint64) {
	w := b.writer
	j, time := w.journal, w.stamp()
	for at := w.position; at < b.end; at += frameBytes(j.header(at).length()) {
		storeWord(j.ring, at&j.mask+layout.FrameTime, time)
	}
	w.clear(b.end)
	return w.position, time
}

func (w *Writer) notifyTopics(topics []uint32) {
	if w.registry == nil {
		return
	}
	if len(topics) == 1 {
		w.notify(topics[0])
		return
	}
	j := w.journal
	for word := range uint64(j.seats / 64) {
		wanted := uint64(0)
		for _, topic := range topics {
			wanted |= load(j.control, j.interest(topic)+word*8)
		}
		if wanted != 0 {
			w.notifySeats(uint32(word)*64, wanted)
		}
	}
}

// Claim is room for one frame, to be filled in place. One that is not committed writes nothing.
type Claim struct {
	writer   *Writer
	id       uint16
	flags    uint16
	topic    uint32
	room     uint64
	position uint64
}

// Claim room for a payload of up to so many bytes. Any other frame ends the claim: its Commit is ErrOrderOfCalls then.
func (w *Writer) Claim(id uint16, topic uint32, room int) (Claim, error) {
	return w.claim(id, 0, topic, room)
}

func (w *Writer) claim(id, flags uint16, topic uint32, room int) (Claim, error) {
	if err := w.idle(); err != nil {
		return Claim{}, err
	}
	if err := w.check(uint64(room), topic); err != nil {
		return Claim{}, err
	}
	if err := w.makeRoom(w.position + frameBytes(uint64(room)) + line); err != nil {
		return Claim{}, err
	}
	return Claim{w, id, flags, topic, uint64(room), w.position}, nil
}

// Bytes of the payload, in the ring: nobody sees them before the commit.
func (c Claim) Bytes() []byte {
	at := c.position&c.writer.journal.mask + layout.FramePayload
	return asBytes(c.writer.journal.ring)[at : at+c.room : at+c.room]
}

// Commit the first so many bytes of it.
func (c Claim) Commit(length int) (Written, error) {
	w := c.writer
	if length < 0 || uint64(length) > c.room {
		return Written{}, w.journal.refuse(ErrTooLarge, "%d bytes, %d are claimed", length, c.room)
	}
	if err := w.idle(); err != nil {
		return Written{}, err
	}
	if w.position != c.position {
		return Written{}, w.journal.refuse(ErrOrderOfCalls, "claimed at %d, and its end is %d now", c.position, w.position)
	}
	position, end := w.position, w.position+frameBytes(uint64(length))
	if rest := length % 16; rest != 0 {
		w.storeAt(position+layout.FramePayload+uint64(length), zeros[rest:])
	}
	w.clear(end)
	time := w.stamp()
	w.storeHeader(position, c.id, c.flags, c.topic, uint64(length), time)
	w.commit(position, end, 1, time)
	w.notify(c.topic)
	return Written{position, time}, nil
}

// WriteRecords commits messages of one size, one behind the other in records, as one frame.
func (w *Writer) WriteRecords(id uint16, topic uint32, size int, records []byte) (Written, error) {
	if size < 1 || size > layout.FrameRecord || len(records) == 0 || len(records)%size != 0 {
		return Written{}, w.journal.refuse(ErrTooLarge, "records of %d bytes in %d bytes", size, len(records))
	}
	if uint64(len(records)) > w.journal.payload {
		return Written{}, w.journal.refuse(ErrBatchFull, "%d bytes of records, at most %d", len(records), w.journal.payload)
	}
	claim, err := w.claim(id, uint16(size), topic, len(records))
	if err != nil {
		return Written{}, err
	}
	w.storeAt(w.position+layout.FramePayload, records)
	return claim.Commit(len(records))
}

// SkipTo makes a position that of the next frame: void frames fill the space before it.
func (w *Writer) SkipTo(position uint64) error {
	j := w.journal
	if err := w.idle(); err != nil {
		return err
	}
	if position%line != 0 || position < w.position || position-w.position > 1<<40 {
		return j.refuse(ErrNoSuchPosition, "%d does not follow %d", position, w.position)
	}
	for w.position < position {
		bytes := min(position-w.position, frameBytes(j.payload)&^(line-1))
		length := min(bytes-layout.FramePayload, j.payload)
		end := w.position + frameBytes(length)
		if err := w.makeRoom(end + line); err != nil {
			return err
		}
		w.clear(end)
		time := load(j.control, layout.ControlLastTime)
		w.storeHeader(w.position, 0, layout.FrameVoid, 0, length, time)
		w.commit(w.position, end, 1, time)
	}
	w.notifyAll()
	return nil
}

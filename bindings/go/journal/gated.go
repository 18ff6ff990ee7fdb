package journal

import (
	"io"
	"sync/atomic"

	"colo/layout"
)

// GatedReader is waited for by the writer: it loses nothing, and reads in place.
type GatedReader struct {
	journal  *Journal
	position uint64
	// passed is what the reader has finished with; published what the writer knows of it.
	passed    uint64
	published uint64
	frames    uint64
	kept      uint64
	cursor    uint64
	topics    Topics
	durable   bool
	// split is for payloads that are not in one piece, in a ring that is not mapped twice.
	split []byte
	lease io.Closer
	// frame of ReadBatch: a variable there would be allocated at each call.
	frame Frame
}

// Gated reads in a seat, from its cursor on or, if it has none, from the head.
func (j *Journal) Gated(seat uint32) (*GatedReader, error) {
	if err := j.checkSeat(seat); err != nil {
		return nil, err
	}
	lease, err := j.lease(layout.LockSeatBytes+uint64(seat), ErrSeatTaken)
	if err != nil {
		return nil, err
	}
	r := &GatedReader{journal: j, cursor: cursor(seat), lease: lease}
	word := layout.ControlGated + uint64(seat/64)*8
	position := load(j.control, r.cursor+layout.CursorPosition)
	if load(j.control, word)>>(seat%64)&1 == 1 && load(j.control, layout.ControlIntent) <= position+j.capacity {
		if position%line != 0 || position < j.First() || position > j.Head()+j.capacity/4 {
			_ = lease.Close()
			return nil, j.refuse(ErrDamaged, "the cursor of seat %d is %d", seat, position)
		}
		r.frames, r.kept = load(j.control, r.cursor+layout.CursorFrames), load(j.control, r.cursor+layout.CursorKept)
	} else {
		for {
			position = j.Head()
			store(j.control, r.cursor+layout.CursorPosition, position)
			store(j.control, r.cursor+layout.CursorFrames, 0)
			store(j.control, r.cursor+layout.CursorKept, 0)
			setBit(j.control, word, seat%64)
			if load(j.control, layout.ControlIntent) <= position+j.capacity {
				break
			}
		}
	}
	r.position, r.passed, r.published = position, position, position
	return r, nil
}

// publishBytes is how far the cursor may lag behind, as a part of the ring.
const publishPart = 64

// Next is the next frame, in place: valid up to the next call. False: there is none now.
func (r *GatedReader) Next(frame *Frame) (bool, error) {
	j := r.journal
	r.passed = r.position
	for {
		position := r.position
		at := position & j.mask / 8
		commit := atomic.LoadUint64(&j.ring[at])
		if commit != position || r.durable {
			if commit != 0 && commit != position {
				return false, j.refuse(ErrDamaged, "the commit word at %d is %d", position, commit)
			}
			if commit == 0 || r.isBehindDisk() {
				r.Publish()
				return false, nil
			}
		}
		source := j.ring[at : at+layout.FramePayload/8]
		// Committed and gated: nobody changes it.
		head := header{source[1], source[2], source[3]}
		length := head.length()
		if length > j.payload {
			return false, j.refuse(ErrDamaged, "the frame at %d claims %d bytes", position, length)
		}
		r.position += frameBytes(length)
		if r.passed-r.published >= j.capacity/publishPart {
			r.Publish()
		}
		if !head.isVoid() && r.topics.has(head.topic()) {
			r.frames++
			head.fill(frame, position)
			frame.Payload = r.payload(position, length)
			return true, nil
		}
		r.passed = r.position
	}
}

func (r *GatedReader) payload(position, length uint64) []byte {
	ring, at := asBytes(r.journal.ring), position&r.journal.mask+layout.FramePayload
	if at+length <= uint64(len(ring)) {
		return ring[at : at+length : at+length]
	}
	r.split = append(append(r.split[:0], ring[at:]...), ring[:at+length-uint64(len(ring))]...)
	return r.split
}

func (r *GatedReader) isBehindDisk() bool {
	if !r.durable {
		return false
	}
	end, any := r.journal.Durable()
	return !any || r.position >= end
}

// Release says that the frame before is finished, and lets the writer have its place.
func (r *GatedReader) Release() {
	r.passed = r.position
	r.Publish()
}

// Publish tells the writer what is finished.
func (r *GatedReader) Publish() {
	if r.published == r.passed {
		return
	}
	r.published = r.passed
	control := r.journal.control
	store(control, r.cursor+layout.CursorFrames, r.frames)
	store(control, r.cursor+layout.CursorPosition, r.passed)
}

// Keep has the writer leave everything from this position on, although it was read; never less than before.
func (r *GatedReader) Keep(position uint64) {
	if position > r.kept {
		r.kept = position
		store(r.journal.control, r.cursor+layout.CursorKept, position)
	}
}

// ReadBatch hands over up to most frames. Fewer when fewer are there, or at an error.
func (r *GatedReader) ReadBatch(most int, each func(*Frame)) (int, error) {
	for count := range most {
		found, err := r.Next(&r.frame)
		if !found || err != nil {
			return count, err
		}
		each(&r.frame)
	}
	return most, nil
}

// PeekTime is the time of the next frame that is wanted, without reading it; false: there is none.
func (r *GatedReader) PeekTime() (uint64, bool, error) {
	for {
		commit := r.journal.commit(r.position)
		if commit != 0 && commit != r.position {
			return 0, false, r.journal.refuse(ErrDamaged, "the commit word at %d is %d", r.position, commit)
		}
		if commit == 0 || r.isBehindDisk() {
			r.Release()
			return 0, false, nil
		}
		head := r.journal.header(r.position)
		if head.length() > r.journal.payload {
			return 0, false, r.journal.refuse(ErrDamaged, "the frame at %d claims %d bytes", r.position, head.length())
		}
		if !head.isVoid() && r.topics.has(head.topic()) {
			return head.time, true, nil
		}
		r.position += frameBytes(head.length())
	}
}

// HasNews is true when there is a frame.
func (r *GatedReader) HasNews() bool {
	return r.journal.commit(r.position) != 0 && !r.isBehindDisk()
}

// SetTopics has it pass over frames of other topics.
func (r *GatedReader) SetTopics(topics Topics) { r.topics = topics }

// SetDurable has it end at what is on disk.
func (r *GatedReader) SetDurable(durable bool) { r.durable = durable }

// Position of the next frame.
func (r *GatedReader) Position() uint64 { return r.position }

// Close leaves the cursor where it is, for a successor.
func (r *GatedReader) Close() error {
	if r.lease == nil {
		return nil
	}
	r.Release()
	lease := r.lease
	r.lease = nil
	return lease.Close()
}

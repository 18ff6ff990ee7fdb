package journal

import (
	"io"
	"sync/atomic"

	"colo/layout"
)

// LooseReader never holds the writer up. Where it is overtaken, it says what it lost.
type LooseReader struct {
	journal  *Journal
	position uint64
	frames   uint64
	lost     uint64
	gaps     uint64
	topics   Topics
	durable  bool
	gap      Gap
	copy     words
	bytes    []byte
	// cursor is where tools see how far it is; 0 without a seat.
	cursor    uint64
	published uint64
	before    [2]uint64
	lease     io.Closer
	// frame of ReadBatch: a variable there would be allocated at each call.
	frame Frame
}

// Loose is a reader without a seat, from a position on that is known to start a frame.
func (j *Journal) Loose(position uint64) (*LooseReader, error) {
	if position%line != 0 || position < j.First() || position > j.Head() {
		return nil, j.refuse(ErrNoSuchPosition, "%d is not one between %d and %d", position, j.First(), j.Head())
	}
	buffer := make(words, j.payload/8+2)
	return &LooseReader{journal: j, position: position, copy: buffer, bytes: asBytes(buffer)}, nil
}

// LooseIn a seat: tools see how far it is.
func (j *Journal) LooseIn(seat uint32, position uint64) (*LooseReader, error) {
	if err := j.checkSeat(seat); err != nil {
		return nil, err
	}
	reader, err := j.Loose(position)
	if err != nil {
		return nil, err
	}
	if reader.lease, err = j.lease(layout.LockSeatBytes+uint64(seat), ErrSeatTaken); err != nil {
		return nil, err
	}
	reader.cursor = cursor(seat)
	reader.before = [2]uint64{load(j.control, reader.cursor+layout.CursorLost), load(j.control, reader.cursor+layout.CursorGaps)}
	setBit(j.control, layout.ControlLoose+uint64(seat/64)*8, seat%64)
	reader.Publish()
	return reader, nil
}

// Next copies the next frame into frame. False: there is none now. The error is a *Gap where frames were lost: read on.
func (r *LooseReader) Next(frame *Frame) (bool, error) {
	j := r.journal
	for {
		position := r.position
		at := position & j.mask / 8
		if atomic.LoadUint64(&j.ring[at]) != position || r.durable {
			if none, err := r.nothing(); none || err != nil {
				return false, err
			}
		}
		source := j.ring[at : at+layout.FramePayload/8]
		head := header{atomic.LoadUint64(&source[1]), atomic.LoadUint64(&source[2]), atomic.LoadUint64(&source[3])}
		length := head.length()
		if length > j.payload {
			if r.isLapped() {
				return false, r.resume()
			}
			return false, j.refuse(ErrDamaged, "the frame at %d claims %d bytes", position, length)
		}
		wanted := !head.isVoid() && r.topics.has(head.topic())
		if wanted {
			loadPayload(r.copy, j.ring, at+layout.FramePayload/8, (length+7)/8)
		}
		// The copy's loads are atomic, so they come before this one.
		if r.isLapped() {
			return false, r.resume()
		}
		r.position += frameBytes(length)
		if wanted {
			r.frames++
			head.fill(frame, position)
			frame.Payload = r.bytes[:length:length]
			return true, nil
		}
	}
}

// loadPayload copies words, one by one: the writer may change them meanwhile.
func loadPayload(to, ring words, at, count uint64) {
	to = to[:count]
	// Mapped twice in a row, a ring has no seam; one that is not begins anew at its end.
	for uint64(len(ring))-at < uint64(len(to)) {
		part := ring[at:]
		loadWords(to[:len(part)], part)
		to, at = to[len(part):], 0
	}
	loadWords(to, ring[at:])
}

func loadWords(to, from words) {
	from = from[:len(to)]
	for len(to) >= 4 && len(from) >= 4 {
		to[0] = atomic.LoadUint64(&from[0])
		to[1] = atomic.LoadUint64(&from[1])
		to[2] = atomic.LoadUint64(&from[2])
		to[3] = atomic.LoadUint64(&from[3])
		to, from = to[4:], from[4:]
	}
	for index := range to {
		to[index] = atomic.LoadUint64(&from[index])
	}
}

// nothing is true when no frame is there; false when there is one after all.
func (r *LooseReader) nothing() (bool, error) {
	if r.durable {
		if end, any := r.journal.Durable(); !any || r.position >= end {
			if r.isLapped() {
				return true, r.resume()
			}
			r.Publish()
			return true, nil
		}
	}
	commit := r.journal.commit(r.position)
	if commit == r.position {
		return false, nil
	}
	if r.isLapped() {
		return true, r.resume()
	}
	if commit != 0 {
		return true, r.journal.refuse(ErrDamaged, "the commit word at %d is %d", r.position, commit)
	}
	r.Publish()
	return true, nil
}

func (r *LooseReader) isLapped() bool {
	return load(r.journal.control, layout.ControlIntent) > r.position+r.journal.capacity
}

func (r *LooseReader) resume() error {
	if err := r.journal.Check(); err != nil {
		return err
	}
	head := r.journal.Head()
	if head <= r.position {
		return r.journal.refuse(ErrDamaged, "its intent is ahead of position %d, and its head %d is not", r.position, head)
	}
	r.gap = Gap{r.position, head}
	r.position, r.lost, r.gaps = head, r.lost+r.gap.Bytes(), r.gaps+1
	r.Publish()
	return &r.gap
}

// ReadBatch hands over up to most frames. Fewer when fewer are there, or at an error.
func (r *LooseReader) ReadBatch(most int, each func(*Frame)) (int, error) {
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
func (r *LooseReader) PeekTime() (uint64, bool, error) {
	for {
		if r.journal.commit(r.position) != r.position || r.durable {
			if none, err := r.nothing(); none || err != nil {
				return 0, false, err
			}
		}
		head := r.journal.header(r.position)
		if r.isLapped() {
			return 0, false, r.resume()
		}
		if head.length() > r.journal.payload {
			return 0, false, r.journal.refuse(ErrDamaged, "the frame at %d claims %d bytes", r.position, head.length())
		}
		if !head.isVoid() && r.topics.has(head.topic()) {
			return head.time, true, nil
		}
		r.position += frameBytes(head.length())
	}
}

func (j *Journal) header(position uint64) header {
	at := position & j.mask
	return header{load(j.ring, at+layout.FrameLength), load(j.ring, at+layout.FrameTime), load(j.ring, at+layout.FrameTopic)}
}

// HasNews is true when there is a frame, or frames were lost.
func (r *LooseReader) HasNews() bool {
	if r.isLapped() {
		return true
	}
	if r.durable {
		if end, any := r.journal.Durable(); !any || r.position >= end {
			return false
		}
	}
	return r.journal.commit(r.position) != 0
}

// SetTopics has it pass over frames of other topics.
func (r *LooseReader) SetTopics(topics Topics) { r.topics = topics }

// SetDurable has it end at what is on disk.
func (r *LooseReader) SetDurable(durable bool) { r.durable = durable }

// Position of the next frame.
func (r *LooseReader) Position() uint64 { return r.position }

// Publish shows tools where it is.
func (r *LooseReader) Publish() {
	if r.cursor == 0 || r.published == r.position {
		return
	}
	r.published = r.position
	control := r.journal.control
	store(control, r.cursor+layout.CursorPosition, r.position)
	store(control, r.cursor+layout.CursorLost, r.before[0]+r.lost)
	store(control, r.cursor+layout.CursorGaps, r.before[1]+r.gaps)
	store(control, r.cursor+layout.CursorFrames, r.frames)
}

// Close gives the seat back.
func (r *LooseReader) Close() error {
	if r.lease == nil {
		return nil
	}
	r.Publish()
	lease := r.lease
	r.lease = nil
	return lease.Close()
}

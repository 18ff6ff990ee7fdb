package journal

import "colo/layout"

// Frame of a journal. Its payload is valid up to the next call of its reader.
type Frame struct {
	Position uint64
	Time     uint64
	Payload  []byte
	Topic    uint32
	Epoch    uint32
	ID       uint16
	Flags    uint16
}

// RecordSize is the size of each record of the payload; 0 if the payload is one message.
func (f *Frame) RecordSize() int { return int(f.Flags & layout.FrameRecord) }

// Records of the payload, each with its position. A frame that is one message is its own record.
func (f *Frame) Records(yield func(position uint64, record []byte) bool) {
	size := f.RecordSize()
	if size == 0 {
		yield(f.Position, f.Payload)
		return
	}
	for at := 0; at+size <= len(f.Payload); at += size {
		if !yield(f.Position+layout.FramePayload+uint64(at), f.Payload[at:at+size]) {
			return
		}
	}
}

// header of a frame, in the words of its first half line.
type header struct {
	shape, time, origin uint64
}

func (h header) length() uint64 { return uint64(uint32(h.shape)) }

func (h header) isVoid() bool { return h.shape>>48&layout.FrameVoid != 0 }

func (h header) topic() uint32 { return uint32(h.origin) }

func (h header) fill(frame *Frame, position uint64) {
	frame.Position, frame.Time = position, h.time
	frame.ID, frame.Flags = uint16(h.shape>>32), uint16(h.shape>>48)
	frame.Topic, frame.Epoch = uint32(h.origin), uint32(h.origin>>32)
}

// Topics that a reader wants; nil: all.
type Topics []uint64

// OnlyTopics wants these.
func OnlyTopics(topics []uint32) Topics {
	set := make(Topics, layout.MaxTopics/64)
	for _, topic := range topics {
		if topic < layout.MaxTopics {
			set[topic/64] |= 1 << (topic % 64)
		}
	}
	return set
}

func (t Topics) has(topic uint32) bool {
	return t == nil || topic < layout.MaxTopics && t[topic/64]>>(topic%64)&1 == 1
}

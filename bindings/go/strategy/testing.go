package strategy

import (
	"colo/journal"
	"colo/node"
	"colo/wire"
)

// Harness runs a strategy without a platform: it is fed by hand, and its requests are caught.
type Harness struct {
	Context *Context
	// Requests that it sent, oldest first: NewOrder, CancelOrder, ReplaceOrder, CancelAll.
	Requests []wire.Message
	// Logged lines.
	Logged []string
	// Time of the clock.
	Time wire.Nanos
	// IsFull has td be behind.
	IsFull   bool
	Counters [64]uint64
	session  *session
	position uint64
	keep     bool
}

// NewHarness with a strategy that has seat 1 and reads all instruments that are listed before its start.
func NewHarness(strategy Strategy, data string, instruments ...wire.Instrument) *Harness {
	h := &Harness{Time: 1_000_000_000, position: 64, keep: true}
	h.session = newSession(strategy, setup{name: "test", seat: 1, generation: 1, epoch: 1, data: data, robin: -1}, h)
	h.Context = &h.session.context
	for index := range instruments {
		h.session.onListing(&instruments[index])
	}
	h.session.completeList()
	h.session.turn()
	return h
}

// Feed a message of the market, or a report.
func (h *Harness) Feed(message wire.Message, topic uint32) {
	role := h.session.hears
	switch message.(type) {
	case *wire.Fill, *wire.OrderUpdate:
		role = reportsRole
	case *wire.Instrument:
		role = instrumentsRole
	}
	h.position += 64
	frame := journal.Frame{Position: h.position, Time: uint64(h.Time), ID: message.MessageID(), Topic: topic, Payload: message.AsBytes()}
	h.session.frame(role, 1, &frame, h.Time)
}

// Advance the clock, and fire what is due.
func (h *Harness) Advance(by wire.Nanos) {
	h.Time += by
	h.session.turn()
}

// Stop the strategy.
func (h *Harness) Stop() { h.session.stop() }

func (h *Harness) now() wire.Nanos { return h.Time }

func (h *Harness) send(id uint16, bytes []byte, _ int) error {
	if h.IsFull {
		return Full
	}
	if h.keep {
		message := wire.New(id)
		if err := message.Decode(bytes); err != nil {
			return err
		}
		h.Requests = append(h.Requests, message)
	}
	return nil
}

func (h *Harness) depth(wire.InstrumentID, *wire.Quote) error { return ErrNotKept }

func (h *Harness) account(uint64, *wire.AccountState) (bool, error) { return false, ErrNotKept }

func (h *Harness) askState() {}

func (h *Harness) settleState() {}

func (h *Harness) count(counter node.Counter, amount uint64) { h.Counters[counter] += amount }

func (h *Harness) log(_ node.Level, text string) { h.Logged = append(h.Logged, text) }

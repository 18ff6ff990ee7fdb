package strategy

import (
	"fmt"

	"colo/journal"
	"colo/node"
	"colo/wire"
)

// role of a journal for a strategy.
type role int

const (
	noRole role = iota
	instrumentsRole
	quotesRole
	bestRole
	flowRole
	reportsRole
	stateRole
)

var roles = map[string]role{"instruments": instrumentsRole, "quotes": quotesRole, "best": bestRole, "flow": flowRole,
	"market": flowRole, "reports": reportsRole, "state": stateRole}

func (r role) isMarket() bool { return r >= quotesRole && r <= flowRole }

// snapshotTimeout is the longest wait for the ledger's snapshot.
const snapshotTimeout wire.Nanos = 2_000_000_000

// session: frames in, calls of the strategy, orders out. It knows no process and no journal.
type session struct {
	strategy   Strategy
	context    Context
	generation uint64
	hears      role
	// snapshot that is being read; waits is false once it is there or given up.
	snapshot  snapshot
	waits     bool
	asked     bool
	deadline  wire.Nanos
	contained uint64
	isWhole   bool
	topics    bool
	held      held
	quote     wire.Quote
	best      wire.Best
	trade     wire.TradePrint
	event     wire.BookEvent
	phase     wire.MarketPhase
	indicated wire.Indicative
	fill      wire.Fill
	update    wire.OrderUpdate
}

// held is market data of an instrument that is not listed yet.
type held struct {
	is         bool
	inVain     bool
	instrument wire.InstrumentID
	id         uint16
	cause      wire.Cause
}

type snapshot struct {
	begun     bool
	begin     wire.SnapshotBegin
	frames    uint64
	positions []wire.PositionState
	orders    []wire.OrderUpdate
	quotes    []wire.Quote
}

type setup struct {
	name          string
	seat          wire.StrategyID
	generation    uint64
	epoch         uint64
	data          string
	deterministic bool
	ledger        bool
	accounts      []wire.AccountID
	symbols       []string
	robin         int
}

func newSession(strategy Strategy, s setup, p port) *session {
	if len(s.accounts) == 0 {
		s.accounts = []wire.AccountID{0}
	}
	if s.data == "" {
		s.data = "depth"
	}
	hears := map[string]role{"depth": quotesRole, "best": bestRole, "flow": flowRole}[s.data]
	return &session{strategy: strategy, generation: s.generation, hears: hears, waits: s.ledger, topics: true,
		context: Context{name: s.name, strategy: s.seat, epoch: uint16(s.epoch), accounts: s.accounts,
			slots: make(map[wire.AccountID]uint64), byEvents: s.deterministic, port: p, data: s.data,
			orders: newOrders(), timers: newTimers(), Instruments: newInstruments(s.symbols, s.robin)}}
}

func (s *session) accepts(role role) bool {
	switch {
	case role.isMarket():
		// Frames from before the start are handed over after it, in order.
		return s.isWhole && !s.held.is && s.context.stage != joining
	case role == reportsRole:
		return s.context.stage != joining
	}
	return true
}

// due is when turn has something to do even without a frame.
func (s *session) due() (wire.Nanos, bool) {
	switch {
	case s.held.is || !s.isWhole:
		return 0, true
	case s.context.stage == joining:
		return s.deadline, s.asked
	case s.context.stage == open && !s.context.byEvents:
		return s.context.timers.nextDue()
	}
	return 0, false
}

// marketDue is when the next timer is due by the market's time, where that is the clock; 0: never.
func (s *session) marketDue() wire.Nanos {
	if due, is := s.context.timers.nextDue(); is && s.context.byEvents && s.context.begun && s.context.stage == open {
		return max(due, 1)
	}
	return 0
}

// completeList: all instruments that were listed when the strategy joined are taken.
func (s *session) completeList() {
	if s.isWhole {
		return
	}
	s.isWhole = true
	s.context.Instruments.assign()
	for _, symbol := range s.context.Instruments.symbols {
		if s.context.Instruments.BySymbol(symbol) == nil {
			s.context.warn("instrument `%s` is not listed; it is read once it is", symbol)
		}
	}
}

// turn starts the strategy when its state is complete, and fires the timers that are due.
func (s *session) turn() {
	if s.held.is {
		if s.held.inVain {
			s.context.warn("market data of instrument %d, which is not listed; passed over", s.held.instrument)
			s.context.port.count(node.Anomalies, 1)
			s.held.is = false
		}
		s.held.inVain = true
	}
	switch {
	case s.context.stage == joining:
		if s.isReady() {
			s.start()
		}
	case s.context.stage == open && !s.context.byEvents:
		if _, any := s.context.timers.nextDue(); any {
			// Only timers that were set before this turn: one that is set again at once must not delay frames.
			s.fire(s.context.port.now(), s.context.timers.next)
		}
	}
}

func (s *session) fire(now wire.Nanos, limit TimerID) {
	for s.context.stage == open {
		timer, is := s.context.timers.pop(now, limit)
		if !is {
			return
		}
		s.strategy.Timer(&s.context, timer)
	}
}

func (s *session) isReady() bool {
	if !s.isWhole || !s.waits {
		return s.isWhole
	}
	now := s.context.port.now()
	if !s.asked {
		s.asked, s.deadline = true, now+snapshotTimeout
		s.context.port.askState()
		return false
	}
	if now < s.deadline {
		return false
	}
	s.context.warn("no state from the ledger within 2 s; starts without positions and working orders")
	s.waits = false
	s.context.port.settleState()
	return true
}

func (s *session) start() {
	s.context.stage = open
	if s.context.data == "best" {
		for instrument := range s.context.Instruments.Selected {
			if s.context.Depth(instrument.ID, &s.quote) == nil {
				best := s.quote.Best()
				s.context.setBest(instrument.ID, &best)
			}
		}
	}
	s.strategy.Start(&s.context)
	for instrument := range s.context.Instruments.Selected {
		s.strategy.Instrument(&s.context, instrument)
	}
}

// frame of the journal with this number, which the strategy received at this time.
func (s *session) frame(role role, number uint32, frame *journal.Frame, received wire.Nanos) {
	var err error
	cause := wire.Cause{Position: frame.Position, Published: wire.Nanos(frame.Time), Received: received, Journal: number}
	switch {
	case role.isMarket():
		if role == s.hears {
			err = s.onMarket(frame, cause)
		}
	case role == reportsRole:
		err = s.onReport(frame, cause)
	case role == instrumentsRole:
		err = s.onInstruments(frame)
	case role == stateRole:
		err = s.onState(frame)
	}
	if err != nil {
		s.context.port.count(node.Malformed, 1)
		s.context.warn("journal %d at position %d: %v; passed over", number, frame.Position, err)
	}
}

func unknown(id uint16) error { return fmt.Errorf("message %d is not known here", id) }

func (s *session) onMarket(frame *journal.Frame, cause wire.Cause) error {
	var err error
	var instrument wire.InstrumentID
	switch frame.ID {
	case wire.QuoteMessageID:
		err = s.quote.Decode(frame.Payload)
		instrument, cause.Due = s.quote.Instrument, s.quote.Due
	case wire.BestMessageID:
		err = s.best.Decode(frame.Payload)
		instrument, cause.Due = wire.InstrumentID(frame.Topic), s.best.Due
	case wire.BookEventMessageID:
		err = s.event.Decode(frame.Payload)
		instrument = s.event.Instrument
	case wire.MarketPhaseMessageID:
		err = s.phase.Decode(frame.Payload)
		instrument = s.phase.Instrument
	case wire.IndicativeMessageID:
		err = s.indicated.Decode(frame.Payload)
		instrument = s.indicated.Instrument
	case wire.TradePrintMessageID:
		err = s.trade.Decode(frame.Payload)
		instrument, cause.Due = s.trade.Instrument, s.trade.Due
	case wire.MarketTimeMessageID:
		// Of no instrument: timers that are due before the next event fire now.
		var time wire.MarketTime
		if err = time.Decode(frame.Payload); err == nil && s.context.byEvents {
			s.advanceToTime(time.EventTime)
		}
		return err
	case wire.EndOfStreamMessageID, wire.StatisticsMessageID:
		return nil
	default:
		return unknown(frame.ID)
	}
	if err != nil {
		return err
	}
	if s.context.Instruments.Get(instrument) == nil {
		// The message stays where it is until the list has come.
		s.held = held{true, false, instrument, frame.ID, cause}
		return nil
	}
	s.onListed(frame.ID, instrument, cause)
	return nil
}

func (s *session) onListed(id uint16, instrument wire.InstrumentID, cause wire.Cause) {
	c := &s.context
	if !c.Instruments.IsSelected(instrument) {
		return
	}
	if c.byEvents {
		s.advanceTo(id, instrument)
	}
	switch id {
	case wire.QuoteMessageID:
		c.setQuote(&s.quote)
	case wire.BestMessageID:
		c.setBest(instrument, &s.best)
	}
	if c.stage != open {
		return
	}
	c.cause = cause
	switch id {
	case wire.QuoteMessageID:
		c.port.count(node.Quotes, 1)
		s.strategy.Quote(c, &s.quote)
	case wire.BestMessageID:
		c.port.count(node.Quotes, 1)
		s.strategy.Best(c, instrument, &s.best)
	case wire.TradePrintMessageID:
		c.port.count(node.Trades, 1)
		s.strategy.Trade(c, &s.trade)
	case wire.BookEventMessageID:
		c.port.count(node.BookEvents, 1)
		s.strategy.BookEvent(c, &s.event)
	case wire.MarketPhaseMessageID:
		s.strategy.Phase(c, &s.phase)
	case wire.IndicativeMessageID:
		s.strategy.Indicative(c, &s.indicated)
	}
	c.cause = wire.Cause{}
}

// advanceTo the market's time of a message, with a clock that goes by events.
func (s *session) advanceTo(id uint16, instrument wire.InstrumentID) {
	var time wire.Nanos
	switch id {
	case wire.QuoteMessageID:
		time = s.quote.EventTime
	case wire.TradePrintMessageID:
		time = s.trade.EventTime
	case wire.BookEventMessageID:
		time = s.event.EventTime
	case wire.MarketPhaseMessageID:
		time = s.phase.EventTime
	case wire.IndicativeMessageID:
		time = s.indicated.EventTime
	case wire.BestMessageID:
		// In lock-step the depth behind a best is exactly its quote.
		if s.context.Depth(instrument, &s.quote) != nil {
			return
		}
		time = s.quote.EventTime
	}
	s.advanceToTime(time)
}

func (s *session) advanceToTime(time wire.Nanos) {
	c := &s.context
	if !c.begun {
		c.eventTime, c.begun = time, true
		c.timers.begin(time)
	}
	for c.stage == open {
		timer, is := c.timers.pop(time, c.timers.next)
		if !is {
			break
		}
		c.eventTime = max(c.eventTime, timer.Due)
		s.strategy.Timer(c, timer)
	}
	c.eventTime = max(c.eventTime, time)
}

func (s *session) onInstruments(frame *journal.Frame) error {
	switch frame.ID {
	case wire.InstrumentMessageID:
		var instrument wire.Instrument
		if err := instrument.Decode(frame.Payload); err != nil {
			return err
		}
		s.onListing(&instrument)
	case wire.EndOfStreamMessageID:
		s.completeList()
	default:
		return unknown(frame.ID)
	}
	return nil
}

func (s *session) onListing(instrument *wire.Instrument) {
	possible, selected := s.context.Instruments.list(instrument)
	if !possible {
		s.context.port.count(node.Anomalies, 1)
		return
	}
	s.context.reach(instrument.ID)
	if selected {
		s.topics = true
		if s.context.stage == open {
			s.strategy.Instrument(&s.context, instrument)
		}
	}
	if s.held.is && s.held.instrument == instrument.ID {
		s.held.is = false
		s.onListed(s.held.id, s.held.instrument, s.held.cause)
	}
	s.held.inVain = false
}

func (s *session) onState(frame *journal.Frame) error {
	if !s.waits || frame.Topic != uint32(s.context.strategy)+1 {
		return nil
	}
	shot := &s.snapshot
	if frame.ID == wire.SnapshotBeginMessageID {
		*shot = snapshot{}
		err := shot.begin.Decode(frame.Payload)
		shot.begun = err == nil && shot.begin.Strategy == s.context.strategy && shot.begin.Generation == s.generation
		return err
	}
	if !shot.begun {
		return nil
	}
	var err error
	switch frame.ID {
	case wire.PositionStateMessageID:
		var state wire.PositionState
		err = state.Decode(frame.Payload)
		shot.positions = append(shot.positions, state)
	case wire.OrderUpdateMessageID:
		var update wire.OrderUpdate
		err = update.Decode(frame.Payload)
		shot.orders = append(shot.orders, update)
	case wire.QuoteMessageID:
		var quote wire.Quote
		err = quote.Decode(frame.Payload)
		shot.quotes = append(shot.quotes, quote)
	case wire.SnapshotEndMessageID:
		var end wire.SnapshotEnd
		if err = end.Decode(frame.Payload); err == nil && (end.Snapshot != shot.begin.Snapshot || end.Frames != shot.frames) {
			err = fmt.Errorf("snapshot %d is not whole", shot.begin.Snapshot)
		}
		if err == nil {
			s.restore()
			return nil
		}
	default:
		err = unknown(frame.ID)
	}
	shot.frames++
	shot.begun = err == nil
	return err
}

func (s *session) restore() {
	shot := s.snapshot
	s.snapshot, s.waits = snapshot{}, false
	s.context.port.settleState()
	s.contained = shot.begin.Execution
	for index := range shot.positions {
		s.context.positions.restore(&shot.positions[index])
	}
	now := s.context.Now()
	for index := range shot.orders {
		s.context.orders.onUpdate(&shot.orders[index], now)
	}
	for index := range shot.quotes {
		quote := &shot.quotes[index]
		if known := s.context.LastQuote(quote.Instrument); known == nil || known.Sequence < quote.Sequence {
			s.context.reach(quote.Instrument)
			if s.context.data == "depth" {
				s.context.setQuote(quote)
			}
		}
	}
}

func (s *session) onReport(frame *journal.Frame, cause wire.Cause) error {
	switch frame.ID {
	case wire.FillMessageID:
		if err := s.fill.Decode(frame.Payload); err != nil {
			return err
		}
		s.onFill(cause)
	case wire.OrderUpdateMessageID:
		if err := s.update.Decode(frame.Payload); err != nil {
			return err
		}
		s.onUpdate(cause)
	default:
		return unknown(frame.ID)
	}
	return nil
}

// isContained in the snapshot that the strategy started with. 0 is a refusal by td, which no snapshot contains.
func (s *session) isContained(execution uint64) bool {
	return execution != 0 && execution < s.contained
}

// reach the time of a report: where the market's time is the clock, it has come so far, also when nothing else said so that the strategy reads.
// A refusal by td has no time of the market.
func (s *session) reach(time wire.Nanos) {
	if s.context.byEvents && time > s.context.eventTime {
		s.advanceToTime(time)
	}
}

func (s *session) onFill(cause wire.Cause) {
	c := &s.context
	if s.isContained(s.fill.Execution) {
		return
	}
	s.reach(s.fill.EventTime)
	if !c.positions.onFill(&s.fill) {
		c.port.count(node.Anomalies, 1)
		return
	}
	c.orders.onFill(&s.fill)
	c.port.count(node.Fills, 1)
	if c.stage == open {
		c.cause = cause
		s.strategy.Fill(c, &s.fill)
		c.cause = wire.Cause{}
	}
}

func (s *session) onUpdate(cause wire.Cause) {
	c := &s.context
	toPredecessor := s.update.Execution == 0 && s.update.OrderID.Epoch() != c.epoch && c.orders.get(s.update.OrderID) == nil
	if s.isContained(s.update.Execution) || toPredecessor {
		return
	}
	s.reach(s.update.EventTime)
	c.orders.onUpdate(&s.update, c.Now())
	switch s.update.Status {
	case wire.OrderStatusRejected:
		c.port.count(node.Rejects, 1)
	case wire.OrderStatusCancelRejected:
		c.port.count(node.CancelRejects, 1)
	case wire.OrderStatusReplaceRejected:
		c.port.count(node.ReplaceRejects, 1)
	}
	if c.stage == open {
		c.cause = cause
		s.strategy.Order(c, &s.update)
		c.cause = wire.Cause{}
	}
}

// gap of a loose input.
func (s *session) gap(role role, gap *journal.Gap) {
	switch {
	case role.isMarket():
		if s.context.stage == open && role == s.hears {
			s.strategy.Gap(&s.context, gap)
		}
	case role == stateRole:
		s.snapshot.begun = false
		// What is lost may contain the answer.
		if s.waits && s.asked {
			s.context.port.askState()
		}
	default:
		s.context.warn("%d bytes of instruments or reports are lost: make that journal larger", gap.Bytes())
		s.context.port.count(node.Anomalies, 1)
	}
}

// stop the strategy, then cancel its working orders.
func (s *session) stop() {
	c := &s.context
	if c.stage == open {
		s.strategy.Stop(c)
		for index := range c.orders.orders {
			// td cancels what is left here, once the strategy has left.
			_ = c.Cancel(c.orders.orders[index].ID)
		}
	}
	c.stage = left
}

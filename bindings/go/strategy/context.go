package strategy

import (
	"errors"
	"fmt"
	"time"

	"colo/node"
	"colo/wire"
)

// port is what a session uses of its surroundings.
type port interface {
	now() wire.Nanos
	// send commits one request; Full if td is behind.
	send(id uint16, message []byte, class int) error
	depth(instrument wire.InstrumentID, to *wire.Quote) error
	account(slot uint64, to *wire.AccountState) (bool, error)
	askState()
	settleState()
	count(counter node.Counter, amount uint64)
	log(level node.Level, text string)
}

type stage int

const (
	joining stage = iota
	open
	left
)

// Context is the strategy's access to the platform. No method blocks, and in steady state none allocates.
type Context struct {
	name       string
	strategy   wire.StrategyID
	epoch      uint16
	accounts   []wire.AccountID
	slots      map[wire.AccountID]uint64
	sent       uint32
	stage      stage
	cause      wire.Cause
	byEvents   bool
	begun      bool
	eventTime  wire.Nanos
	port       port
	data       string
	stops      bool
	quotes     []wire.Quote
	bests      []wire.Best
	heard      []bool
	positions  positions
	orders     workingOrders
	timers     timers
	order      wire.NewOrder
	cancelling wire.CancelOrder
	replacing  wire.ReplaceOrder
	clearing   wire.CancelAll
	// Instruments that are listed.
	Instruments Instruments
}

// Errors of Depth and Account.
var (
	ErrNothing  = errors.New("nothing was published of it yet")
	ErrNotKept  = errors.New("the platform does not keep it: see `data` and [[accounts]] in its file")
	ErrNotKnown = errors.New("the account is not open, or not known to the ledger yet")
)

// Name of the node.
func (c *Context) Name() string { return c.name }

// Strategy is its seat.
func (c *Context) Strategy() wire.StrategyID { return c.strategy }

// Now is the time: on a deterministic platform the market's, else the platform's clock.
func (c *Context) Now() wire.Nanos {
	if c.byEvents {
		return c.eventTime
	}
	return c.port.now()
}

// Log one line.
func (c *Context) Log(format string, args ...any) {
	c.port.log(node.LevelInfo, fmt.Sprintf(format, args...))
}

// warn of what is wrong with the platform, or what the strategy missed.
func (c *Context) warn(format string, args ...any) {
	c.port.log(node.LevelWarn, fmt.Sprintf(format, args...))
}

// RequestStop ends the strategy in good order.
func (c *Context) RequestStop() { c.stops = true }

// Data is what it hears of the market: "depth", "best" or "flow".
func (c *Context) Data() string { return c.data }

// Instrument that is listed; nil if it is not.
func (c *Context) Instrument(id wire.InstrumentID) *wire.Instrument { return c.Instruments.Get(id) }

// LastQuote of an instrument that it reads; nil before the first. Only with data = "depth".
func (c *Context) LastQuote(id wire.InstrumentID) *wire.Quote {
	if c.data != "depth" || int(id) >= len(c.heard) || !c.heard[id] {
		return nil
	}
	return &c.quotes[id]
}

// LastBest bid and ask; false before the first, and with data = "flow".
func (c *Context) LastBest(id wire.InstrumentID) (wire.Best, bool) {
	if quote := c.LastQuote(id); quote != nil {
		return quote.Best(), true
	}
	if c.data != "best" || int(id) >= len(c.heard) || !c.heard[id] {
		return wire.Best{}, false
	}
	return c.bests[id], true
}

// Depth copies the ten best levels: with data = "best" those behind the best that was heard last, or later ones.
func (c *Context) Depth(id wire.InstrumentID, to *wire.Quote) error {
	switch c.data {
	case "depth":
		quote := c.LastQuote(id)
		if quote == nil {
			return ErrNothing
		}
		*to = *quote
		return nil
	case "best":
		return c.port.depth(id, to)
	}
	return ErrNotKept
}

// Accounts that the platform file lists, the default first.
func (c *Context) Accounts() []wire.AccountID { return c.accounts }

// DefaultAccount of its orders.
func (c *Context) DefaultAccount() wire.AccountID { return c.accounts[0] }

// Account says how its default account stands: read from shared memory. td decides by what the account has then.
func (c *Context) Account(to *wire.AccountState) error { return c.AccountOf(c.accounts[0], to) }

// AccountOf says how an account stands.
func (c *Context) AccountOf(account wire.AccountID, to *wire.AccountState) error {
	owner := wire.Everybody
	if account == 0 {
		owner = c.strategy
	}
	slot := c.slots[account]
	for range 2 {
		for ; ; slot++ {
			found, err := c.port.account(slot, to)
			if err != nil {
				return err
			}
			if !found {
				break
			}
			if to.Account == account && to.Owner == owner {
				c.slots[account] = slot
				return nil
			}
		}
		slot = 0
	}
	return ErrNotKnown
}

// Position in an instrument.
func (c *Context) Position(id wire.InstrumentID) Position { return c.positions.get(id) }

// WorkingOrders by ascending id; the slice is valid until the next request or report.
func (c *Context) WorkingOrders() []WorkingOrder { return c.orders.orders }

// WorkingOrder that has not ended; nil if it has.
func (c *Context) WorkingOrder(id wire.OrderID) *WorkingOrder { return c.orders.get(id) }

// WorkingQuantity of the orders on this side that may still trade; 0 for what is no side.
func (c *Context) WorkingQuantity(id wire.InstrumentID, side wire.Side) wire.Quantity {
	return c.orders.quantity(id, side)
}

// Buy by a limit order, which rests if need be.
func (c *Context) Buy(id wire.InstrumentID, price wire.Price, quantity wire.Quantity) (wire.OrderID, error) {
	return c.Order(Limit(wire.SideBuy, id, price, quantity))
}

// Sell by a limit order, which rests if need be.
func (c *Context) Sell(id wire.InstrumentID, price wire.Price, quantity wire.Quantity) (wire.OrderID, error) {
	return c.Order(Limit(wire.SideSell, id, price, quantity))
}

// Order sends one, and returns its id at once: it is on its way to td. The error is a Refusal: nothing was sent.
func (c *Context) Order(request OrderRequest) (wire.OrderID, error) {
	if c.stage != open {
		return 0, NotReady
	}
	instrument := c.Instruments.Get(request.Instrument)
	if instrument == nil {
		return 0, UnknownInstrument
	}
	if c.sent == 1<<32-1 {
		return 0, Exhausted
	}
	account := c.accounts[0]
	if request.HasAccount {
		account = request.Account
	}
	c.order = wire.NewOrder{OrderID: wire.NewOrderID(c.strategy, c.epoch, c.sent+1), Instrument: request.Instrument,
		Side: request.Side, OrderType: request.OrderType, TimeInForce: request.TimeInForce, Flags: request.Flags,
		Price: request.Price, Quantity: request.Quantity, Cause: c.cause, Account: account}
	if err := request.complete(&c.order, instrument.Lot); err != nil {
		return 0, err
	}
	if err := c.send(wire.NewOrderMessageID, c.order.AsBytes(), 0); err != nil {
		return 0, err
	}
	c.sent++
	c.port.count(node.Orders, 1)
	c.orders.insert(WorkingOrder{ID: c.order.OrderID, Instrument: request.Instrument, Side: request.Side,
		Price: request.Price, Quantity: request.Quantity, Sent: c.Now()})
	return c.order.OrderID, nil
}

// Cancel the rest of an order. While one cancel of it is on its way, another sends nothing and is fine.
func (c *Context) Cancel(id wire.OrderID) error {
	order, err := c.changeable(id)
	if err != nil || order.Cancelling {
		return err
	}
	c.cancelling = wire.CancelOrder{OrderID: id, Instrument: order.Instrument}
	if err := c.send(wire.CancelOrderMessageID, c.cancelling.AsBytes(), 1); err != nil {
		return err
	}
	c.port.count(node.Cancels, 1)
	order.Cancelling = true
	return nil
}

// CancelAll orders that match, with one message. It is answered under the id that is returned.
func (c *Context) CancelAll(request CancelRequest) (wire.OrderID, error) {
	switch {
	case c.stage != open:
		return 0, NotReady
	case request.Instrument != 0 && c.Instruments.Get(request.Instrument) == nil:
		return 0, UnknownInstrument
	case request.Side != 0 && !request.Side.IsListed():
		return 0, BadSide
	case c.sent == 1<<32-1:
		return 0, Exhausted
	}
	c.clearing = wire.CancelAll{OrderID: wire.NewOrderID(c.strategy, c.epoch, c.sent+1), Instrument: request.Instrument,
		Account: request.Account, Side: wire.SideBuy}
	if request.HasAccount {
		c.clearing.Flags |= wire.CancelAllOfAccount
	}
	if request.Side != 0 {
		c.clearing.Flags |= wire.CancelAllOfSide
		c.clearing.Side = request.Side
	}
	if err := c.send(wire.CancelAllMessageID, c.clearing.AsBytes(), 1); err != nil {
		return 0, err
	}
	c.sent++
	c.port.count(node.Cancels, 1)
	return c.clearing.OrderID, nil
}

// Replace price and total quantity, what has traded included.
func (c *Context) Replace(id wire.OrderID, price wire.Price, quantity wire.Quantity) error {
	order, err := c.changeable(id)
	switch {
	case err != nil:
		return err
	case quantity <= 0:
		return BadQuantity
	case !price.IsSome():
		return NoLimitPrice
	}
	c.replacing = wire.ReplaceOrder{OrderID: id, Instrument: order.Instrument, Price: price, Quantity: quantity}
	if err := c.send(wire.ReplaceOrderMessageID, c.replacing.AsBytes(), 2); err != nil {
		return err
	}
	c.port.count(node.Replaces, 1)
	order.Replacing++
	return nil
}

func (c *Context) changeable(id wire.OrderID) (*WorkingOrder, error) {
	if c.stage != open {
		return nil, NotReady
	}
	if order := c.orders.get(id); order != nil {
		return order, nil
	}
	return nil, UnknownOrder
}

func (c *Context) send(id uint16, message []byte, class int) error {
	err := c.port.send(id, message, class)
	if err == Full {
		c.port.count(node.Full, 1)
	}
	return err
}

// SetTimer calls Timer with key after a while. Once: one that should come again is set again.
func (c *Context) SetTimer(after time.Duration, key uint64) TimerID {
	due := c.Now() + wire.Nanos(max(0, after))
	if c.byEvents && c.begun {
		// Time must pass from one timer to the next, or the event behind them is never reached.
		due = max(due, c.eventTime+1)
	}
	return c.timers.set(due, key, c.byEvents && !c.begun)
}

// SetTimerAt calls Timer with key at a time.
func (c *Context) SetTimerAt(at wire.Nanos, key uint64) TimerID {
	if c.byEvents && c.begun {
		at = max(at, c.eventTime+1)
	}
	return c.timers.set(at, key, false)
}

// CancelTimer is true when it was still set.
func (c *Context) CancelTimer(id TimerID) bool { return c.timers.cancel(id) }

// reach makes room for an instrument, so that its first quote and fill find it.
func (c *Context) reach(id wire.InstrumentID) {
	for id < wire.MaxInstruments && len(c.heard) <= int(id) {
		c.heard = append(c.heard, false)
		c.quotes = append(c.quotes, wire.Quote{})
		c.bests = append(c.bests, wire.Best{})
	}
	c.positions.reach(id)
	c.orders.reach(id)
}

func (c *Context) setQuote(quote *wire.Quote) {
	if int(quote.Instrument) < len(c.heard) {
		c.quotes[quote.Instrument], c.heard[quote.Instrument] = *quote, true
	}
}

func (c *Context) setBest(id wire.InstrumentID, best *wire.Best) {
	if int(id) < len(c.heard) {
		c.bests[id], c.heard[id] = *best, true
	}
}

package strategy

import "colo/wire"

// Refusal says why a request was not sent. Refusals by td or the market come later, through Order.
type Refusal uint8

// Why nothing was sent.
const (
	NotReady Refusal = iota + 1
	UnknownInstrument
	UnknownOrder
	BadSide
	BadType
	BadTime
	BadQuantity
	NoLimitPrice
	BadPart
	NoTrigger
	BadDate
	MarketCannotRest
	Full
	Exhausted
	Unwritable
)

var refusals = [...]string{
	NotReady:          "the strategy has not started, or has stopped",
	UnknownInstrument: "the instrument is not listed; Context.Instruments has those that are",
	UnknownOrder:      "no such order works",
	BadSide:           "the side is neither wire.SideBuy nor wire.SideSell",
	BadType:           "the order type is none of wire.OrderType",
	BadTime:           "the time in force is none of wire.TimeInForce",
	BadQuantity:       "the quantity must be positive",
	NoLimitPrice:      "a limit order needs a price",
	BadPart:           "displayed and minimum quantity are whole lots, not more than the order",
	NoTrigger:         "a stop order needs a trigger",
	BadDate:           "an order good till a date ends at a whole second from 1970 to 2106",
	MarketCannotRest:  "a market order cannot be post-only",
	Full:              "the order journal is full, td is behind: try again at a later event",
	Exhausted:         "all order numbers of this start are used up: restart the strategy",
	Unwritable:        "the order journal does not take it; the log says why",
}

func (r Refusal) Error() string { return refusals[r] }

// OrderRequest is a new order, before it is sent with Context.Order.
type OrderRequest struct {
	Instrument  wire.InstrumentID
	Side        wire.Side
	OrderType   wire.OrderType
	TimeInForce wire.TimeInForce
	Price       wire.Price
	Quantity    wire.Quantity
	// Account that it is for, if HasAccount; else the strategy's default.
	Account    wire.AccountID
	HasAccount bool
	// Display is how much an iceberg shows at a time, Minimum how much must trade at once; 0: all, any.
	Display wire.Quantity
	Minimum wire.Quantity
	Trigger wire.Price
	Ends    wire.Nanos
	Flags   uint8
}

// Limit order, which rests if need be.
func Limit(side wire.Side, instrument wire.InstrumentID, price wire.Price, quantity wire.Quantity) OrderRequest {
	return OrderRequest{Instrument: instrument, Side: side, OrderType: wire.OrderTypeLimit,
		TimeInForce: wire.TimeInForceDay, Price: price, Quantity: quantity, Trigger: wire.NoPrice}
}

// Market order trades at whatever rests; what finds nothing is cancelled.
func Market(side wire.Side, instrument wire.InstrumentID, quantity wire.Quantity) OrderRequest {
	return OrderRequest{Instrument: instrument, Side: side, OrderType: wire.OrderTypeMarket,
		TimeInForce: wire.TimeInForceIoc, Price: wire.NoPrice, Quantity: quantity, Trigger: wire.NoPrice}
}

func (r OrderRequest) in(time wire.TimeInForce) OrderRequest {
	r.TimeInForce = time
	return r
}

// ImmediateOrCancel trades what it can at once; the rest is cancelled.
func (r OrderRequest) ImmediateOrCancel() OrderRequest { return r.in(wire.TimeInForceIoc) }

// FillOrKill trades in full at once, or not at all.
func (r OrderRequest) FillOrKill() OrderRequest { return r.in(wire.TimeInForceFok) }

// PostOnly rests, and is rejected if any of it would trade at once.
func (r OrderRequest) PostOnly() OrderRequest { return r.in(wire.TimeInForcePostOnly) }

// GoodTillCancel rests also over the end of a day. This and what follows is for fill = "exchange".
func (r OrderRequest) GoodTillCancel() OrderRequest { return r.in(wire.TimeInForceGtc) }

// GoodTill a time of the market, in whole seconds.
func (r OrderRequest) GoodTill(ends wire.Nanos) OrderRequest {
	r.Ends = ends
	return r.in(wire.TimeInForceGtd)
}

// AtTheOpen takes part in the opening auction only.
func (r OrderRequest) AtTheOpen() OrderRequest { return r.in(wire.TimeInForceAtTheOpen) }

// AtTheClose takes part in the closing auction only.
func (r OrderRequest) AtTheClose() OrderRequest { return r.in(wire.TimeInForceAtTheClose) }

// ForAccount instead of the strategy's default.
func (r OrderRequest) ForAccount(account wire.AccountID) OrderRequest {
	r.Account, r.HasAccount = account, true
	return r
}

// Iceberg shows only this much at a time, in whole lots.
func (r OrderRequest) Iceberg(display wire.Quantity) OrderRequest {
	r.Display = display
	return r
}

// AtLeast trades this much at once, or nothing; in whole lots.
func (r OrderRequest) AtLeast(minimum wire.Quantity) OrderRequest {
	r.Minimum = minimum
	return r
}

// Stop waits until a trade reaches the trigger.
func (r OrderRequest) Stop(trigger wire.Price) OrderRequest {
	r.Trigger = trigger
	switch r.OrderType {
	case wire.OrderTypeMarket, wire.OrderTypeStop:
		r.OrderType, r.TimeInForce = wire.OrderTypeStop, wire.TimeInForceDay
	default:
		r.OrderType = wire.OrderTypeStopLimit
	}
	return r
}

// With flags of a NewOrder.
func (r OrderRequest) With(flags uint8) OrderRequest {
	r.Flags |= flags
	return r
}

// CancelRequest says which orders Context.CancelAll cancels: those that match all that is given.
type CancelRequest struct {
	Instrument wire.InstrumentID
	Side       wire.Side
	Account    wire.AccountID
	HasAccount bool
}

func (r OrderRequest) hasPrice() bool {
	return r.OrderType == wire.OrderTypeLimit || r.OrderType == wire.OrderTypeStopLimit
}

// parts of the request that are counted in lots, and those that only some orders have.
func (r *OrderRequest) complete(order *wire.NewOrder, lot wire.Quantity) error {
	switch {
	case !r.Side.IsListed():
		return BadSide
	case !r.OrderType.IsListed():
		return BadType
	case !r.TimeInForce.IsListed():
		return BadTime
	case r.Quantity <= 0:
		return BadQuantity
	}
	if r.hasPrice() && !r.Price.IsSome() {
		return NoLimitPrice
	}
	var fits [2]bool
	order.DisplayLots, fits[0] = lots(r.Display, r.Quantity, lot)
	order.MinimumLots, fits[1] = lots(r.Minimum, r.Quantity, lot)
	if !fits[0] || !fits[1] {
		return BadPart
	}
	if r.OrderType == wire.OrderTypeStop || r.OrderType == wire.OrderTypeStopLimit {
		if !r.Trigger.IsSome() {
			return NoTrigger
		}
		order.Trigger = r.Trigger
	}
	if r.TimeInForce == wire.TimeInForceGtd {
		const second = 1_000_000_000
		if r.Ends == 0 || r.Ends%second != 0 || r.Ends/second > 1<<32-1 {
			return BadDate
		}
		order.EndsS = uint32(r.Ends / second)
	}
	if !r.hasPrice() && r.TimeInForce == wire.TimeInForcePostOnly {
		return MarketCannotRest
	}
	return nil
}

func lots(part, whole, lot wire.Quantity) (uint32, bool) {
	lot = max(lot, 1)
	if part < 0 || part > whole || part%lot != 0 || part/lot > 1<<32-1 {
		return 0, false
	}
	return uint32(part / lot), true
}

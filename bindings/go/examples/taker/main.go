// Command taker is the smallest strategy that trades: at quotes of its instruments it sends an immediate-or-cancel order at
// the best price of the other side, buying and selling in turn, and never beyond its position limit.
package main

import (
	"errors"

	"colo/strategy"
	"colo/wire"
)

// Parameters of the platform file, or of --param.
type Parameters struct {
	// Quantity of one order, in lots.
	Quantity int64 `json:"quantity"`
	// Every n-th quote is answered.
	Every uint64 `json:"every"`
	// MaxPosition in lots that it may be long or short in one instrument.
	MaxPosition int64 `json:"max_position"`
}

// Taker takes what is quoted.
type Taker struct {
	strategy.Nothing
	parameters Parameters
	quotes     uint64
	next       [wire.MaxInstruments]wire.Side
}

// New checks the parameters.
func New(parameters Parameters) (strategy.Strategy, error) {
	if parameters.Quantity < 1 || parameters.Every < 1 || parameters.MaxPosition < 1 {
		return nil, errors.New("`quantity`, `every` and `max_position` must be at least 1")
	}
	return &Taker{parameters: parameters}, nil
}

// Quote of an instrument, with data = "depth".
func (t *Taker) Quote(context *strategy.Context, quote *wire.Quote) {
	t.answer(context, quote.Instrument, quote.BestBid(), quote.BestAsk())
}

// Best of an instrument, with data = "best".
func (t *Taker) Best(context *strategy.Context, instrument wire.InstrumentID, best *wire.Best) {
	t.answer(context, instrument, best.BestBid(), best.BestAsk())
}

func (t *Taker) answer(context *strategy.Context, id wire.InstrumentID, bid, ask wire.Level) {
	t.quotes++
	instrument := context.Instrument(id)
	if t.quotes%t.parameters.Every != 0 || instrument == nil {
		return
	}
	lot := max(instrument.Lot, 1)
	quantity, limit := wire.Quantity(t.parameters.Quantity)*lot, wire.Quantity(t.parameters.MaxPosition)*lot
	side := t.next[id]
	if side == 0 {
		side = wire.SideBuy
	}
	// What works may still trade: it counts as traded.
	room := func(side wire.Side) bool {
		held := context.Position(id).Quantity * side.Sign()
		return held+context.WorkingQuantity(id, side)+quantity <= limit
	}
	if !room(side) {
		if side = side.Opposite(); !room(side) {
			return
		}
	}
	best := ask
	if side == wire.SideSell {
		best = bid
	}
	if !best.IsSome() {
		return
	}
	if _, err := context.Order(strategy.Limit(side, id, best.Price, quantity).ImmediateOrCancel()); err != nil {
		context.Log("%v", err)
		return
	}
	t.next[id] = side.Opposite()
}

func main() {
	strategy.Main(Parameters{Quantity: 1, Every: 1, MaxPosition: 10}, New)
}

package strategy

import (
	"math"
	"math/bits"

	"colo/wire"
)

// Position of the strategy in one instrument.
type Position struct {
	// Quantity is signed: short is negative.
	Quantity wire.Quantity
	Bought   wire.Quantity
	Sold     wire.Quantity
	cash     wire.WideMoney
}

// Cash is what sales brought less what purchases cost.
func (p Position) Cash() wire.Money { return money(p.cash) }

// Profit and loss, if what is open were closed at mark; with NoPrice what is open counts nothing.
func (p Position) Profit(mark wire.Price) wire.Money {
	if !mark.IsSome() {
		return p.Cash()
	}
	return money(plus(p.cash, times(int64(p.Quantity), int64(mark))))
}

func times(a, b int64) wire.WideMoney {
	high, low := bits.Mul64(uint64(a), uint64(b))
	signed := int64(high)
	if a < 0 {
		signed -= b
	}
	if b < 0 {
		signed -= a
	}
	return wire.WideMoney{Low: low, High: signed}
}

func plus(a, b wire.WideMoney) wire.WideMoney {
	low, carry := bits.Add64(a.Low, b.Low, 0)
	return wire.WideMoney{Low: low, High: a.High + b.High + int64(carry)}
}

func minus(a wire.WideMoney) wire.WideMoney {
	low, borrow := bits.Sub64(0, a.Low, 0)
	return wire.WideMoney{Low: low, High: -a.High - int64(borrow)}
}

// money rounds towards zero.
func money(wide wire.WideMoney) wire.Money {
	const divisor = 1000
	sign := wire.Money(1)
	if wide.High < 0 {
		wide, sign = minus(wide), -1
	}
	if uint64(wide.High) >= divisor {
		return sign * math.MaxInt64
	}
	quotient, _ := bits.Div64(uint64(wide.High), wide.Low, divisor)
	return sign * wire.Money(min(quotient, math.MaxInt64))
}

type positions []Position

func (p *positions) reach(instrument wire.InstrumentID) {
	for instrument < wire.MaxInstruments && len(*p) <= int(instrument) {
		*p = append(*p, Position{})
	}
}

func (p positions) get(instrument wire.InstrumentID) Position {
	if int(instrument) < len(p) {
		return p[instrument]
	}
	return Position{}
}

// onFill is false for an impossible fill.
func (p *positions) onFill(fill *wire.Fill) bool {
	p.reach(fill.Instrument)
	if fill.Quantity <= 0 || int(fill.Instrument) >= len(*p) {
		return false
	}
	position := &(*p)[fill.Instrument]
	signed := fill.Quantity * fill.Side.Sign()
	position.Quantity += signed
	if fill.Side == wire.SideBuy {
		position.Bought += fill.Quantity
	} else {
		position.Sold += fill.Quantity
	}
	position.cash = plus(position.cash, times(int64(-signed), int64(fill.Price)))
	return true
}

func (p *positions) restore(state *wire.PositionState) {
	p.reach(state.Instrument)
	if int(state.Instrument) < len(*p) {
		(*p)[state.Instrument] = Position{state.Position, state.Bought, state.Sold, state.Cash}
	}
}

// Package wire has the messages of the platform, with the layout that they have in shared memory, and their units.
//
// messages.go is made from the platform's own table of fields.
package wire

import (
	"fmt"
	"math"
	"strconv"
)

// One as prices count it: billionths of the currency.
const One = 1_000_000_000

// NoPrice stands where there is no price.
const NoPrice Price = math.MinInt64

// MaxInstruments is one more than the greatest instrument's number.
const MaxInstruments = 4096

// MostQuantity in a Best means "at least so much".
const MostQuantity = math.MaxUint32

// Everybody is whom a snapshot is for that is for no strategy alone.
const Everybody StrategyID = math.MaxUint16

type (
	// Price in billionths of the currency, or NoPrice.
	Price int64
	// Quantity in shares or contracts; signed where it is a position.
	Quantity int64
	// Money in millionths of the currency.
	Money int64
	// Nanos since the Unix epoch.
	Nanos uint64
	// InstrumentID is the number of an instrument, from 1 on; 0 is none.
	InstrumentID uint32
	// StrategyID is the seat of a strategy.
	StrategyID uint16
	// AccountID is the number of an account; 0 is the strategy's own.
	AccountID uint32
	// OrderID has the seat, the epoch and the number of an order.
	OrderID uint64
	// Text8 is text, filled up with zeros.
	Text8 [8]byte
	// Text24 is text, filled up with zeros.
	Text24 [24]byte
	// Text32 is text, filled up with zeros.
	Text32 [32]byte
	// Text48 is text, filled up with zeros.
	Text48 [48]byte
	// Text64 is text, filled up with zeros.
	Text64 [64]byte
)

// WideMoney is billionths of the currency, exactly: High × 2^64 + Low.
type WideMoney struct {
	Low  uint64
	High int64
}

// IsSome is false for NoPrice.
func (p Price) IsSome() bool { return p != NoPrice }

// Float is the price in units of the currency.
func (p Price) Float() float64 { return float64(p) / One }

func (p Price) String() string {
	if p == NoPrice {
		return "none"
	}
	return strconv.FormatFloat(p.Float(), 'f', -1, 64)
}

// NewOrderID puts one together.
func NewOrderID(strategy StrategyID, epoch uint16, sequence uint32) OrderID {
	return OrderID(uint64(strategy)<<48 | uint64(epoch)<<32 | uint64(sequence))
}

// Strategy whose order it is.
func (id OrderID) Strategy() StrategyID { return StrategyID(id >> 48) }

// Epoch of the strategy's start.
func (id OrderID) Epoch() uint16 { return uint16(id >> 32) }

// Sequence among the orders of that start.
func (id OrderID) Sequence() uint32 { return uint32(id) }

func (id OrderID) String() string {
	return fmt.Sprintf("%d-%d-%d", id.Strategy(), id.Epoch(), id.Sequence())
}

// Sign is 1 of a buy and -1 of a sell.
func (v Side) Sign() Quantity {
	if v == SideSell {
		return -1
	}
	return 1
}

// Opposite side.
func (v Side) Opposite() Side {
	if v == SideSell {
		return SideBuy
	}
	return SideSell
}

func (t Text8) String() string { return Text(t[:]) }

func (t Text24) String() string { return Text(t[:]) }

func (t Text32) String() string { return Text(t[:]) }

func (t Text48) String() string { return Text(t[:]) }

// String is without the zeros at the end.
func (t Text64) String() string { return Text(t[:]) }

// Text up to the zeros that fill it up.
func Text(bytes []byte) string {
	for end, byte := range bytes {
		if byte == 0 {
			return string(bytes[:end])
		}
	}
	return string(bytes)
}

// Message is any of them.
type Message interface {
	MessageID() uint16
	AsBytes() []byte
	Decode(payload []byte) error
}

// Level of a book.
func (l Level) IsSome() bool { return l.Price.IsSome() }

// BestBid of the quote; its price is NoPrice where there is none.
func (m *Quote) BestBid() Level { return m.Bids[0] }

// BestAsk of the quote; its price is NoPrice where there is none.
func (m *Quote) BestAsk() Level { return m.Asks[0] }

// Best is the first level of the quote.
func (m *Quote) Best() Best {
	return Best{Bid: m.Bids[0].Price, Ask: m.Asks[0].Price, BidQuantity: narrow(m.Bids[0].Quantity),
		AskQuantity: narrow(m.Asks[0].Quantity), Due: m.Due}
}

func narrow(quantity Quantity) uint32 { return uint32(max(0, min(quantity, MostQuantity))) }

// BestBid as a level.
func (m *Best) BestBid() Level { return Level{m.Bid, Quantity(m.BidQuantity)} }

// BestAsk as a level.
func (m *Best) BestAsk() Level { return Level{m.Ask, Quantity(m.AskQuantity)} }

func unlisted(name string, value uint8) string { return fmt.Sprintf("%s(%d)", name, value) }

func sizeError(name string, wanted, found int) error {
	return fmt.Errorf("a %s has %d bytes, not %d: is it of another version?", name, wanted, found)
}

func invalidError(name, field string) error {
	return fmt.Errorf("`%s` of a %s has a value that is not listed: is it of another version?", field, name)
}

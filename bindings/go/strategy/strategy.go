// Package strategy is what an author of strategies writes against: the same calls as in Rust.
//
//	type First struct {
//		strategy.Nothing
//	}
//
//	func (f *First) Quote(context *strategy.Context, quote *wire.Quote) { … context.Order(…) … }
//
//	func main() {
//		strategy.Main(Parameters{MaxPosition: 5}, func(p Parameters) (strategy.Strategy, error) { return &First{}, nil })
//	}
//
// All calls come on one thread, one after the other. In steady state nothing allocates between a quote and the order that
// answers it. Orders and fills are never lost; market data may be, and Gap says how much.
package strategy

import (
	"colo/journal"
	"colo/wire"
)

// Strategy of an author. Embed Nothing, and write the methods that are needed. Messages are valid up to the end of the call.
//
//	(instruments and, from the ledger, positions and working orders arrive) ─► Start ─► Instrument*
//	      ─► { Quote | Best | BookEvent | Trade | Order | Fill | Timer | Gap | Instrument }* ─► Stop
type Strategy interface {
	// Start comes once, first: positions and working orders are those of the ledger. Orders may be sent from here on.
	Start(context *Context)
	// Instrument that it reads is listed: once for each, before its first quote.
	Instrument(context *Context, instrument *wire.Instrument)
	// Quote: the book changed, in a group with data = "depth".
	Quote(context *Context, quote *wire.Quote)
	// Best: the best bid or ask changed, in a group with data = "best".
	Best(context *Context, instrument wire.InstrumentID, best *wire.Best)
	// BookEvent of the order flow, in a group with data = "flow".
	BookEvent(context *Context, event *wire.BookEvent)
	// Phase of an instrument's market changed, in a group with data = "flow".
	Phase(context *Context, phase *wire.MarketPhase)
	// Indicative is what an auction would trade now, in a group with data = "flow".
	Indicative(context *Context, indicative *wire.Indicative)
	// Trade of the market.
	Trade(context *Context, trade *wire.TradePrint)
	// Order changed its state, or a request about one was refused.
	Order(context *Context, update *wire.OrderUpdate)
	// Fill of one of its orders. An Order about where the order stands follows.
	Fill(context *Context, fill *wire.Fill)
	// Timer that it set is due.
	Timer(context *Context, timer Timer)
	// Gap in the market data: it was too slow.
	Gap(context *Context, gap *journal.Gap)
	// Stop comes once, at the end. What works afterwards is cancelled.
	Stop(context *Context)
}

// Interested is a strategy that says by itself which symbols it reads; empty: what the platform file says.
type Interested interface {
	Symbols() []string
}

// Nothing does nothing at every call.
type Nothing struct{}

func (Nothing) Start(*Context)                               {}
func (Nothing) Instrument(*Context, *wire.Instrument)        {}
func (Nothing) Quote(*Context, *wire.Quote)                  {}
func (Nothing) Best(*Context, wire.InstrumentID, *wire.Best) {}
func (Nothing) BookEvent(*Context, *wire.BookEvent)          {}
func (Nothing) Phase(*Context, *wire.MarketPhase)            {}
func (Nothing) Indicative(*Context, *wire.Indicative)        {}
func (Nothing) Trade(*Context, *wire.TradePrint)             {}
func (Nothing) Order(*Context, *wire.OrderUpdate)            {}
func (Nothing) Fill(*Context, *wire.Fill)                    {}
func (Nothing) Timer(*Context, Timer)                        {}
func (Nothing) Gap(*Context, *journal.Gap)                   {}
func (Nothing) Stop(*Context)                                {}

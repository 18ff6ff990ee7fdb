package strategy

import (
	"slices"

	"colo/wire"
)

// Instruments that md has listed, and which of them the strategy reads.
type Instruments struct {
	symbols  []string
	robin    int
	assigned wire.InstrumentID
	entries  []*listed
	bySymbol map[string]wire.InstrumentID
}

type listed struct {
	wire.Instrument
	selected bool
}

// newInstruments: of these symbols; else of the robin-th one; else, if that is negative, all.
func newInstruments(symbols []string, robin int) Instruments {
	return Instruments{symbols: symbols, robin: robin, bySymbol: map[string]wire.InstrumentID{}}
}

// Get one by its number; nil if it is not listed.
func (i *Instruments) Get(id wire.InstrumentID) *wire.Instrument {
	if entry := i.entry(id); entry != nil {
		return &entry.Instrument
	}
	return nil
}

func (i *Instruments) entry(id wire.InstrumentID) *listed {
	if int(id) < len(i.entries) {
		return i.entries[id]
	}
	return nil
}

// BySymbol is nil if it is not listed.
func (i *Instruments) BySymbol(symbol string) *wire.Instrument {
	if id, is := i.bySymbol[symbol]; is {
		return i.Get(id)
	}
	return nil
}

// All that are listed, by ascending number.
func (i *Instruments) All(yield func(*wire.Instrument) bool) {
	for _, entry := range i.entries {
		if entry != nil && !yield(&entry.Instrument) {
			return
		}
	}
}

// Selected are those that the strategy reads, by ascending number.
func (i *Instruments) Selected(yield func(*wire.Instrument) bool) {
	for _, entry := range i.entries {
		if entry != nil && entry.selected && !yield(&entry.Instrument) {
			return
		}
	}
}

// IsSelected if the strategy reads it.
func (i *Instruments) IsSelected(id wire.InstrumentID) bool {
	entry := i.entry(id)
	return entry != nil && entry.selected
}

// list one: whether its number is possible, and whether the strategy reads it from now on and did not before.
func (i *Instruments) list(instrument *wire.Instrument) (bool, bool) {
	id := instrument.ID
	if id == 0 || id >= wire.MaxInstruments {
		return false, false
	}
	for len(i.entries) <= int(id) {
		i.entries = append(i.entries, nil)
	}
	before := i.entries[id]
	if before != nil {
		delete(i.bySymbol, before.Symbol.String())
	}
	entry := &listed{*instrument, i.selects(instrument)}
	i.entries[id], i.bySymbol[instrument.Symbol.String()] = entry, id
	return true, entry.selected && (before == nil || !before.selected)
}

func (i *Instruments) selects(instrument *wire.Instrument) bool {
	switch {
	case len(i.symbols) > 0:
		return slices.Contains(i.symbols, instrument.Symbol.String())
	case i.robin >= 0:
		return i.assigned == instrument.ID
	}
	return true
}

// assign picks the one of a round-robin, now that the list is whole.
func (i *Instruments) assign() {
	if len(i.symbols) > 0 || i.robin < 0 || i.assigned != 0 || len(i.bySymbol) == 0 {
		return
	}
	place := i.robin % len(i.bySymbol)
	for instrument := range i.All {
		if place == 0 {
			i.assigned = instrument.ID
			break
		}
		place--
	}
	i.entries[i.assigned].selected = true
}

// topics to read; nil: all.
func (i *Instruments) topics() []uint32 {
	if len(i.symbols) == 0 && i.robin < 0 {
		return nil
	}
	topics := []uint32{}
	for instrument := range i.Selected {
		topics = append(topics, uint32(instrument.ID))
	}
	return topics
}

package node

import "colo/layout"

// Counter of a seat; docs/journal-format.md, *Values*.
type Counter uint32

// Those that apply to programs from outside.
const (
	FramesRead           Counter = 0
	Full                 Counter = 2
	Gaps                 Counter = 3
	BytesLost            Counter = 4
	Parks                Counter = 5
	Wakes                Counter = 6
	WaitTimeouts         Counter = 7
	WaitTimeoutsWithData Counter = 8
	Malformed            Counter = 9
	Quotes               Counter = 10
	Trades               Counter = 11
	BookEvents           Counter = 12
	Orders               Counter = 13
	Cancels              Counter = 14
	Rejects              Counter = 15
	Fills                Counter = 16
	Anomalies            Counter = 21
	Overruns             Counter = 24
	OverrunMax           Counter = 25
	Replaces             Counter = 27
	CancelRejects        Counter = 28
	ReplaceRejects       Counter = 29
	MarketDue            Counter = 48
)

// Values of seat.STATE that the node sets itself.
const (
	running  = 3
	stopping = 5
	stopped  = 6
	dead     = 7
)

func wordOf(counter Counter) uint64 {
	if counter < layout.RegistryCounterCount {
		return layout.RegistryCounters + uint64(counter)*8
	}
	return layout.RegistryMoreCounters + uint64(counter-layout.RegistryCounterCount)*8
}

// Count adds to a counter. It has one writer, this process.
func (n *Node) Count(counter Counter, amount uint64) {
	n.registry.SetWord(n.Assignment.Seat, wordOf(counter), n.Counter(counter)+amount)
}

// Counter as it is.
func (n *Node) Counter(counter Counter) uint64 {
	return n.registry.Word(n.Assignment.Seat, wordOf(counter))
}

// SetCounter to what a journal has counted.
func (n *Node) SetCounter(counter Counter, value uint64) {
	n.registry.SetWord(n.Assignment.Seat, wordOf(counter), value)
}

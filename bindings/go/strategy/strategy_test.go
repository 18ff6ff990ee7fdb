package strategy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"colo/journal"
	"colo/node"
	"colo/wire"
)

func instrument(id wire.InstrumentID) wire.Instrument {
	listed := wire.Instrument{ID: id, Lot: 10, Tick: wire.One / 100}
	copy(listed.Symbol[:], fmt.Sprintf("SIM%03d", id))
	return listed
}

func quote(id wire.InstrumentID, bid, ask wire.Price) *wire.Quote {
	q := &wire.Quote{Instrument: id, LastPrice: wire.NoPrice}
	for level := range q.Bids {
		q.Bids[level].Price, q.Asks[level].Price = wire.NoPrice, wire.NoPrice
	}
	q.Bids[0], q.Asks[0] = wire.Level{Price: bid, Quantity: 5}, wire.Level{Price: ask, Quantity: 5}
	return q
}

func update(id wire.OrderID, status wire.OrderStatus) *wire.OrderUpdate {
	return &wire.OrderUpdate{OrderID: id, Instrument: 1, Side: wire.SideBuy, Status: status, Reason: wire.ReasonNone, Execution: 64}
}

func fill(id wire.OrderID, side wire.Side, price wire.Price, quantity wire.Quantity) *wire.Fill {
	return &wire.Fill{OrderID: id, Instrument: 1, Side: side, Liquidity: wire.LiquidityTaker, Price: price, Quantity: quantity, Execution: 64}
}

func TestOrdersPositionsAndRefusalsAreFollowed(t *testing.T) {
	h := NewHarness(Nothing{}, "depth", instrument(1))
	c := h.Context
	id, err := c.Order(Limit(wire.SideBuy, 1, 100*wire.One, 30).Iceberg(10))
	if err != nil || id.String() != "1-1-1" {
		t.Fatal(id, err)
	}
	sent := h.Requests[0].(*wire.NewOrder)
	if sent.DisplayLots != 1 || sent.Quantity != 30 || c.WorkingQuantity(1, wire.SideBuy) != 30 {
		t.Fatalf("%+v", sent)
	}
	for request, why := range map[OrderRequest]error{
		Limit(wire.SideBuy, 1, 100, 30).Iceberg(15):    BadPart,
		Limit(wire.SideBuy, 2, 100, 30):                UnknownInstrument,
		Limit(wire.SideBuy, 1, wire.NoPrice, 30):       NoLimitPrice,
		Limit(wire.SideBuy, 1, 100, 0):                 BadQuantity,
		Market(wire.SideBuy, 1, 10).PostOnly():         MarketCannotRest,
		Market(wire.SideBuy, 1, 10).Stop(wire.NoPrice): NoTrigger,
		Limit(wire.SideBuy, 1, 100, 30).GoodTill(1):    BadDate,
	} {
		if _, err := c.Order(request); err != why {
			t.Errorf("%+v: %v", request, err)
		}
	}
	if len(h.Requests) != 1 || c.WorkingQuantity(1, 0) != 0 || c.WorkingQuantity(1, 9) != 0 {
		t.Error(h.Requests)
	}
	h.IsFull = true
	if _, err := c.Buy(1, 100, 10); err != Full || h.Counters[node.Full] != 1 {
		t.Error(err)
	}
	h.IsFull = false
	h.Feed(fill(id, wire.SideBuy, 100*wire.One, 10), 0)
	position := c.Position(1)
	if position.Quantity != 10 || position.Cash() != -1_000_000_000 || position.Profit(101*wire.One) != 10_000_000 {
		t.Errorf("%+v, %d, %d", position, position.Cash(), position.Profit(101*wire.One))
	}
	if c.WorkingQuantity(1, wire.SideBuy) != 20 {
		t.Error(c.WorkingQuantity(1, wire.SideBuy))
	}
	if c.Cancel(id) != nil || c.Cancel(id) != nil || len(h.Requests) != 2 {
		t.Error("a second cancel is sent")
	}
	h.Feed(update(id, wire.OrderStatusCancelled), 0)
	if len(c.WorkingOrders()) != 0 || c.WorkingQuantity(1, wire.SideBuy) != 0 || c.Cancel(id) != UnknownOrder {
		t.Error(c.WorkingOrders())
	}
}

func TestWhatHasNoNameInTheMessagesIsRefusedBeforeItIsSent(t *testing.T) {
	h := NewHarness(Nothing{}, "depth", instrument(1))
	c := h.Context
	for _, bad := range []uint8{0, 9, 255} {
		side, kind, time := Limit(wire.Side(bad), 1, 100, 30), Limit(wire.SideBuy, 1, 100, 30), Limit(wire.SideBuy, 1, 100, 30)
		kind.OrderType, time.TimeInForce = wire.OrderType(bad), wire.TimeInForce(bad)
		for request, why := range map[OrderRequest]error{side: BadSide, kind: BadType, time: BadTime} {
			if _, err := c.Order(request); err != why || why.Error() == "" {
				t.Errorf("%+v: %v", request, err)
			}
		}
	}
	if _, err := c.CancelAll(CancelRequest{Side: 9}); err != BadSide {
		t.Error(err)
	}
	if len(h.Requests) != 0 || len(c.WorkingOrders()) != 0 {
		t.Error(h.Requests)
	}
	if id, err := c.CancelAll(CancelRequest{}); err != nil || id.String() != "1-1-1" {
		t.Error(id, err)
	}
}

func TestParametersHaveExactlyTheirNames(t *testing.T) {
	type common struct {
		Quantity int64 `json:"quantity"`
	}
	type parameters struct {
		common
		Case   int64             `json:"case"`
		Plain  string            // Without a tag: its own name.
		Levels []struct{ N int } `json:"levels"`
	}
	p := parameters{Case: 3}
	if err := readParams([]byte(`{"quantity": 5, "Plain": "a", "levels": [{"N": 1}]}`), &p); err != nil || p.Quantity != 5 || p.Case != 3 {
		t.Fatal(p, err)
	}
	for _, none := range []string{"", "null", "{}"} {
		if err := readParams([]byte(none), &p); err != nil {
			t.Error(none, err)
		}
	}
	for text, name := range map[string]string{`{"CASE": 2}`: "CASE", `{"Quantity": 1}`: "Quantity", `{"plain": "b"}`: "plain",
		`{"levels": [{"n": 1}]}`: "n", `{"other": 1}`: "other"} {
		if err := readParams([]byte(text), &p); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("unknown field %q", name)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

type timed struct {
	Nothing
	fired []uint64
}

func (s *timed) Timer(c *Context, timer Timer) {
	s.fired = append(s.fired, timer.Key)
	if timer.Key == 1 {
		c.SetTimer(0, 9)
	}
}

func TestTimersFireInTheirOrder(t *testing.T) {
	s := &timed{}
	h := NewHarness(s, "depth")
	h.Context.SetTimer(200, 2)
	h.Context.SetTimer(100, 1)
	cancelled := h.Context.SetTimer(150, 7)
	h.Context.SetTimer(200*time.Nanosecond, 3)
	if !h.Context.CancelTimer(cancelled) || h.Context.CancelTimer(cancelled) {
		t.Fatal("a timer is cancelled once")
	}
	for _, step := range []struct {
		by    wire.Nanos
		fired string
	}{{50, "[]"}, {500, "[1 2 3]"}, {0, "[1 2 3 9]"}} {
		h.Advance(step.by)
		if fmt.Sprint(s.fired) != step.fired {
			t.Fatal(s.fired, step)
		}
	}
}

type crossing struct {
	Nothing
	orders int
}

func (s *crossing) Quote(c *Context, quote *wire.Quote) {
	if _, err := c.Order(Limit(wire.SideBuy, quote.Instrument, quote.BestAsk().Price, 10).ImmediateOrCancel()); err != nil {
		panic(err)
	}
	s.orders++
}

func TestNothingIsAllocatedFromQuoteToOrder(t *testing.T) {
	s := &crossing{}
	h := NewHarness(s, "depth", instrument(1))
	h.keep = false
	q, ended, filled := quote(1, 99*wire.One, 101*wire.One), update(0, wire.OrderStatusFilled), fill(0, wire.SideBuy, 101*wire.One, 10)
	frames := []journal.Frame{{ID: wire.QuoteMessageID, Payload: q.AsBytes()}, {ID: wire.FillMessageID, Payload: filled.AsBytes()},
		{ID: wire.OrderUpdateMessageID, Payload: ended.AsBytes()}}
	allocations := testing.AllocsPerRun(10_000, func() {
		h.session.frame(quotesRole, 1, &frames[0], 5)
		id := h.Context.WorkingOrders()[0].ID
		filled.OrderID, ended.OrderID = id, id
		h.session.frame(reportsRole, 2, &frames[1], 6)
		h.session.frame(reportsRole, 2, &frames[2], 7)
	})
	if allocations != 0 || s.orders < 10_000 || h.Context.Position(1).Quantity < 100_000 {
		t.Fatalf("%v allocations, %d orders", allocations, s.orders)
	}
}

func TestWhatASnapshotContainsIsCountedOnce(t *testing.T) {
	h := &Harness{Time: 1, keep: true}
	s := newSession(Nothing{}, setup{name: "test", seat: 1, generation: 2, epoch: 2, ledger: true, robin: -1}, h)
	listed := instrument(1)
	s.onListing(&listed)
	s.completeList()
	s.turn()
	feed := func(role role, message wire.Message) {
		s.frame(role, 1, &journal.Frame{ID: message.MessageID(), Topic: 2, Payload: message.AsBytes()}, 1)
	}
	// One that was meant for the predecessor, and one that is not whole, are passed over.
	for generation := wire.Nanos(1); generation <= 2; generation++ {
		feed(stateRole, &wire.SnapshotBegin{Snapshot: 5, Strategy: 1, Generation: uint64(generation), Execution: 640})
		feed(stateRole, &wire.SnapshotEnd{Snapshot: 5, Strategy: 1, Frames: 2 - uint64(generation), Generation: uint64(generation)})
		if generation == 1 && !s.waits {
			t.Fatal("a predecessor's snapshot is taken")
		}
	}
	old := wire.NewOrderID(1, 1, 7)
	s.waits = true
	feed(stateRole, &wire.SnapshotBegin{Snapshot: 6, Strategy: 1, Generation: 2, Execution: 640})
	feed(stateRole, &wire.PositionState{Strategy: 1, Instrument: 1, Position: 30})
	working := update(old, wire.OrderStatusAccepted)
	working.Quantity = 10
	feed(stateRole, working)
	feed(stateRole, &wire.SnapshotEnd{Snapshot: 6, Strategy: 1, Frames: 2, Generation: 2})
	s.turn()
	c := &s.context
	if s.waits || c.stage != open || c.Position(1).Quantity != 30 || c.WorkingQuantity(1, wire.SideBuy) != 10 {
		t.Fatalf("%+v %+v", c.Position(1), c.WorkingOrders())
	}
	contained, later := fill(old, wire.SideBuy, 1, 10), fill(old, wire.SideBuy, 1, 10)
	contained.Execution, later.Execution = 576, 640
	feed(reportsRole, contained)
	if c.Position(1).Quantity != 30 {
		t.Fatal("a fill counts twice")
	}
	feed(reportsRole, later)
	if c.Position(1).Quantity != 40 || c.WorkingQuantity(1, wire.SideBuy) != 0 {
		t.Fatalf("%+v", c.Position(1))
	}
}

func TestWideMoneyRoundsTowardsZero(t *testing.T) {
	for _, test := range []struct {
		a, b int64
		want wire.Money
	}{{3, 500, 1}, {-3, 500, -1}, {3, -500, -1}, {-3, -500, 1}, {1 << 40, 1 << 40, 1 << 62}, {1_000, -7_000_000_000, -7_000_000_000}} {
		found := money(times(test.a, test.b))
		if test.want == 1<<62 {
			if found <= 1<<62 {
				t.Errorf("%d × %d: %d", test.a, test.b, found)
			}
			continue
		}
		if found != test.want {
			t.Errorf("%d × %d: %d", test.a, test.b, found)
		}
	}
	if sum := plus(times(-3, 500), times(5, 500)); money(sum) != 1 {
		t.Error(sum)
	}
}

func TestOptionsAreReadAsTheHelpSays(t *testing.T) {
	options, err := parseOptions([]string{"taker", "-i", "demo", "--node=s-1", "-n", "A", "--instrument", "B", "--param", "quantity=5", "-p", "name=fast"})
	if err != nil || options.Instance != "demo" || options.Node != "s-1" || fmt.Sprint(options.Symbols) != "[A B]" {
		t.Fatal(options, err)
	}
	if string(options.Params["quantity"]) != "5" || string(options.Params["name"]) != `"fast"` {
		t.Fatal(options.Params)
	}
	for _, wrong := range [][]string{{"t", "-n", ""}, {"t", "-p", "quantity"}, {"t", "-p", "=5"}, {"t", "--speed", "1"}, {"t", "rest"}} {
		if _, err := parseOptions(wrong); node.CodeOf(err) != node.ExitUsage {
			t.Error(wrong, err)
		}
	}
}

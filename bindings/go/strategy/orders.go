package strategy

import (
	"slices"

	"colo/wire"
)

// WorkingOrder is an order from its sending to its end, as of the reports so far.
type WorkingOrder struct {
	ID         wire.OrderID
	Instrument wire.InstrumentID
	Side       wire.Side
	Price      wire.Price
	Quantity   wire.Quantity
	Filled     wire.Quantity
	Sent       wire.Nanos
	// Accepted once the market has it.
	Accepted bool
	// Cancelling while a cancel is on its way.
	Cancelling bool
	// Replacing counts replaces on their way.
	Replacing uint32
}

// Remaining is how much of it may still trade.
func (o *WorkingOrder) Remaining() wire.Quantity { return max(0, o.Quantity-o.Filled) }

// IsChanging while a cancel or a replace is on its way.
func (o *WorkingOrder) IsChanging() bool { return o.Cancelling || o.Replacing > 0 }

// workingOrders by ascending id: new ones go to the end, old ones leave mostly from the front.
type workingOrders struct {
	orders []WorkingOrder
	// sums of what may still trade, by instrument and side.
	sums [][2]wire.Quantity
}

func newOrders() workingOrders { return workingOrders{orders: make([]WorkingOrder, 0, 256)} }

func (w *workingOrders) reach(instrument wire.InstrumentID) {
	for instrument < wire.MaxInstruments && len(w.sums) <= int(instrument) {
		w.sums = append(w.sums, [2]wire.Quantity{})
	}
}

func (w *workingOrders) find(id wire.OrderID) (int, bool) {
	return slices.BinarySearchFunc(w.orders, id, func(order WorkingOrder, id wire.OrderID) int {
		switch {
		case order.ID < id:
			return -1
		case order.ID > id:
			return 1
		}
		return 0
	})
}

func (w *workingOrders) get(id wire.OrderID) *WorkingOrder {
	if index, is := w.find(id); is {
		return &w.orders[index]
	}
	return nil
}

func (w *workingOrders) quantity(instrument wire.InstrumentID, side wire.Side) wire.Quantity {
	if int(instrument) >= len(w.sums) || !side.IsListed() {
		return 0
	}
	return w.sums[instrument][side-1]
}

func (w *workingOrders) add(order *WorkingOrder, sign wire.Quantity) {
	w.reach(order.Instrument)
	if int(order.Instrument) < len(w.sums) {
		w.sums[order.Instrument][order.Side-1] += sign * order.Remaining()
	}
}

func (w *workingOrders) insert(order WorkingOrder) {
	index, is := w.find(order.ID)
	w.add(&order, 1)
	if is {
		w.add(&w.orders[index], -1)
		w.orders[index] = order
		return
	}
	w.orders = slices.Insert(w.orders, index, order)
}

func (w *workingOrders) remove(id wire.OrderID) {
	if index, is := w.find(id); is {
		w.add(&w.orders[index], -1)
		w.orders = slices.Delete(w.orders, index, index+1)
	}
}

func (w *workingOrders) onFill(fill *wire.Fill) {
	if order := w.get(fill.OrderID); order != nil {
		w.add(order, -1)
		order.Accepted = true
		order.Filled += fill.Quantity
		w.add(order, 1)
	}
}

// onUpdate takes now as the sending time of an order that is not known yet: a predecessor's.
func (w *workingOrders) onUpdate(update *wire.OrderUpdate, now wire.Nanos) {
	switch update.Status {
	case wire.OrderStatusFilled, wire.OrderStatusCancelled, wire.OrderStatusRejected:
		w.remove(update.OrderID)
	case wire.OrderStatusCancelRejected, wire.OrderStatusReplaceRejected:
		w.onRefusal(update)
	case wire.OrderStatusMassCancelled:
		// About a request, and no order.
	default:
		order := w.get(update.OrderID)
		if order == nil {
			w.insert(WorkingOrder{ID: update.OrderID, Instrument: update.Instrument, Side: update.Side, Price: update.Price,
				Quantity: update.Quantity, Filled: update.Filled, Sent: now, Accepted: true})
			return
		}
		w.add(order, -1)
		order.Accepted, order.Price, order.Quantity, order.Filled = true, update.Price, update.Quantity, update.Filled
		if update.Status == wire.OrderStatusReplaced && order.Replacing > 0 {
			order.Replacing--
		}
		w.add(order, 1)
	}
}

func (w *workingOrders) onRefusal(update *wire.OrderUpdate) {
	if update.Reason == wire.ReasonUnknownOrder {
		// It ended before this refusal, or is unknown in the market: no end will follow.
		w.remove(update.OrderID)
		return
	}
	order := w.get(update.OrderID)
	switch {
	case order == nil:
	case update.Status == wire.OrderStatusCancelRejected:
		order.Cancelling = false
	case order.Replacing > 0:
		order.Replacing--
	}
}

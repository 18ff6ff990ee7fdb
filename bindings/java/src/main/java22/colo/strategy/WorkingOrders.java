package colo.strategy;

import colo.wire.Fill;
import colo.wire.Message;
import colo.wire.OrderStatus;
import colo.wire.OrderUpdate;
import colo.wire.Reason;
import colo.wire.Side;

/** Orders that have not ended, by ascending id: new ones go to the end, old ones leave mostly from the front. */
final class WorkingOrders {
    private WorkingOrder[] orders = new WorkingOrder[256];
    private int size;
    /** What may still trade, by instrument and side. */
    private final long[] sums = new long[2 * Message.MAX_INSTRUMENTS];

    int size() {
        return size;
    }

    WorkingOrder at(int index) {
        return orders[index];
    }

    private int find(long id) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = low + high >>> 1;
            if (Long.compareUnsigned(orders[middle].id, id) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    WorkingOrder get(long id) {
        int index = find(id);
        return index < size && orders[index].id == id ? orders[index] : null;
    }

    long quantity(int instrument, Side side) {
        return side != null && instrument >= 0 && instrument < Message.MAX_INSTRUMENTS ? sums[2 * instrument + side.ordinal()] : 0;
    }

    private void add(WorkingOrder order, int sign) {
        if (order.instrument >= 0 && order.instrument < Message.MAX_INSTRUMENTS) {
            sums[2 * order.instrument + order.side.ordinal()] += sign * order.remaining();
        }
    }

    /** A new one, to be set; then {@link #added}. */
    WorkingOrder insert(long id) {
        int index = find(id);
        if (index < size && orders[index].id == id) {
            add(orders[index], -1);
            return orders[index];
        }
        if (size == orders.length) {
            orders = java.util.Arrays.copyOf(orders, 2 * size);
        }
        WorkingOrder free = orders[size] == null ? new WorkingOrder() : orders[size];
        System.arraycopy(orders, index, orders, index + 1, size - index);
        orders[index] = free;
        free.id = id;
        size++;
        return free;
    }

    void added(WorkingOrder order) {
        add(order, 1);
    }

    private void remove(long id) {
        int index = find(id);
        if (index < size && orders[index].id == id) {
            WorkingOrder removed = orders[index];
            add(removed, -1);
            size--;
            System.arraycopy(orders, index + 1, orders, index, size - index);
            // Kept behind the end, for the next one.
            orders[size] = removed;
        }
    }

    void onFill(Fill fill) {
        WorkingOrder order = get(fill.orderId());
        if (order != null) {
            add(order, -1);
            order.accepted = true;
            order.filled += fill.quantity();
            add(order, 1);
        }
    }

    /** Now is taken as the sending time of an order that is not known yet: a predecessor's. */
    void onUpdate(OrderUpdate update, long now) {
        OrderStatus status = update.status();
        switch (status) {
            case FILLED, CANCELLED, REJECTED -> remove(update.orderId());
            case CANCEL_REJECTED, REPLACE_REJECTED -> onRefusal(update);
            case MASS_CANCELLED -> {
                // About a request, and no order.
            }
            default -> {
                WorkingOrder order = get(update.orderId());
                if (order == null) {
                    order = insert(update.orderId());
                    added(order.set(update.orderId(), update.instrument(), update.side(), update.price(), update.quantity(),
                        update.filled(), now, true));
                    return;
                }
                add(order, -1);
                order.accepted = true;
                order.price = update.price();
                order.quantity = update.quantity();
                order.filled = update.filled();
                if (status == OrderStatus.REPLACED && order.replacing > 0) {
                    order.replacing--;
                }
                add(order, 1);
            }
        }
    }

    private void onRefusal(OrderUpdate update) {
        if (update.reason() == Reason.UNKNOWN_ORDER) {
            // It ended before this refusal, or is unknown in the market: no end will follow.
            remove(update.orderId());
            return;
        }
        WorkingOrder order = get(update.orderId());
        if (order == null) {
            return;
        }
        if (update.status() == OrderStatus.CANCEL_REJECTED) {
            order.cancelling = false;
        } else if (order.replacing > 0) {
            order.replacing--;
        }
    }
}

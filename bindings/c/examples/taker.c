/* The smallest strategy that trades: at quotes of its instruments it sends an immediate-or-cancel order at the best price of the
 * other side, buying and selling in turn, and never beyond its position limit. */
#include <colo.h>
#include <stdlib.h>
#include <string.h>

struct taker {
    int64_t quantity;     /* of one order, in lots */
    int64_t every;        /* every n-th quote is answered */
    int64_t max_position; /* lots that it may be long or short in one instrument */
    int64_t quotes;
    uint8_t sells[COLO_MAX_INSTRUMENTS]; /* next */
};

static void *create(void *program, colo_parameters *parameters, const char **problem) {
    struct taker *taker = calloc(1, sizeof *taker);
    (void)program;
    if (taker == NULL) {
        *problem = "no memory";
        return NULL;
    }
    taker->quantity = 1;
    taker->every = 1;
    taker->max_position = 10;
    const struct {
        const char *name;
        int64_t *value;
    } each[] = {{"quantity", &taker->quantity}, {"every", &taker->every}, {"max_position", &taker->max_position}};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        int code = colo_parameter_integer(parameters, each[i].name, each[i].value);
        if ((code < 0 && code != COLO_E_NOTHING) || *each[i].value < 1) {
            free(taker);
            *problem = "`quantity`, `every` and `max_position` must be whole numbers of at least 1";
            return NULL;
        }
    }
    return taker;
}

/* What works may still trade: it counts as traded. */
static int has_room(const struct taker *taker, colo_context *context, const colo_instrument *instrument, uint8_t side) {
    colo_position position = {.struct_size = sizeof position};
    int64_t works = 0, lot = instrument->lot > 0 ? instrument->lot : 1;
    if (colo_working_quantity(context, instrument->id, side, &works) < 0) return 0;
    if (colo_position_of(context, instrument->id, &position) < 0) return 0;
    return (side == COLO_SIDE_BUY ? position.quantity : -position.quantity) + works + taker->quantity * lot <=
           taker->max_position * lot;
}

static int32_t answer(struct taker *taker, colo_context *context, uint32_t id, int64_t bid, int64_t ask) {
    colo_instrument instrument;
    colo_order_request order;
    uint8_t side;
    if (++taker->quotes % taker->every != 0 || id >= COLO_MAX_INSTRUMENTS) return 0;
    if (colo_instrument_by_id(context, id, &instrument) < 0) return 0;
    side = taker->sells[id] ? COLO_SIDE_SELL : COLO_SIDE_BUY;
    if (!has_room(taker, context, &instrument, side)) {
        side = side == COLO_SIDE_BUY ? COLO_SIDE_SELL : COLO_SIDE_BUY;
        if (!has_room(taker, context, &instrument, side)) return 0;
    }
    memset(&order, 0, sizeof order);
    order.struct_size = sizeof order;
    order.instrument = id;
    order.side = side;
    order.price = side == COLO_SIDE_BUY ? ask : bid;
    order.quantity = taker->quantity * (instrument.lot > 0 ? instrument.lot : 1);
    order.time_in_force = COLO_TIME_IN_FORCE_IOC;
    if (order.price == COLO_NO_PRICE) return 0;
    if (colo_order_send(context, &order, NULL) < 0) colo_log(context, colo_error());
    else taker->sells[id] = side == COLO_SIDE_BUY;
    return 0;
}

static int32_t on_quote(void *state, colo_context *context, const colo_quote *quote) {
    return answer(state, context, quote->instrument, quote->bids[0].price, quote->asks[0].price);
}

static int32_t on_best(void *state, colo_context *context, uint32_t instrument, const colo_best *best) {
    return answer(state, context, instrument, best->bid, best->ask);
}

int main(void) {
    colo_strategy strategy;
    memset(&strategy, 0, sizeof strategy);
    strategy.struct_size = sizeof strategy;
    strategy.create = create;
    strategy.destroy = free;
    strategy.quote = on_quote;
    strategy.best = on_best;
    return colo_run(&strategy);
}

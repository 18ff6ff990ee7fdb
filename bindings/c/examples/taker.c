/* Buys a lot at the ask while it holds fewer than `max_position` lots, and says what it traded. */
#include <colo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct taker {
    int64_t max_position;
};

static void *create(void *program, colo_parameters *parameters, const char **problem) {
    struct taker *taker = calloc(1, sizeof *taker);
    int code;
    (void)program;
    if (taker == NULL) {
        *problem = "no memory";
        return NULL;
    }
    taker->max_position = 5;
    code = colo_parameter_integer(parameters, "max_position", &taker->max_position);
    if ((code < 0 && code != COLO_E_NOTHING) || taker->max_position < 1) {
        free(taker);
        *problem = "max_position must be a whole number of at least 1";
        return NULL;
    }
    return taker;
}

static int32_t on_quote(void *state, colo_context *context, const colo_quote *quote) {
    const struct taker *taker = state;
    colo_order_request order;
    colo_instrument instrument;
    colo_position position;
    int64_t works = 0;
    memset(&position, 0, sizeof position);
    position.struct_size = sizeof position;
    if (quote->asks[0].quantity == 0) return 0;
    if (colo_instrument_by_id(context, quote->instrument, &instrument) < 0) return 0;
    /* One order at a time. */
    if (colo_working_quantity(context, quote->instrument, COLO_SIDE_BUY, &works) < 0 || works > 0) return 0;
    if (colo_position_of(context, quote->instrument, &position) < 0) return 0;
    if (position.quantity + instrument.lot > taker->max_position * instrument.lot) return 0;
    memset(&order, 0, sizeof order);
    order.struct_size = sizeof order;
    order.instrument = quote->instrument;
    order.side = COLO_SIDE_BUY;
    order.price = quote->asks[0].price;
    order.quantity = instrument.lot;
    order.time_in_force = COLO_TIME_IN_FORCE_IOC;
    if (colo_order_send(context, &order, NULL) < 0) colo_log(context, colo_error());
    return 0;
}

static int32_t on_fill(void *state, colo_context *context, const colo_fill *fill) {
    char line[128];
    (void)state;
    snprintf(line, sizeof line, "bought %" PRId64 " at %" PRId64, fill->quantity, fill->price);
    colo_log(context, line);
    return 0;
}

int main(void) {
    colo_strategy strategy;
    memset(&strategy, 0, sizeof strategy);
    strategy.struct_size = sizeof strategy;
    strategy.create = create;
    strategy.destroy = free;
    strategy.quote = on_quote;
    strategy.fill = on_fill;
    return colo_run(&strategy);
}

/* Uses the library as a stranger would; exits with the number of the line that did not hold. */
#include "colo_matching.h"
#include <stdio.h>
#include <string.h>

#define EXPECT(what) do { if (!(what)) { fprintf(stderr, "line %d: %s\n", __LINE__, #what); return 1; } } while (0)

struct seen { int count; colo_report last[16]; };

static void note(void *context, const colo_report *report) {
    struct seen *seen = context;
    if (seen->count < 16) seen->last[seen->count] = *report;
    seen->count++;
}

static colo_order limit(uint64_t number, uint8_t side, int64_t price, int64_t quantity) {
    colo_order order;
    memset(&order, 0, sizeof order);
    order.struct_size = sizeof order;
    order.instrument = 7;
    order.order = number;
    order.side = side;
    order.price = price;
    order.quantity = quantity;
    return order;
}

/* A day under Shanghai's rules: an auction, stops, a mass cancel, self-trades, ends by date. */
static int day(int64_t cent) {
    struct seen seen = {0};
    colo_exchange *exchange = colo_exchange_new(1000);
    const colo_tick ticks[] = {{0, cent}, {10000 * cent, 10 * cent}};
    colo_instrument stock;
    memset(&stock, 0, sizeof stock);
    stock.struct_size = sizeof stock;
    stock.instrument = 7;
    stock.ticks = ticks;
    stock.tick_count = 2;
    stock.lot = 1;
    stock.reference_price = 98 * cent;
    stock.price_low = 1 * cent;
    stock.price_high = COLO_NO_PRICE;
    stock.rules = COLO_SHANGHAI;
    stock.self_trade = COLO_SELF_TRADE_BY_RULES;
    EXPECT(colo_list_with(exchange, &stock) == COLO_OK);
    EXPECT(colo_list_with(exchange, &stock) == COLO_INSTRUMENT);
    stock.rules = 9;
    EXPECT(colo_list_with(exchange, &stock) == COLO_ARGUMENT);
    EXPECT(colo_list_with(exchange, NULL) == COLO_NULL);
    EXPECT(colo_phase(exchange, 7) == COLO_CONTINUOUS && colo_phase(exchange, 8) == COLO_ARGUMENT);

    /* Sell 100 @ 98, buy 60 @ 105 and 100 @ 100: the exchange's rule gives 100 (both better buyers in whole). */
    const colo_phase_at phases[] = {{100, COLO_OPENING_AUCTION, {0}}, {200, COLO_CONTINUOUS, {0}}};
    EXPECT(colo_schedule(exchange, 7, phases, 2) == COLO_OK);
    EXPECT(colo_advance(exchange, 150, note, &seen) == COLO_OK);
    EXPECT(seen.count == 1 && seen.last[0].kind == COLO_PHASE && seen.last[0].quantity == COLO_OPENING_AUCTION);
    EXPECT(seen.last[0].filled == COLO_CONTINUOUS && seen.last[0].instrument == 7 && seen.last[0].order == 0);
    colo_order order = limit(1, COLO_SELL, 98 * cent, 100);
    order.lifetime = COLO_AT_THE_OPEN;
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    order = limit(2, COLO_BUY, 105 * cent, 60);
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    order = limit(3, COLO_BUY, 100 * cent, 100);
    order.struct_size = 64; /* a program that was built before `trigger` */
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    int64_t price, volume, imbalance;
    EXPECT(colo_equilibrium(exchange, 7, &price, &volume, &imbalance) == COLO_OK);
    EXPECT(price == 100 * cent && volume == 100 && imbalance == 60);
    seen.count = 0;
    EXPECT(colo_advance(exchange, 200, note, &seen) == COLO_OK);
    EXPECT(seen.count == 6 && seen.last[0].kind == COLO_UNCROSSED && seen.last[0].price == 100 * cent);
    EXPECT(seen.last[0].quantity == 100 && seen.last[0].open == 60 && seen.last[5].kind == COLO_PHASE);

    /* What is left of order 3 is the book: 60 at 100. Two more levels, one of an iceberg. */
    order = limit(4, COLO_BUY, 99 * cent, 50);
    order.account = 5;
    order.display = 10;
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    colo_level levels[4];
    EXPECT(colo_levels(exchange, 7, COLO_BUY, levels, 4) == 2 && colo_levels(exchange, 7, COLO_BUY, levels, 1) == 1);
    EXPECT(levels[0].price == 100 * cent && levels[0].shown == 60 && levels[0].orders == 1);
    EXPECT(levels[1].price == 99 * cent && levels[1].shown == 10 && levels[1].hidden == 40);
    EXPECT(colo_levels(exchange, 7, 3, levels, 4) == COLO_ARGUMENT && colo_levels(exchange, 7, 1, NULL, 4) == COLO_NULL);
    EXPECT(colo_level_at(exchange, 7, COLO_BUY, 99 * cent, levels) == COLO_OK && levels[0].hidden == 40);
    EXPECT(colo_level_at(exchange, 7, COLO_BUY, 98 * cent, levels) == COLO_OK && levels[0].orders == 0);

    /* A sell stop below is reached by a trade at 100, and takes the iceberg's price. */
    order = limit(5, COLO_SELL, COLO_NO_PRICE, 10);
    order.is_stop = 1;
    order.trigger = 99 * cent;
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    seen.count = 0;
    order = limit(6, COLO_SELL, 99 * cent, 70);
    order.account = 6;
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_OK);
    int triggered = 0;
    for (int i = 0; i < seen.count && i < 16; i++) triggered += seen.last[i].kind == COLO_TRIGGERED && seen.last[i].order == 5;
    EXPECT(triggered == 1);

    /* The owner's order is cancelled, not traded with. */
    order = limit(7, COLO_SELL, 99 * cent, 5);
    order.account = 5;
    order.self_trade = COLO_CANCEL_NEWEST;
    seen.count = 0;
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_OK);
    EXPECT(seen.count == 2 && seen.last[1].kind == COLO_CANCELLED && seen.last[1].order == 7);
    order.self_trade = 6;
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_ARGUMENT);

    /* By date, then all of an account. */
    order = limit(8, COLO_SELL, 200 * cent, 5);
    order.lifetime = COLO_GOOD_TILL_DATE;
    order.ends = 300;
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    seen.count = 0;
    EXPECT(colo_advance(exchange, 300, note, &seen) == COLO_OK);
    EXPECT(seen.count == 1 && seen.last[0].kind == COLO_CANCELLED && seen.last[0].order == 8);
    colo_filter filter;
    memset(&filter, 0, sizeof filter);
    filter.struct_size = sizeof filter;
    filter.given = COLO_BY_ACCOUNT | COLO_BY_SIDE;
    filter.account = 5;
    filter.side = COLO_BUY;
    uint64_t passed_over = 9;
    seen.count = 0;
    EXPECT(colo_cancel_all(exchange, &filter, &passed_over, note, &seen) == COLO_OK);
    EXPECT(passed_over == 0 && seen.count == 1 && seen.last[0].order == 4);
    filter.given = 16;
    EXPECT(colo_cancel_all(exchange, &filter, NULL, NULL, NULL) == COLO_ARGUMENT);

    /* In a phase without cancels, they are passed over; closed, all end. */
    order = limit(9, COLO_BUY, 90 * cent, 5);
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    EXPECT(colo_set_phase(exchange, 7, COLO_CLOSING_AUCTION, NULL, NULL) == COLO_OK);
    filter.given = 0;
    EXPECT(colo_cancel_all(exchange, &filter, &passed_over, NULL, NULL) == COLO_OK && passed_over == 1);
    EXPECT(colo_set_phase(exchange, 7, COLO_CLOSED, NULL, NULL) == COLO_OK && colo_working_orders(exchange) == 0);
    EXPECT(colo_set_phase(exchange, 7, 0, NULL, NULL) == COLO_ARGUMENT);
    colo_exchange_free(exchange);
    puts("held");
    return 0;
}

int main(void) {
    const int64_t cent = 10000000;
    struct seen seen = {0};
    int64_t price, quantity;
    colo_exchange *exchange = colo_exchange_new(1000);
    EXPECT(exchange != NULL);
    EXPECT(sizeof(colo_order) == 80 && sizeof(colo_report) == 56);
    EXPECT(colo_list(exchange, 7, cent) == COLO_OK);
    EXPECT(colo_list(exchange, 7, cent) == COLO_INSTRUMENT);
    EXPECT(colo_list(NULL, 7, cent) == COLO_NULL);

    colo_order order = limit(UINT64_MAX, COLO_SELL, 1002 * cent, 300);
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_OK);
    EXPECT(seen.count == 2 && seen.last[0].kind == COLO_ACCEPTED && seen.last[1].kind == COLO_RESTED);
    EXPECT(colo_best(exchange, 7, COLO_SELL, &price, &quantity) == COLO_OK && price == 1002 * cent && quantity == 300);

    seen.count = 0;
    order = limit(2, COLO_BUY, COLO_NO_PRICE, 200);
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_OK);
    EXPECT(seen.count == 3 && seen.last[1].kind == COLO_TRADED && seen.last[1].order == UINT64_MAX && seen.last[1].maker == 1);
    EXPECT(seen.last[2].order == 2 && seen.last[2].quantity == 200 && seen.last[2].open == 0 && seen.last[2].trade == 1);

    seen.count = 0;
    EXPECT(colo_modify(exchange, UINT64_MAX, 1003 * cent, 500, note, &seen) == COLO_OK);
    EXPECT(seen.count == 2 && seen.last[0].kind == COLO_REPLACED && seen.last[0].open == 300);

    seen.count = 0;
    EXPECT(colo_cancel(exchange, UINT64_MAX, note, &seen) == COLO_OK);
    EXPECT(colo_cancel(exchange, UINT64_MAX, note, &seen) == COLO_OK);
    EXPECT(seen.count == 2 && seen.last[0].kind == COLO_CANCELLED && seen.last[1].kind == COLO_REFUSED);
    EXPECT(colo_working_orders(exchange) == 0);

    order.side = 9;
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_ARGUMENT);
    order.struct_size = 1;
    EXPECT(colo_new(exchange, &order, note, &seen) == COLO_ARGUMENT);
    EXPECT(colo_new(exchange, NULL, note, &seen) == COLO_NULL);
    EXPECT(strlen(colo_error_text(COLO_ARGUMENT)) > 0);
    order = limit(3, COLO_BUY, 1, 1);
    EXPECT(colo_new(exchange, &order, NULL, NULL) == COLO_OK);
    colo_exchange_free(exchange);
    colo_exchange_free(NULL);
    return day(cent);
}
